#!/usr/bin/env python3
"""Fails on a file of src/web that is not in its style, or that cannot become a part of a page that needs no other file.

Scripts, style sheets and pages have at most 120 columns, no tabs, no blanks at the end of a line. Scripts end
statements with semicolons, declare with const and let, compare with === and !==, and send requests in api.js alone.

A script is a module. Those that a page leads to become one, line by line (src/cli/explorer_page.cpp): an import is one
line, `import { names } from "./file.js";`, of names that the file exports and that are used; an export begins with
`export` and somebody imports it; and no two modules of a page have a top-level name in common."""

import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = "src/web"
COLUMNS = 120
REQUESTS = {"fetch", "XMLHttpRequest", "WebSocket", "EventSource"}
SENDER = "api.js"
TOKEN = re.compile(
    r"(?P<blank>[ \t]+)|(?P<line>\n)|(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|(?P<number>\d[\w.]*|\.\d\w*)|(?P<word>[\w$#]+)"
    r"|(?P<mark>>>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\+\+|--|\*\*"
    r"|<<|>>|[-+*/%&|^]=|.)",
    re.DOTALL,
)
REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/\w*")
BEFORE_VALUE = set("return typeof case in of delete void throw new else do await yield".split())
HEADS = {"if", "for", "while", "with", "switch", "catch"}  # of blocks, before their round brackets
ENDINGS = {"return", "break", "continue"}  # a line that ends with one is a statement
UNFINISHED = BEFORE_VALUE | set("const let var import export function class async try finally".split())
GOES_ON = set("+ - * / % ** & | ^ << >> >>> && || ?? = == != === !== < > <= >= => ? : . ?. , ) ]".split())
GOES_ON |= set("in of instanceof += -= *= /= ??= ||= &&=".split())
IMPORT = re.compile(r'import \{ (\w+(?:, \w+)*) \} from "\./([\w.-]+)";')
EXPORT = re.compile(r"export (?:const|let|class|function|async function) (\w+)")


@dataclasses.dataclass
class Token:
    kind: str  # string, number, word, mark, regex, template
    text: str
    line: int
    depth: int = 0  # of brackets around it
    inside: str = "block"  # the innermost of them: block, class, value or round
    closes: str = ""  # of a closing bracket: what it was the innermost of
    ends: str = ""  # of a closing bracket: "statement" where no semicolon follows, "head" before what an `if` runs


def template_at(text: str, at: int) -> tuple[list[tuple[int, int]], int]:
    """The expressions in the template that begins at `at`, as (begin, end), and where it ends."""
    expressions, at = [], at + 1
    while text[at] != "`":
        if text[at] == "\\":
            at += 2
        elif text.startswith("${", at):
            begin, at = at + 2, end_of_expression(text, at + 2)
            expressions.append((begin, at))
            at += 1
        else:
            at += 1
    return expressions, at + 1


def end_of_expression(text: str, at: int) -> int:
    """Where the `}` of a template's expression stands."""
    depth = 0
    while text[at] != "}" or depth:
        if text[at] == "`":
            at = template_at(text, at)[1]
            continue
        token = TOKEN.match(text, at)
        depth += (token[0] == "{") - (token[0] == "}")
        at = token.end()
    return at


def is_value(token: Token | None) -> bool:
    """A value can end with it: a slash behind it divides."""
    if token is None:
        return False
    return token.text in (")", "]", "}", "++", "--") if token.kind == "mark" else token.text not in BEFORE_VALUE


def tokens_of(text: str, begin: int = 0, end: int | None = None) -> list[Token]:
    """Those of the code; the expressions in a template stand in round brackets of their own behind it."""
    found: list[Token] = []
    at, end = begin, len(text) if end is None else end
    while at < end:
        line = text.count("\n", 0, at) + 1
        if text[at] == "`":
            found.append(Token("template", "`", line))
            expressions, at = template_at(text, at)
            for first, last in expressions:
                inner = tokens_of(text, first, last)
                found += [Token("mark", "(", line), *inner, Token("mark", ")", line)]
            found[-1].line = text.count("\n", 0, at) + 1
            continue
        match = TOKEN.match(text, at)
        if match["mark"] == "/" and not is_value(found[-1] if found else None) and (regex := REGEX.match(text, at)):
            found.append(Token("regex", regex[0], line))
            at = regex.end()
            continue
        at = match.end()
        if match.lastgroup not in ("blank", "line", "comment"):
            found.append(Token(match.lastgroup, match[0], line))
    return found


