"""Stands in for a test program: what GoogleTest prints and writes, for tests given as {name: outcome}. Outcomes:
passed, failed, skipped, thrown, crash (the program dies), hang."""

PROGRAM = """#!/usr/bin/env python3
import fnmatch, os, sys, time
TESTS = {tests!r}
arguments = dict(word.partition("=")[::2] for word in sys.argv[1:])
if "--gtest_list_tests" in arguments:
    for name in TESTS:
        print("{{}}.\\n  {{}}".format(*name.split(".")))
    raise SystemExit
patterns = arguments.get("--gtest_filter", "*").split(":")
chosen = {{name: outcome for name, outcome in TESTS.items() if any(fnmatch.fnmatchcase(name, p) for p in patterns)}}
cases, failed = [], 0
for name, outcome in chosen.items():
    print("[ RUN      ] " + name, flush=True)
    if outcome == "hang":
        time.sleep(600)
    if outcome == "crash":
        os.abort()
    inside = ""
    if outcome in ("failed", "thrown"):
        failed += 1
        where = "tests/one_test.cpp:7" if outcome == "failed" else "unknown file"
        print(f"{{where}}: Failure\\nExpected equality of these values:")
        print("[  FAILED  ] " + name + " (0 ms)")
        inside = '<failure message="x"/>'
    if outcome == "skipped":
        inside = '<skipped message="tests/one_test.cpp:9&#x0A;this processor has no wings"/>'
    suite, _, test = name.partition(".")
    result = "skipped" if outcome == "skipped" else "completed"
    facts = f'name="{{test}}" status="run" result="{{result}}" time="0.01" classname="{{suite}}"'
    cases.append(f"<testcase {{facts}}>{{inside}}</testcase>")
if "--gtest_output" in arguments:
    with open(arguments["--gtest_output"].removeprefix("xml:"), "w") as file:
        file.write("<testsuites><testsuite>" + "".join(cases) + "</testsuite></testsuites>")
sys.exit(1 if failed else 0)
"""


def program(**tests):
    """The source of a program; names are Suite__Test."""
    return PROGRAM.format(tests={name.replace("__", "."): outcome for name, outcome in tests.items()})
