"""Which files a change can break: the files that depend on it, by how far away they are.

A file depends on
* what it includes or imports; a Python test also on the conftest.py of its folder;
* for a header that it includes, on the sources that implement it: of those that include it the one of its name, and
  those of its room that have no header of their own;
* for a source, on the pages and tables beside it;
* the files of this repository that its text names (`docs/reference/tasks.md`), and those in a folder that it names;
* for a Python test, on src/cli/VERB.cpp (train/cli/VERB.cpp) of each verb that it writes as a word of its own, since it
  runs the program, a test of the server on all of src/serve, and one of the package on all of python/;
* for a test file, on the sources of the mutations whose rows name one of its suites.
A file of data that nothing names belongs to the tests that name the nearest folder above it."""

import collections
import functools
import pathlib
import re
import subprocess
import tomllib

import draw
from check_layers import PUBLIC

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
IMPORT = re.compile(r"^\s*(?:from\s+(\w+)\s+import|import\s+(\w+(?:,\s*\w+)*))", re.M)
NAMED = re.compile(r"[\w-]+(?:/[\w.-]+)+")
QUOTED = re.compile(r"""["' ]([\w-]+\.\w+)["' ]""")  # a file of the root
SUITE = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+),", re.M)
CODE = (".cpp", ".h", ".inc", ".c", ".cu", ".cuh")
NAMES_FILES = (".py", ".cpp", ".h", ".toml", ".sh", "")  # a page that names a file does not break with it
PYTHON_FOLDERS = ("tests", "tools", "python/deberta", "bench", "train/tokenizer")


def is_test(name: str) -> bool:
    return name.startswith("tests/") and (name.endswith("_test.cpp") or re.search(r"/test_\w+\.py$", name) is not None)


