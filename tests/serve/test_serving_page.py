"""docs/serving.md, tried as a new user would: `./run serve` with nothing else, and its lines for each task as they stand."""
import json
import re
import subprocess

from conftest import clean_environment
from models import ROOT

PAGE = (ROOT / "docs/serving.md").read_text()


def lines_of(title):
    """The shell script under a heading."""
    part = re.search(rf"^## {title}\n(.*?)^## ", PAGE, re.DOTALL | re.MULTILINE)[1]
    return "\n".join(line[4:] for line in part.splitlines() if line.startswith("    "))


def test_the_lines_for_each_task_answer(serve):
    server = serve()
    script = lines_of("A line for each task").replace("localhost:8080", f"localhost:{server.port}")
    script = re.sub(r"^curl", "curl -sS --fail-with-body", script, flags=re.MULTILINE) + "\n"
    asked = len(re.findall(r"^curl", script, re.MULTILINE))
    # Each answer is a line of its own, whatever the server puts at its end.
    done = subprocess.run(["bash", "-e", "-c", "curl() { command curl \"$@\"; echo; }\n" + script], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0, done.stdout + done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert asked >= 8 and len(answers) == asked and all(answers), answers
