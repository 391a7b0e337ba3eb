"""docs/start/server.md, tried as a new user would: `./run serve` with nothing else, and its lines for each task as they
stand."""

import json
import re
import subprocess

from conftest import clean_environment
from models import ROOT

PAGE = (ROOT / "docs/start/server.md").read_text()


def lines_of(title):
    """The shell scripts under a heading."""
    part = re.search(rf"^## {title}\n(.*?)^## ", PAGE, re.DOTALL | re.MULTILINE)[1]
    return [
        "\n".join(line[4:] for line in block.splitlines())
        for block in re.findall(r"(?:^    .*\n)+", part, re.MULTILINE)
    ]


def answers_of(script, server):
    """What each curl of it prints, which must be JSON."""
    script = script.replace("localhost:8080", f"localhost:{server.port}")
    # Each answer is a line of its own.
    done = subprocess.run(
        ["bash", "-e", "-c", 'curl() { command curl -sS --fail-with-body "$@"; echo; }\n' + script],
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(re.findall(r"^curl", script, re.MULTILINE)) and all(answers)
    return answers


def test_the_lines_for_each_task_answer(serve, models):
    built_in, own = lines_of("A line for each task")
    answers = answers_of(built_in, serve())
    assert len(answers) == 10 and "positive" in str(answers[0]) and "London" in str(answers[1])
    header, question, order = built_in.splitlines()[0], *own.splitlines()
    assert "answer" in str(answers_of(f"{header}\n{question}\n", serve("-m", models["span"])))
    assert len(answers_of(f"{header}\n{order}\n", serve("-m", models["score"]))[0]) == 2
