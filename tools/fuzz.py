#!/usr/bin/env python3
"""The fuzz targets: runs them on their kept corpora, and makes the corpora.

fuzz.py run [--seconds 300] [--keep FOLDER] [TARGET...]   two at a time; a line with the figures of each; exit code 1
                                                          after a finding
fuzz.py corpus [--add FOLDER]                             makes fuzz/corpus again: its inputs, the makers' seeds and
                                                          FOLDER/TARGET, minimised

The corpus of a target is one archive, fuzz/corpus/TARGET.tar.xz: the same bytes for the same inputs.
"""

import argparse
import concurrent.futures
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "build/asan/fuzz"
CORPUS = ROOT / "fuzz/corpus"
FINDINGS = ROOT / "build/asan/findings"
TARGETS = sorted(path.stem for path in (ROOT / "fuzz").glob("*.cpp") if path.stem not in ("entry", "make_corpus"))
# Wall-clock time, on a machine that may be busy; entry.cpp allows a second of CPU time.
LIMITS = ["-timeout=20", "-rss_limit_mb=512"]
# The memory limit is for what an input needs: freed blocks that the sanitizer holds back (256 MB by default) must not
# count.
SANITIZER = {"ASAN_OPTIONS": "detect_leaks=1:quarantine_size_mb=32"}
MAX_KEPT_BYTES = 4096  # larger inputs are not committed
MAX_HEX_BYTES = 400


def build() -> bool:
    """Builds the targets of the preset asan, and installs what it needs."""
    script = (
        ". tools/packages.sh; install_packages fuzz $PRODUCT_PACKAGES $FUZZ_PACKAGES && build_preset fuzz asan fuzz"
    )
    return subprocess.run(["bash", "-c", script], cwd=ROOT).returncode == 0


def pack(folder: pathlib.Path, archive: pathlib.Path) -> None:
    """An archive of the files of `folder`, without their times and owners."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for path in sorted(folder.iterdir()):
            data = path.read_bytes()
            entry = tarfile.TarInfo(path.name)
            entry.size = len(data)
            packed.addfile(entry, io.BytesIO(data))


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Unpacks the archive into `folder`, which is created; it stays empty if there is no archive. Returns the
    folder."""
    folder.mkdir(parents=True)
    if archive.exists():
        with tarfile.open(archive) as packed:
            for entry in packed:
                (folder / pathlib.PurePath(entry.name).name).write_bytes(packed.extractfile(entry).read())
    return folder


def dictionary_of(target: str) -> list[str]:
    path = ROOT / "fuzz/dict" / f"{target}.dict"
    return [f"-dict={path}"] if path.exists() else []


def figures_of(output: str) -> dict[str, int]:
    """The figures that libFuzzer prints at the end."""
    found = {name: int(value) for name, value in re.findall(r"stat::(\w+):\s+(\d+)", output)}
    for coverage, features in re.findall(r"cov: (\d+) ft: (\d+)", output):
        found.update(coverage=int(coverage), features=int(features))
    return found


def hex_of(path: pathlib.Path) -> str:
    data = path.read_bytes()
    return data[:MAX_HEX_BYTES].hex(" ") + (f" ... ({len(data)} bytes)" if len(data) > MAX_HEX_BYTES else "")


def run_target(target: str, seconds: int, keep: pathlib.Path | None = None) -> tuple[bool, str, dict[str, int]]:
    """(no finding, what to show, figures). New inputs go to keep/TARGET when given."""
    FINDINGS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        seeds = unpack(CORPUS / f"{target}.tar.xz", pathlib.Path(scratch) / "seeds")
        new = (keep or pathlib.Path(scratch) / "new") / target
        new.mkdir(parents=True, exist_ok=True)
        prefix = FINDINGS / f"{target}-"
        before = set(FINDINGS.glob(f"{target}-*"))
        command = [
            PROGRAMS / f"fuzz_{target}",
            f"-max_total_time={seconds}",
            *LIMITS,
            *dictionary_of(target),
            "-print_final_stats=1",
            f"-artifact_prefix={prefix}",
            new,
            seeds,
        ]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | SANITIZER,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    figures = figures_of(done.stdout)
    if done.returncode == 0:
        return True, "", figures
    told = done.stdout.splitlines()[-60:]
    for path in sorted(set(FINDINGS.glob(f"{target}-*")) - before):
        told.append(f"the input is {path}: {hex_of(path)}")
        told.append(f"again: build/asan/fuzz/fuzz_{target} {path}")
    return False, "\n".join(told), figures


def line_of(target: str, passed: bool, figures: dict[str, int]) -> str:
    return (
        f"{target:<20} {'clean  ' if passed else 'FINDING'} {figures.get('number_of_executed_units', 0):>10} "
        "executions "
        f"{figures.get('average_exec_per_sec', 0):>7}/s {figures.get('peak_rss_mb', 0):>4} MB "
        f"{figures.get('coverage', 0):>6} edges {figures.get('features', 0):>6} features"
    )


def run(arguments: argparse.Namespace) -> int:
    unknown = set(arguments.targets) - set(TARGETS)
    if unknown:
        print(
            f"fuzz: unknown target {', '.join(sorted(unknown))}; expected some of {', '.join(TARGETS)}", file=sys.stderr
        )
        return 2
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as executor:
        runs = {
            executor.submit(run_target, t, arguments.seconds, arguments.keep): t for t in arguments.targets or TARGETS
        }
        for future in concurrent.futures.as_completed(runs):
            passed, told, figures = future.result()
            failed += not passed
            print(line_of(runs[future], passed, figures), flush=True)
            if told:
                print(told, flush=True)
    print(f"fuzz: {len(runs) - failed} targets clean, {failed} with findings")
    return 1 if failed else 0


def corpus(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        seeds = pathlib.Path(scratch) / "seeds"
        subprocess.run([PROGRAMS / "make_corpus", seeds], check=True)
        for target in TARGETS:
            archive = CORPUS / f"{target}.tar.xz"
            sources = [seeds / target, unpack(archive, pathlib.Path(scratch) / "before" / target)]
            if arguments.add:
                sources.append(arguments.add / target)
            kept = pathlib.Path(scratch) / "kept" / target
            kept.mkdir(parents=True)
            subprocess.run(
                [
                    PROGRAMS / f"fuzz_{target}",
                    "-merge=1",
                    f"-max_len={MAX_KEPT_BYTES}",
                    *LIMITS,
                    kept,
                    *(folder for folder in sources if folder.exists()),
                ],
                check=True,
                cwd=ROOT,
                env=os.environ | SANITIZER,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            pack(kept, archive)
            print(f"{target:<20} {len(list(kept.iterdir())):>4} inputs {archive.stat().st_size:>7} bytes")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--seconds", type=int, default=300)
    runner.add_argument("--keep", type=pathlib.Path)
    runner.add_argument("targets", nargs="*")
    maker = commands.add_parser("corpus")
    maker.add_argument("--add", type=pathlib.Path)
    arguments = parser.parse_args()
    if not build():
        return 1
    return run(arguments) if arguments.command == "run" else corpus(arguments)


if __name__ == "__main__":
    sys.exit(main())
