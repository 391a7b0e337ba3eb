"""Threads, processes, signals, warnings and what an import costs."""

import asyncio
import concurrent.futures
import gc
import json
import multiprocessing
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import deberta
import numpy
import pytest

from conftest import BINARY, HANG_SECONDS, PACKAGE, ROOT, run_python, texts

A = texts(30, 5)


def test_an_import_brings_no_array_library_and_little_else():
    code = "import sys; before = set(sys.modules); import deberta; print(*sorted(set(sys.modules) - before))"
    loaded = run_python(code).split()
    heavy = {"numpy", "typing", "json", "re", "asyncio", "threading", "dataclasses", "inspect", "logging"}
    assert not heavy & set(loaded), loaded
    assert len(loaded) < 20


def test_many_threads_use_one_pipeline(pipelines):
    pipeline = pipelines["sequence"]
    expected = [pipeline.classify(text) for text in A]

    def calls(seed):
        return all(pipeline.classify(A[(seed + i) % len(A)]) == expected[(seed + i) % len(A)] for i in range(100))

    with concurrent.futures.ThreadPoolExecutor(8) as executor:
        assert all(executor.map(calls, range(8)))


def test_other_threads_run_while_a_call_computes(models):
    pipeline = deberta.open(models["sequence"], threads=1)
    ticks, is_done = 0, threading.Event()

    def tick():
        nonlocal ticks
        while not is_done.wait(0):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks
    pipeline.classify(["a fine film " * 40] * 8)  # one group: no switch between groups
    seen = ticks - before
    is_done.set()
    thread.join()
    assert seen > 0


def test_coroutines_answer_as_methods_do(pipelines):
    pipeline = pipelines["sequence"]

    async def ask():
        together = await asyncio.gather(*(pipeline.aio.classify(text) for text in A))
        return together, [answer async for answer in pipeline.aio.stream("classify", A, group=7)]

    together, streamed = asyncio.run(ask())
    assert together == streamed == pipeline.classify(A)
    for name in {*deberta._pipeline._TASKS, "scores", "embed"}:
        assert callable(getattr(pipeline.aio, name))
    assert (asyncio.run(pipeline.aio.scores(A)) == pipeline.scores(A)).all()
    with pytest.raises(AttributeError):
        print(pipeline.aio.guess)


def test_a_pickle_is_a_path_and_a_hash(models, tmp_path):
    folder = shutil.copytree(models["sequence"], tmp_path / "model")
    pipeline = deberta.open(folder, threads=1)
    kept = pickle.dumps(pipeline)
    assert len(kept) < 1000
    again = pickle.loads(pickle.dumps(pickle.loads(kept)))
    assert again.classify(A) == pipeline.classify(A) and again.path == pipeline.path
    config = folder / "config.json"
    config.write_text(config.read_text() + " ")
    with pytest.raises(deberta.InputError, match="expected the model that was pickled") as caught:
        pickle.loads(kept)
    assert caught.value.code == "manifest"
    shutil.rmtree(folder)
    with pytest.raises(deberta.Error, match="no such folder"):
        pickle.loads(kept)


def test_workers_of_a_pool_reopen(models):
    pipeline = deberta.open(models["sequence"], threads=1)
    expected = pipeline.classify(A[:4])
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(pipeline.classify, A[:4]) == expected


def files_of_packed_weights():
    return set(re.findall(r"/\S+/deberta-weights-\S+", Path("/proc/self/maps").read_text()))


def answers_and_files(pipeline):
    return pipeline.classify(A[:4]), files_of_packed_weights()


def test_processes_hold_packed_weights_once():
    """What a pickle opens is mapped from the file of the process that made it."""
    model = ROOT / "models/sentiment"
    with deberta.open(model, threads=1) as own:
        assert not files_of_packed_weights()
        expected = own.classify(A[:4])
    with deberta.open(model, threads=1, share_weights=True) as pipeline:
        files = files_of_packed_weights()
        assert len(files) == 1 and pipeline.classify(A[:4]) == expected
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            assert pool.map(answers_and_files, [pipeline] * 2) == [(expected, files)] * 2
    assert not files_of_packed_weights()