def begins_statement(tokens: list[Token], at: int) -> bool:
    """`at`: the place of a word such as function or class."""
    while at > 0 and tokens[at - 1].text in ("async", "export"):
        at -= 1
    return at == 0 or tokens[at - 1].text in (";", "{") or tokens[at - 1].ends == "statement"


def is_head(tokens: list[Token], at: int) -> bool:
    """The round bracket at `at` is that of an `if` or the like."""
    return at > 0 and tokens[at - 1].text in HEADS and (at == 1 or tokens[at - 2].text != ".")


def brace_of(tokens: list[Token], at: int, head: int | None, around: str) -> tuple[str, str]:
    """What the `{` at `at` holds, and what its end ends. head: the place of the `(` before it, if there is one."""
    before = tokens[at - 1] if at else None
    if head is not None:  # ...) {
        word = tokens[head - 1].text if head else ""
        if is_head(tokens, head) or around == "class":
            return "block", "statement"
        place = head - (1 if word == "function" else 2)
        is_function = place >= 0 and tokens[place].text == "function"
        return "block", "statement" if is_function and begins_statement(tokens, place) else ""
    if before is None or before.text in (";", "{", "else", "do", "try", "finally") or before.ends == "statement":
        return ("block", "statement") if around in ("block", "class") else ("value", "")
    if before.text == "=>":
        return "block", ""
    for place in range(at - 1, max(at - 5, -1), -1):  # class NAME extends NAME {
        if tokens[place].text == "class":
            return "class", "statement" if begins_statement(tokens, place) else ""
        if tokens[place].kind != "word":
            break
    return "value", ""


def place_brackets(tokens: list[Token]) -> None:
    """Sets depth, inside and ends of each token."""
    stack: list[tuple[str, str, int]] = []
    heads: dict[int, int] = {}  # place of a ")" : of its "("
    for at, token in enumerate(tokens):
        token.depth, token.inside = len(stack), stack[-1][0] if stack else "block"
        if token.kind != "mark":
            continue
        if token.text in "([":
            stack.append(("round", "head" if token.text == "(" and is_head(tokens, at) else "", at))
        elif token.text == "{":
            stack.append((*brace_of(tokens, at, heads.get(at - 1), token.inside), at))
        elif token.text in ")]}" and stack:
            token.closes, token.ends, begin = stack.pop()
            if token.text == ")":
                heads[at] = begin
            token.depth, token.inside = len(stack), stack[-1][0] if stack else "block"


def has_no_semicolon(before: Token, after: Token | None) -> bool:
    """A statement ends between the two, or a block with it, and there is none."""
    if before.inside not in ("block", "class") or before.ends or before.text in (";", "{"):
        return False
    if before.text not in ENDINGS and (not is_value(before) or before.text in UNFINISHED):
        return False
    if after is None or after.closes in ("block", "class"):
        return True
    return after.line > before.line and after.inside == before.inside and after.text not in GOES_ON | {"}"}


def wrong_in_code(name: str, tokens: list[Token]):
    """(line, what is wrong) of each."""
    for at, token in enumerate(tokens):
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        before = tokens[at - 1].text if at else ""
        if token.kind == "word" and token.text == "var":
            yield token.line, "expected const or let, got var"
        if token.kind == "mark" and token.text in ("==", "!="):
            yield token.line, f"expected {token.text}=, got {token.text}"
        if token.kind == "word" and token.text in REQUESTS and before != "." and name != SENDER:
            yield token.line, f"expected requests in {SENDER} alone, got {token.text}"
        if has_no_semicolon(token, after):
            yield token.line, "expected a semicolon at the end of the statement"


def wrong_in_text(text: str):
    if not text.endswith("\n") or text.endswith("\n\n"):
        yield text.count("\n") + 1, "expected one line feed at the end of the file"
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > COLUMNS:
            yield number, f"expected at most {COLUMNS} columns, got {len(line)}"
        if "\t" in line:
            yield number, "expected no tab"
        if line != line.rstrip():
            yield number, "expected no blank at the end of the line"