class Tree:
    """The tracked and untracked files of a repository, those that are gone, and who depends on whom."""

    def __init__(self, root: pathlib.Path, gone: tuple[str, ...] = ()):
        self.root = root
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"],
            cwd=root,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        self.files = {name for name in listed.split("\0") if name and (root / name).is_file()} | set(gone)
        self.folders = {
            str(parent) for name in self.files for parent in pathlib.PurePath(name).parents if str(parent) != "."
        }
        self.users: dict[str, set[str]] = collections.defaultdict(set)  # {file or folder: those that depend on it}
        self.by_stem: dict[str, list[str]] = collections.defaultdict(list)
        for name in self.files:
            if name.endswith(".py") and name.startswith(PYTHON_FOLDERS):
                self.by_stem[pathlib.PurePath(name).stem].append(name)
        for name in sorted(self.files):
            for wanted in self.needs(name):
                if wanted != name:
                    self.users[wanted].add(name)
        for file, user in self.mutated():
            self.users[file].add(user)

    @functools.cache
    def text(self, name: str) -> str:
        path = self.root / name
        return path.read_text(errors="replace") if path.is_file() and path.stat().st_size < 1_000_000 else ""

    @functools.cache
    def included(self, name: str) -> set[str]:
        """The files of the repository that a file of C or C++ includes."""
        here = str(pathlib.PurePath(name).parent)
        places = (here, "src", "include", ".", "tests")
        found = set()
        for target in INCLUDE.findall(self.text(name)):
            paths = (str(pathlib.PurePath(place, target)) for place in places)
            found |= {next((path for path in paths if path in self.files), name)} - {name}
        return found

    @functools.cache
    def sources(self) -> dict[str, set[str]]:
        """{header: the sources that include it}"""
        found = collections.defaultdict(set)
        for name in self.files:
            if name.endswith((".cpp", ".cu")) and not is_test(name):
                for header in self.included(name):
                    found[header].add(name)
        return found

    @functools.cache
    def implementations(self, header: str) -> set[str]:
        """The sources that include it and have its name; and those of its room that have no header of their own
        name."""
        parts = header.split("/")
        room = (
            f"src/{PUBLIC.get(parts[-1])}/"
            if parts[0] == "include"
            else "/".join(parts[: 3 if parts[0] == "tests" and parts[1] == "train" else 2]) + "/"
        )
        return {
            name
            for name in self.sources()[header]
            if name.startswith(room)
            and (
                pathlib.PurePath(name).stem == pathlib.PurePath(header).stem
                or f"{name.rpartition('.')[0]}.h" not in self.files
            )
        }

    @functools.cache
    def assets(self) -> dict[str, set[str]]:
        """{folder of sources: what is in it but code and its README}"""
        found = collections.defaultdict(set)
        for name in self.files:
            if name.startswith(("src/", "train/")) and not name.endswith((*CODE, ".py", ".md")):
                found[str(pathlib.PurePath(name).parent)].add(name)
        return found

    @functools.cache
    def verbs(self) -> dict[str, list[str]]:
        """{verb: its sources}"""
        found = collections.defaultdict(list)
        for name in self.files:
            if match := re.fullmatch(r"(?:src|train)/cli/(\w+)\.cpp", name):
                found[match[1].replace("_", "-")].append(name)
        return found

    def needs(self, name: str):
        """The files and folders that a file depends on."""
        if name.endswith(CODE):
            for included in self.included(name):
                yield included
                yield from self.implementations(included)
        if re.fullmatch(r"(?:src|train)/.*\.cpp", name):  # the pages of src/web
            here = str(pathlib.PurePath(name).parent)
            yield from self.assets()[here]
        if name.endswith(".py") and name.startswith(PYTHON_FOLDERS):
            yield from self.python_needs(name)
        if pathlib.PurePath(name).suffix in NAMES_FILES and not name.startswith("docs/"):
            yield from self.named(name)

    def python_needs(self, name: str):
        text, here = self.text(name), str(pathlib.PurePath(name).parent)
        for one, several in IMPORT.findall(text):
            for module in re.findall(r"\w+", one or several):
                found = self.by_stem[module]
                yield from [path for path in found if path == f"{here}/{module}.py"] or found
        if not is_test(name):
            return
        if f"{here}/conftest.py" in self.files:
            yield f"{here}/conftest.py"
        for verb, sources in self.verbs().items():
            if re.search(rf"""["' ]{verb}["' ]""", text):
                yield from sources
        if name.startswith("tests/serve/"):
            yield from (file for file in self.files if re.fullmatch(r"src/serve/\w+\.cpp", file))
        if name.startswith("tests/python/"):
            yield from (file for file in self.files if re.fullmatch(r"python/(src|deberta)/\w+\.(cpp|pyi?)", file))

    def named(self, name: str):
        """Files and folders of the repository whose paths stand in the text: from the root, or from the folders of the
        tests."""
        yield from (word for word in set(QUOTED.findall(self.text(name))) if word in self.files)
        for path in set(NAMED.findall(self.text(name))):
            for place in ("", "tests/", "tests/golden/"):
                if place + path in self.files or (
                    place + path in self.folders and (place + path).count("/") > (1 if name.endswith(CODE) else 0)
                ):
                    yield place + path

    @functools.cache
    def suites(self) -> dict[str, set[str]]:
        """{(room's program and) suite: the files that define it}"""
        found = collections.defaultdict(set)
        for name in self.files:
            if name.endswith("_test.cpp"):
                for suite in SUITE.findall(self.text(name)):
                    found[suite].add(name)
        return found

    def mutated(self):
        """(source, test file) of the rows of tools/mutations."""
        for row in self.mutations():
            for test in row["tests"]:
                program, _, chosen = test.partition(" ")
                room = program.removeprefix("test_")
                for suite, files in self.suites().items():
                    if any(pattern.split(".")[0].strip("*/") in suite for pattern in chosen.split("-")[0].split(":")):
                        yield from ((row["file"], file) for file in files if "_".join(file.split("/")[1:-1]) == room)

    @functools.cache
    def mutations(self) -> list[dict]:
        return [
            row
            for path in sorted((self.root / "tools/mutations").glob("*.toml"))
            for row in tomllib.loads(path.read_text()).values()
        ]

    def includers(self, changed: list[str]) -> list[str]:
        """The changed files, and the files of C++ that include one of them, directly or not."""
        users = collections.defaultdict(set)
        for name in self.files:
            if name.endswith(CODE):
                for included in self.included(name):
                    users[included].add(name)
        found, queue = set(changed), list(changed)
        while queue:
            new = users[queue.pop()] - found
            found |= new
            queue += new
        return sorted(found)

    def distances(self, changed: list[str]) -> dict[str, int]:
        """{file that depends on one of the changed: the number of steps between them}; the changed files have 0."""
        found = dict.fromkeys(changed, 0)
        queue = collections.deque(changed)
        for name in changed:  # whoever names the folder reads what is in it
            parents = [str(parent) for parent in pathlib.PurePath(name).parents if str(parent) != "."]
            user_of = next((parent for parent in [name, *parents] if self.users[parent]), name)
            if user_of != name and not name.endswith(CODE):
                found.setdefault(user_of, 0)
                queue.append(user_of)
        while queue:
            name = queue.popleft()
            for user in sorted(self.users[name]):
                if user not in found:
                    found[user] = found[name] + 1
                    if not is_test(user):
                        queue.append(user)
        return found


def tree_of(root: pathlib.Path, changed: list[str]) -> Tree:
    """With the changed files, of which some may be gone."""
    return Tree(root, tuple(name for name in changed if not (root / name).is_file()))


def of_change(root: pathlib.Path) -> dict[str, int]:
    changed = draw.changed_since(root, draw.base(root))
    return tree_of(root, changed).distances(changed)
