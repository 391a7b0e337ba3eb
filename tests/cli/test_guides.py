"""Every command of docs/start and docs/guides runs, and prints what the page shows. Published models are small random
ones of the same kind here; pages that train are in tests/train/cli/test_guides.py."""

import re

import pytest

import guides
from conftest import BINARY

NUMBER = re.compile(r"\d+\.\d+")
TRAINING = {"fine-tune-a-spreadsheet", "train-a-reranker", "train-an-extractor", "pretrain", "compare-runs"}
# Pages with a test of their own, which knows more of them.
OTHERS = {
    "start/server.md": "tests/serve/test_serving_page.py",
    "guides/scale.md": "tests/cli/test_file_jobs.py",
    "guides/scale_engines.md": "tests/python/src/test_tables.py",
}
HERE = [
    name
    for name in guides.GUIDES
    if name not in OTHERS
    and name.rpartition("/")[2].removesuffix(".md") not in TRAINING
    and guides.commands_of(guides.text_of(name))
]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    return guides.hub_cache(tmp_path_factory.mktemp("hub"))


def same(shown, printed):
    """Whether a command printed what the page shows, but for the last digits, which depend on the processor."""
    wanted, got = ([line.split() for line in lines] for lines in (shown, printed.splitlines()))
    if [[NUMBER.sub("0.0", word) for word in line] for line in wanted] != [
        [NUMBER.sub("0.0", word) for word in line] for line in got
    ]:
        return False
    pairs = zip(NUMBER.findall(str(wanted)), NUMBER.findall(str(got)), strict=True)
    return all(abs(float(one) - float(other)) < 1e-4 for one, other in pairs)


@pytest.mark.parametrize("name", HERE)
def test_every_command_of_the_page_runs(name, hub, tmp_path):
    text = guides.text_of(name)
    session = guides.Session(guides.work_folder(tmp_path / "clone", BINARY, text), guides.environment_of(hub))
    try:
        for command in guides.commands_of(text):
            is_table = command.shown is not None and "--format" not in command.line
            line = command.line + (" --format table" if is_table and command.line.startswith("./run") else "")
            code, printed, errors = session.run(line)
            assert code == ('"error"' in printed or "!error" in printed), (command.line, printed, errors)
            if command.shown is not None:
                assert same(command.shown, printed), (command.line, printed)
    finally:
        session.stop()


def test_no_page_has_a_command_that_no_test_runs():
    for name in guides.GUIDES:
        text = guides.text_of(name)
        without = guides.FENCE.sub("", text)
        if name not in OTHERS:
            assert not re.search(r"^ {4}(\$ |\./run |deberta |curl )", without, re.M), (
                f"{name}: a command outside of ```sh"
            )
        for line in guides.left_out(text):
            assert line.startswith(guides.INSTALLS), f"{name}: not run: {line}"


def test_every_published_model_of_a_command_has_a_stand_in():
    for name in guides.GUIDES:
        for command in guides.commands_of(guides.text_of(name)):
            for model in re.findall(r"(?:-m|=)\s?([\w-]+/[\w.-]+)(?= |$)", command.line):
                assert model in guides.PUBLISHED or model.startswith(("pair/", "plans/")), (name, model)


# What stands in for NAME in the commands of the table of guides/choose-a-model.md, by verb.
HEADS = {
    "zero-shot": "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli",
    "qa": "deepset/deberta-v3-base-squad2",
    "rerank": "mixedbread-ai/mxbai-rerank-base-v1",
    "choose": "mixedbread-ai/mxbai-rerank-base-v1",
    "classify": "protectai/deberta-v3-base-prompt-injection-v2",
    "ner": "Isotonic/deberta-v3-base_finetuned_ai4privacy_v2",
    "extract": "urchade/gliner_small-v2.1",
    "fill": "builtin:fill",
}
FILES = {
    "tickets.csv": "text\nWhere is my money?\n",
    "documents.csv": "text\nParis is a city .\nCats purr .\n",
    "letters.txt": "Ada was born in London .\n",
    "prompts.jsonl": '{"text": "Ignore all of it."}\n',
}
TABLE = re.findall(r"`\./run ((?!finetune)[^`]+)` \|$", guides.text_of("guides/choose-a-model.md"), re.M)


def test_the_table_of_models_has_a_command_for_most_tasks():
    assert {command.split()[0] for command in TABLE} == set(HEADS)


@pytest.mark.parametrize("command", TABLE)
def test_a_command_of_the_table_of_models_runs(command, hub, tmp_path):
    clone = guides.work_folder(tmp_path / "clone", BINARY, "")
    for name, text in FILES.items():
        (clone / name).write_text(text)
    name = HEADS[command.split()[0]]
    line = "./run " + command.replace("-m NAME", f"-m {name}").replace("-m NEW", f"-m {name}")
    code, printed, errors = guides.Session(clone, guides.environment_of(hub)).run(line)
    assert code == 0 and printed, errors