FORK = """
import os, sys, deberta
pipeline = deberta.open(sys.argv[1])
pipeline.classify("a")
child = os.fork()
if child == 0:
    try:
        pipeline.classify("a")
    except ValueError as error:
        print(error, flush=True)
    print(deberta.open(sys.argv[1]).classify("a").label, flush=True)
    sys.exit(0)  # the parent's model is left alone at the end
print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), pipeline.classify("a").label)
"""


def test_a_child_of_fork_is_told(models):
    lines = run_python(FORK, models["sequence"]).splitlines()
    assert "got one from before fork()" in lines[0] and lines[2].startswith("ended 0")
    assert lines[1] == lines[2].split()[-1]


INTERRUPT = """
import os, signal, sys, threading, time, deberta
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what it starts in the background
pipeline = deberta.open(sys.argv[1], threads=1)
rows = ["a fine film " * 50] * 20000  # many groups: seconds of a processor
call = pipeline.classify if sys.argv[2] == "classify" else pipeline.tokenizer.encode
call(rows[:200])
begin = time.process_time()  # what else the machine does counts little
call(rows[:200])
part = time.process_time() - begin
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
begin = time.process_time()
try:
    call(rows)
    print("finished")
except KeyboardInterrupt:
    print("stopped" if time.process_time() - begin < 50 * part else "stopped at the end")
"""


@pytest.mark.parametrize("call", ["classify", "encode"])
def test_an_interrupt_ends_a_call(models, call):
    assert run_python(INTERRUPT, models["sequence"], call) == "stopped\n"


