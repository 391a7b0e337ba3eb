"""The saved corpora of the fuzz targets, as archives."""

import fuzz


def test_an_archive_is_the_same_for_the_same_inputs_and_gives_them_back(tmp_path):
    inputs = {"b": b"\x00\xff" * 100, "a": b"", "c" * 40: b"text"}
    for name, folder in (("one", tmp_path / "in1"), ("two", tmp_path / "in2")):
        folder.mkdir()
        for key in sorted(inputs, reverse=name == "two"):
            (folder / key).write_bytes(inputs[key])
        fuzz.pack(folder, tmp_path / f"{name}.tar.xz")
    assert (tmp_path / "one.tar.xz").read_bytes() == (tmp_path / "two.tar.xz").read_bytes()
    found = fuzz.unpack(tmp_path / "one.tar.xz", tmp_path / "out")
    assert {path.name: path.read_bytes() for path in found.iterdir()} == inputs


def test_every_target_has_a_corpus(tmp_path):
    for target in fuzz.TARGETS:
        assert any(fuzz.unpack(fuzz.CORPUS / f"{target}.tar.xz", tmp_path / target).iterdir()), target
    assert {path.name.removesuffix(".tar.xz") for path in fuzz.CORPUS.iterdir()} == set(fuzz.TARGETS)
