"""Which calls `tools/long_checks calls` counts as forbidden (the runs under strace are there)."""

import pathlib

import pytest

import system_calls

PLACE = pathlib.Path("/tmp/a/place")


@pytest.mark.parametrize(
    "call, why",
    [
        ("socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 3", "the network"),
        ('connect(3, {sa_family=AF_UNIX, sun_path="/run/nscd"}, 110) = 0', "the network"),
        ('execve("/bin/sh", ["sh"], 0x7ffd /* 9 vars */) = 0', "another process"),
        ("vfork() = 7", "another process"),
        ("clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 7", "another process"),
        ("clone3({flags=CLONE_VM|CLONE_FS|CLONE_THREAD, child_tid=0x7f}, 88) = 7", ""),
        ('openat(AT_FDCWD, "/tmp/a/m/config.json", O_RDONLY|O_CLOEXEC) = 3', ""),
        ('openat(AT_FDCWD, "/tmp/a/place/out.tmp-1-0a", O_WRONLY|O_CREAT|O_EXCL, 0666) = 3', ""),
        ('openat(AT_FDCWD, "/tmp/a/out", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3', "a change outside the output"),
        ('rename("/tmp/a/place/out.tmp-1-0a", "/tmp/a/place/out") = 0', ""),
        ('rename("/tmp/a/place/out.tmp-1-0a", "/tmp/a/other") = 0', "a change outside the output"),
        ('unlink("/tmp/a/m/config.json") = 0', "a change outside the output"),
    ],
)
def test_a_call_is_judged(call, why):
    assert system_calls.forbidden(call, PLACE) == why


def test_a_run_without_an_output_changes_nothing():
    assert system_calls.forbidden('openat(AT_FDCWD, "/tmp/a/place/out", O_WRONLY|O_CREAT, 0666) = 3', None)


def test_calls_of_several_threads_are_told_apart(tmp_path):
    (tmp_path / "trace").write_text(
        '12 execve("/a", ["a"], 0x7f) = 0\n13 openat(AT_FDCWD, "/b", O_RDONLY <unfinished ...>\n'
        "12 exit_group(0) = ?\n13 <... openat resumed>) = 3\n+++ exited +++\n"
    )
    assert [call.split("(")[0] for call in system_calls.calls_of(tmp_path / "trace")] == [
        "execve",
        "openat",
        "exit_group",
    ]