def test_the_librarys_warnings_are_pythons(models, tmp_path):
    folder = shutil.copytree(models["sequence"], tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config["architectures"] = ["DebertaV2ForTokenClassification"]  # the tensors win
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.warns(UserWarning):
        deberta.open(folder)


def test_arrays_are_the_engines_memory(pipelines):
    model = pipelines["sequence"].model
    ids = pipelines["sequence"].tokenizer.encode(A[10:14])
    done = model.forward([one.ids for one in ids], layers=[0, -1], scores=True)
    tokens = sum(map(len, ids))
    assert done.starts.tolist() == [0, *numpy.cumsum([len(one) for one in ids])]
    assert sorted(done.hidden) == [0, 2] and done.hidden[2].shape == (tokens, 16) and done.logits.shape == (4, 3)
    assert done.pooled.shape == (4, 16) and done.rows is None
    assert done.hidden[2].flags.writeable and not done.hidden[2].flags.owndata
    view = numpy.from_dlpack(done.hidden[2])
    assert view.ctypes.data == done.hidden[2].ctypes.data
    kept = done.sequence(1, 2).copy()
    del done
    gc.collect()
    assert (model.forward(ids[1].ids, layers=[2]).hidden[2] == kept).all() and view.shape == (tokens, 16)


def test_padding_and_packing_give_the_same_bits(pipelines):
    model = pipelines["sequence"].model
    ids = [one.ids for one in pipelines["sequence"].tokenizer.encode(A[10:14])]
    longest = max(map(len, ids))
    padded = numpy.array([one + [0] * (longest - len(one)) for one in ids])
    mask = numpy.array([[1] * len(one) + [0] * (longest - len(one)) for one in ids])
    packed, whole = model.forward(ids, layers=[2]), model.forward(padded, mask=mask, layers=[2])
    assert (packed.hidden[2] == whole.hidden[2]).all() and (packed.logits == whole.logits).all()
    assert whole.rows.tolist() == [b * longest + i for b, one in enumerate(ids) for i in range(len(one))]


def test_terms_add_up(pipelines):
    shown = deberta.analysis.attention_terms(pipelines["sequence"], "a fine film")
    assert len(shown.layers) == 2 and shown.pieces[0] == "[CLS]"
    for layer in shown.layers:
        total = layer.c2c + layer.c2p + layer.p2c
        assert (total == layer.sum).all() and numpy.allclose(layer.softmax.sum(axis=-1), 1, atol=1e-5)
    by_pass = pipelines["sequence"].model.forward(
        pipelines["sequence"].tokenizer.encode("a fine film").ids, scores=True
    )
    assert (by_pass.scores[0]["c2c"] == shown.layers[0].c2c).all()


def test_no_references_leak(pipelines):
    pipeline = pipelines["sequence"]
    text = "a text of its own " * 3
    before = sys.getrefcount(text)
    for _ in range(50):
        pipeline.classify([text] * 3)
        pipeline.embed([text])
        pipeline.model.forward([[1, 5, 2]], layers=[0, 1])
        with pytest.raises(deberta.Error):
            pipeline.classify([text, None])
    gc.collect()
    assert sys.getrefcount(text) == before


COMMANDS = {
    "answers": (["classify", "-m", "MODEL", "-f", "jsonl", "a fine film"], b""),
    "rows": (["tokenize", "-m", "MODEL", "-f", "jsonl"], b"a fine film\nnaive \xff\n"),
    "words that are no UTF-8": (["classify", "-m", "MODEL", b"na\xefve"], b""),
    "wrong usage": (["classify", "-m", "MODEL", "--max-tokens", "0", "a"], b""),
    "no such model": (["nli", "-m", "no-such-folder", "a", "b"], b""),
    "help": (["help", "classify"], b""),
    "nothing": ([], b""),
}


@pytest.mark.parametrize("words, stdin", COMMANDS.values(), ids=COMMANDS)
def test_the_command_is_the_program(models, words, stdin):
    words = [models["sequence"] if word == "MODEL" else word for word in words]
    environment = dict(os.environ, PYTHONPATH=str(PACKAGE))
    made, expected = (
        subprocess.run([*command, *words], env=environment, input=stdin, capture_output=True, timeout=HANG_SECONDS)
        for command in ([sys.executable, "-m", "deberta"], [BINARY])
    )
    assert (made.returncode, made.stdout, made.stderr) == (expected.returncode, expected.stdout, expected.stderr)


def test_the_command_ends_as_the_program_does_when_it_is_interrupted(models):
    words = [sys.executable, "-m", "deberta", "classify", "-m", models["sequence"], "-f", "jsonl"]
    environment = dict(os.environ, PYTHONPATH=str(PACKAGE), PYTHONUNBUFFERED="1")
    process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(b"a fine film\n" * 200)
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["label"]  # it runs, and waits for more
    process.send_signal(signal.SIGINT)
    assert process.wait(HANG_SECONDS) in (-signal.SIGINT, 128 + signal.SIGINT)
    process.stdout.close()
    process.stdin.close()


def test_built_in_models_are_found_in_a_clone():
    assert deberta.find_model("builtin:sentiment") == str(ROOT / "models/sentiment")
    assert deberta.open("builtin:sentiment").classify("a gorgeous , witty , seductive movie .").label == "positive"


def test_an_installed_package_finds_the_models_of_the_clone_around_it_and_else_says_where_they_are(tmp_path):
    for folder in PACKAGE.glob("deberta*"):  # the libraries that a wheel brings lie beside the package
        if folder.name == "deberta" or folder.suffix == ".libs":
            shutil.copytree(folder, tmp_path / "site" / folder.name, copy_function=shutil.copyfile)
    (tmp_path / "gone").mkdir()
    code = "import sys, deberta\ntry: print(deberta.find_model(sys.argv[1]))\nexcept OSError as error: print(error)"
    gone = f"import os\nos.rmdir({str(tmp_path / 'gone')!r})\n{code}"
    missing = "no built-in models here; in a clone ./run wheel models makes the wheel that has them"
    for folder, name, run, expected in [
        (ROOT, "builtin:sentiment", code, str(ROOT / "models/sentiment")),
        (ROOT / "docs/guides", "builtin:fill", code, str(ROOT / "models/fill")),
        (tmp_path, "builtin:sentiment", code, f"builtin:sentiment: {missing}"),
        (tmp_path, "builtin", code, f"builtin: {missing}"),
        (tmp_path / "gone", "builtin:sentiment", gone, f"builtin:sentiment: {missing}"),
    ]:
        done = subprocess.run(
            [sys.executable, "-c", run, name],
            cwd=folder,
            env=dict(os.environ, PYTHONPATH=str(tmp_path / "site")),
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )
        assert done.returncode == 0 and done.stdout.startswith(expected), (done.stdout, done.stderr)
