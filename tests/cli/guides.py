"""The commands of docs/start and docs/guides, as a reader finds them.

A block of ```sh has commands, one a line; lines that begin with `$ ` are followed by what they print. A block whose
first line has a second word, as ```csv rows.csv, is a file that the commands read. ```sh no-run is for what installs
or builds; nothing else may have it."""

import dataclasses
import re
import shlex
import signal
import subprocess
import sys

from clean_environment import clean_environment
from models import ROOT, make_extractor, make_model

FENCE = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
INSTALLS = ("git clone", "cmake", "./run wheel", "./run fill", "pip install")
GUIDES = sorted(
    path.relative_to(ROOT / "docs").as_posix()
    for part in ("start", "guides")
    for path in (ROOT / "docs" / part).glob("*.md")
)
HANG_SECONDS = 600  # anything longer is a hang
URL = "localhost:8080"
NLI = ("entailment", "neutral", "contradiction")
# {name of a published model: what stands in for it}, as (head, settings)
PUBLISHED = {
    "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli": ("sequence", {"labels": NLI}),
    "deepset/deberta-v3-base-squad2": ("span", {}),
    "mixedbread-ai/mxbai-rerank-base-v1": ("sequence", {"labels": ("LABEL_0",)}),
    "protectai/deberta-v3-base-prompt-injection-v2": ("sequence", {"labels": ("SAFE", "INJECTION")}),
    "Isotonic/deberta-v3-base_finetuned_ai4privacy_v2": ("token", {"labels": ("O", "B-NAME", "I-NAME")}),
    "urchade/gliner_small-v2.1": ("extractor", {}),
    "urchade/gliner_multi_pii-v1": ("extractor", {}),
}


@dataclasses.dataclass(frozen=True)
class Command:
    line: str
    shown: tuple[str, ...] | None  # what it prints; None where the page does not say it


def text_of(name):
    return (ROOT / "docs" / name).read_text()


def files_of(text):
    """{name: contents} of the files that a page has."""
    return {name: body for kind, name, body in FENCE.findall(text) if name and name != "no-run"}


def commands_in(block):
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], ()))
        elif found and found[-1].shown is not None:
            found[-1] = Command(found[-1].line, (*found[-1].shown, line))
        elif line.strip():
            found.append(Command(line, None))
    return [
        Command(one.line, tuple(line for line in one.shown if line)) if one.shown is not None else one for one in found
    ]


def commands_of(text):
    """Every command of a page that is run, in order."""
    return [
        command
        for kind, name, body in FENCE.findall(text)
        if kind == "sh" and not name
        for command in commands_in(body)
    ]


def left_out(text):
    """The commands of blocks that are not run."""
    return [
        command.line
        for kind, name, body in FENCE.findall(text)
        if kind == "sh" and name == "no-run"
        for command in commands_in(body)
    ]


def hub_cache(folder):
    """A cache of the hub with a small model under each name."""
    for name, (head, settings) in PUBLISHED.items():
        place = folder / f"models--{name.replace('/', '--')}"
        (place / "refs").mkdir(parents=True)
        (place / "refs/main").write_text("0" * 40)
        model = place / "snapshots" / ("0" * 40)
        make_extractor(model) if head == "extractor" else make_model(model, head, **settings)
    return folder


def work_folder(folder, binary, text):
    """A folder that looks like a clone to the commands of a page: ./run, the files that it names, and its own."""
    folder.mkdir(exist_ok=True)
    run = folder / "run"
    make_tokenizer = shlex.join([sys.executable, str(ROOT / "train/tokenizer/train_tokenizer.py")])
    run.write_text(
        f'#!/bin/sh\n[ "$1" != train-tokenizer ] || {{ shift; exec {make_tokenizer} "$@"; }}\n'
        f'exec {shlex.quote(str(binary))} "$@"\n'
    )
    run.chmod(0o755)
    for name in ("models", "tests", "docs"):
        (folder / name).symlink_to(ROOT / name)
    for name, body in files_of(text).items():
        (folder / name).write_text(body)
    return folder


class Session:
    """The commands of one page, one after the other, in one folder; a server runs until the next one or the end."""

    def __init__(self, folder, environment):
        self.folder, self.environment, self.server, self.url = folder, environment, None, URL

    def run(self, line):
        """What a command printed: (exit code, standard output, standard error)."""
        line = line.replace(URL, self.url)
        if shlex.split(line)[:2] == ["./run", "serve"]:
            return self.serve(line)
        if line.startswith("curl "):
            line = line.replace("curl ", "curl -sS --fail-with-body ", 1)
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )
        return done.returncode, done.stdout, done.stderr

    def serve(self, line):
        self.stop()
        words = [*shlex.split(line), "--port", "0"]
        self.server = subprocess.Popen(
            words, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        said = self.server.stdout.readline()
        self.url = said.split()[0].removeprefix("http://") if " serves " in said else URL
        return (0 if " serves " in said else 1), said, ""

    def stop(self):
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            self.server.wait(HANG_SECONDS)
            self.server.stdout.close()
        self.server = None


def environment_of(hub):
    clean = clean_environment()
    return clean | {"HF_HUB_CACHE": str(hub)}
