#!/usr/bin/env python3
"""bare_debian.py packages RELEASE: what tools/release made, in a Debian 12 that has nothing else: the package is
installed, answers and is removed, the archive and the wheel answer; prints sizes and times of a start.
bare_debian.py container RELEASE: deploy/Containerfile, built by buildah on the same Debian; its server answers.

As root. The system is made once by debootstrap, in build/bare-debian, and every run uses a copy of it."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
BARE = ROOT / "build/bare-debian"
MIRROR = "http://deb.debian.org/debian"
ANSWER = ["classify", "-m", "builtin:sentiment", "a gorgeous , witty , seductive movie ."]
STARTS = 20
PORT = 18080
PYTHON_ANSWER = (
    "import deberta; print(deberta.open('builtin:sentiment').classify('a gorgeous , witty , seductive movie .').label)"
)


def call(*words, **more) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def bare_system() -> pathlib.Path:
    if not (BARE / "etc/debian_version").exists():
        shutil.rmtree(BARE, ignore_errors=True)
        part = BARE.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.parent.mkdir(parents=True, exist_ok=True)
        call("debootstrap", "--variant=minbase", "bookworm", part, MIRROR)
        part.rename(BARE)
    return BARE


class System:
    """A copy of the bare system in a folder; each command in it has processes and mounts of its own."""

    def __init__(self, folder: pathlib.Path):
        self.root = folder / "system"
        call("cp", "-a", bare_system(), self.root)
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")

    def run(self, *words) -> str:
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }
        inside = ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.root}/proc", "chroot", self.root]
        return call(*inside, *words, env=environment)

    def install(self, *packages) -> None:
        self.run("apt-get", "update", "-qq")
        self.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)


def one(folder: pathlib.Path, pattern: str) -> pathlib.Path:
    (found,) = folder.glob(pattern)
    return found


def ms_of(system: System, *words) -> float:
    """The median of starts, each by a shell in the system, so that nothing else is timed."""
    script = f'for n in $(seq {STARTS}); do a=$(date +%s%N); "$@" >/dev/null; echo $(($(date +%s%N) - a)); done'
    return statistics.median(int(line) for line in system.run("sh", "-c", script, "sh", *words).split()) / 1e6


def show(name: str, package: pathlib.Path, installed_bytes: int, version_ms: float, answer_ms: float) -> None:
    print(
        f"{name}: {package.stat().st_size / 1e6:.1f} MB, unpacked {installed_bytes / 1e6:.1f} MB; "
        f"--version {version_ms:.1f} ms, an answer with its model loaded {answer_ms:.1f} ms",
        flush=True,
    )


def bytes_of(path: pathlib.Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file() and not file.is_symlink())


def expect_positive(told: str) -> None:
    if not told.splitlines()[-1].startswith("positive"):  # below the names of the columns, if there are any
        raise SystemExit(f"expected the answer positive, got {told!r}")


def try_package(system: System, release: pathlib.Path) -> None:
    package = one(release, "deberta-[0-9]*.deb")
    shutil.copy(package, system.root / "root")
    system.install(f"/root/{package.name}")
    expect_positive(system.run("deberta", *ANSWER))
    files = [system.root / name[1:] for name in system.run("dpkg", "-L", "deberta").split("\n") if name]
    files = [path for path in files if path.is_file() and not path.is_dir()]
    size = sum(path.stat().st_size for path in files if not path.is_symlink())
    show("Debian package", package, size, ms_of(system, "deberta", "--version"), ms_of(system, "deberta", *ANSWER))
    system.run("apt-get", "purge", "-y", "-qq", "deberta")
    if left := [str(path) for path in files if path.exists()]:
        raise SystemExit(f"removed, but left: {', '.join(left)}")
    print(f"Debian package: {len(files)} files installed, none left after its removal")


def try_archive(system: System, release: pathlib.Path) -> None:
    archive = one(release, "deberta-[0-9]*.tar.gz")
    call("tar", "-xf", archive, "-C", system.root / "opt")
    place = one(system.root / "opt", "deberta-*")
    program = f"/opt/{place.name}/bin/deberta"
    expect_positive(system.run(program, *ANSWER))
    show("archive", archive, bytes_of(place), ms_of(system, program, "--version"), ms_of(system, program, *ANSWER))


def try_wheel(system: System, release: pathlib.Path) -> None:
    wheels = sorted(release.glob("*.whl"))
    if len(wheels) < 2:
        print("left out: wheels, which this release lacks")
        return
    folder = system.root / "root/wheels"
    call(
        sys.executable, "-m", "pip", "download", "-q", "-d", folder, "nanobind-backend>=1.0,<2"
    )  # what deberta-cpp needs
    for wheel in wheels:
        shutil.copy(wheel, folder)
    system.install("python3-venv")
    system.run("python3", "-m", "venv", "/root/venv")
    names = [f"/root/wheels/{wheel.name}" for wheel in wheels]
    system.run("/root/venv/bin/pip", "install", "-q", "--no-index", "--find-links", "/root/wheels", *names)
    python = "/root/venv/bin/python"
    expect_positive(system.run(python, "-c", PYTHON_ANSWER))
    place = one(system.root / "root/venv/lib", "python3*/site-packages/deberta")
    times = [ms_of(system, python, "-c", words) for words in ("import deberta", PYTHON_ANSWER)]
    show("wheel (import instead of --version)", one(release, "deberta_cpp-*.whl"), bytes_of(place), *times)


def buildah(*words, **more) -> str:
    return call("buildah", "--storage-driver", "vfs", *words, **more)


def answer_of(path: str, body: bytes | None = None) -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def wait_until_healthy(process: subprocess.Popen) -> float:
    begin = time.monotonic()
    while time.monotonic() - begin < 60:
        with contextlib.suppress(OSError):
            answer_of("/health")
            return time.monotonic() - begin
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise SystemExit(f"the server of the container does not answer: {process.communicate()[1]}")


def try_container(release: pathlib.Path, folder: pathlib.Path) -> None:
    environment = os.environ | {"BUILDAH_ISOLATION": "chroot"}
    base = buildah("from", "scratch").strip()
    buildah("add", "-q", base, f"{bare_system()}/", "/")
    buildah("commit", "-q", base, "deberta-bare-debian")
    image = ["--build-arg", "BASE=localhost/deberta-bare-debian", "-t", "deberta-release"]
    begin = time.monotonic()
    buildah("bud", "--pull-never", "-f", ROOT / "deploy/Containerfile", *image, release, env=environment)
    print(f"container: built in {time.monotonic() - begin:.0f} s")
    container = buildah("from", "--pull-never", "deberta-release").strip()
    inspected = json.loads(buildah("inspect", container))["OCIv1"]["config"]
    user = buildah("run", container, "--", "id", "-un", env=environment).strip()
    if user == "root" or inspected["User"] != user:
        raise SystemExit(f"expected the user of the container to be none of rights, got {user}")
    command = [*inspected["Entrypoint"][:-1], str(PORT), "-m", "main=builtin:sentiment"]
    words = ["buildah", "--storage-driver", "vfs", "run", container, "--", *command]
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        seconds = wait_until_healthy(process)
        told = answer_of("/predict", json.dumps({"inputs": "a gorgeous , witty , seductive movie ."}).encode())
        print(f"container: runs as {user}, healthy after {seconds:.1f} s with the start of buildah; /predict: {told}")
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)
        for words in ["rm", container, base], ["rmi", "-f", "deberta-release", "deberta-bare-debian"]:
            buildah(*words)


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in ("packages", "container"):
        print("bare_debian: expected packages or container, and the folder of a release", file=sys.stderr)
        return 2
    release = pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory(prefix="deberta-debian-") as folder:
        if sys.argv[1] == "container":
            try_container(release, pathlib.Path(folder))
            return 0
        system = System(pathlib.Path(folder))
        try_package(system, release)
        try_archive(system, release)
        try_wheel(system, release)
    return 0


if __name__ == "__main__":
    sys.exit(main())
