"""The private environment has what was requested and nothing left over from another version. The lists here name no package."""
import subprocess
import sys


def test_a_room_adds_its_packages_and_a_changed_list_starts_anew(repository, write):
    def python(*rooms):
        done = subprocess.run([sys.executable, repository / "tools/private_python.py", *rooms], capture_output=True, text=True, check=True)
        assert done.stdout == f"{repository}/.venv/bin/python\n"
        return [line.split("packages of ")[1] for line in done.stderr.splitlines()]

    write("tests/requirements.txt", "# none\n")
    write("tests/one/requirements.txt", "# none of one\n")
    assert python() == ["tests/requirements.txt into .venv"]
    assert python("two") == []  # this room has no list
    assert python("one") == ["tests/one/requirements.txt into .venv"]
    assert python() == [] == python("one")
    write("tests/one/requirements.txt", "# none of one, changed\n")
    assert python() == ["tests/requirements.txt into .venv"]