def top_names(tokens: list[Token]) -> list[tuple[str, int]]:
    """The names that a module declares outside any bracket, with their lines."""
    names, declares = [], False
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text if at else ""
        if token.depth == 0 and token.text in ("const", "let", ";"):
            declares = token.text != ";"
        is_name = token.kind == "word" and token.depth == 0 and before in ("function", "class")
        is_declared = declares and token.kind == "word" and token.depth == 0 and before in ("const", "let", ",")
        if is_name or is_declared or (declares and is_in_pattern(tokens, at)):
            names.append((token.text, token.line))
    return names


def is_in_pattern(tokens: list[Token], at: int) -> bool:
    """A name in `const [a, b] =` or `const { a } =`."""
    token = tokens[at]
    if token.kind != "word" or token.depth != 1 or tokens[at + 1].text == ":":
        return False
    begin = max(place for place in range(at) if tokens[place].depth == 0)
    return tokens[begin].text in ("[", "{") and tokens[begin - 1].text in ("const", "let")


class Modules:
    """The scripts of the folder, and what each imports and exports."""

    def __init__(self, texts: dict[str, str]):
        self.tokens, self.imports, self.exports, self.names = {}, {}, {}, {}
        self.wrong: list[tuple[str, int, str]] = []
        for name, text in texts.items():
            self.tokens[name] = tokens_of(text)
            place_brackets(self.tokens[name])
            self.names[name] = top_names(self.tokens[name])
            self.read_lines(name, text)

    def read_lines(self, name: str, text: str) -> None:
        self.imports[name], self.exports[name] = [], {}
        for number, line in enumerate(text.split("\n"), 1):
            if match := IMPORT.fullmatch(line):
                self.imports[name].append((number, match[1].split(", "), match[2]))
            elif re.match(r"\s*import\b", line):
                self.wrong.append((name, number, 'expected an import on one line: import { names } from "./file.js";'))
            elif match := EXPORT.match(line):
                self.exports[name][match[1]] = number
            elif re.match(r"\s*export\b", line):
                self.wrong.append((name, number, "expected export before a declaration at the beginning of the line"))

    def check_imports(self) -> None:
        for name, imports in self.imports.items():
            words = [token.text for token in self.tokens[name] if token.kind == "word"]
            for line, imported, file in imports:
                for one in imported:
                    if one not in self.exports.get(file, {}):
                        self.wrong.append((name, line, f"{file} exports no {one}"))
                    if words.count(one) < 2:
                        self.wrong.append((name, line, f"{one} is imported and not used"))

    def check_exports(self) -> None:
        asked = {(file, one) for imports in self.imports.values() for _, names, file in imports for one in names}
        for name, exports in self.exports.items():
            for one, line in exports.items():
                if (name, one) not in asked:
                    self.wrong.append((name, line, f"{one} is exported and not imported"))

    def reached(self, name: str, found: list[str]) -> list[str]:
        if name in self.imports and name not in found:
            found.append(name)
            for _, _, file in self.imports[name]:
                self.reached(file, found)
        return found

    def check_page(self, script: str) -> None:
        """The modules of one page have no top-level name in common."""
        owners: dict[str, str] = {}
        for name in self.reached(script, []):
            for one, line in self.names[name]:
                if owners.setdefault(one, name) != name:
                    self.wrong.append((name, line, f"{one} is a top-level name of {owners[one]} too"))


def check(texts: dict[str, str]) -> list[str]:
    found = [(name, line, wrong) for name, text in texts.items() for line, wrong in wrong_in_text(text)]
    modules = Modules({name: text for name, text in texts.items() if name.endswith(".js")})
    for name, tokens in modules.tokens.items():
        found += [(name, line, wrong) for line, wrong in wrong_in_code(name, tokens)]
    modules.check_imports()
    modules.check_exports()
    for name, text in texts.items():
        if name.endswith(".html"):
            for script in re.findall(r'<script [^>]*src="(?:[\w-]+/)?([\w.-]+)"', text):
                modules.check_page(script)
    return [f"{FOLDER}/{name}:{line}: {wrong}" for name, line, wrong in sorted(set(found + modules.wrong))]


def main() -> int:
    paths = sorted(path for path in (ROOT / FOLDER).iterdir() if path.suffix in (".js", ".css", ".html"))
    found = check({path.name: path.read_text(encoding="utf-8") for path in paths})
    print("\n".join(found) or f"web: {len(paths)} files, no problem")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
