# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace test`: the native tests through ctest and the Python tests through pytest, with one total."""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event, Thread

from tailrace.bench.host import CpuTimes
from tailrace.console import EXIT_NO, EXIT_OK, EXIT_RUN_FAILED, CommandError, count_of
from tailrace.cores import usable_cores
from tailrace.doctor import devices_here
from tailrace.launch import root_permission
from tailrace.programs import checkout_root
from tailrace.units import duration_text

PYTEST_NO_TESTS = 5
SLOWEST = 40
LAUNCHERS = ("mpirun", "mpiexec", "orterun", "mpiexec.hydra", "srun")
LAUNCH_MARK = "TAILRACE_TEST_SUITE"
# All ranks are on this machine: looking for networks would take most of a start of Open MPI. No test
# asks where devices are: each rank would read that from their registers, 20 ms on a virtual machine.
ONE_MACHINE = {"OMPI_MCA_pml": "ob1", "HWLOC_COMPONENTS": "-linux:pci,-pci"}
# The device that tests run on instead of an emulated one, and the native cases that do.
TESTED_DEVICE = "TAILRACE_TEST_DEVICE"
GPU_CASES = "^mpi\\.(seismic|ultrasound): .*device"
# Native cases run on all their rank counts, not on three of them.
ALL_COUNTS = "TAILRACE_ALL_COUNTS"
# What a launch of many native cases says of each.
CASE_TIME = re.compile(r"^(?:ok|FAILED)\s.*\[ranks [^]]*\] ([0-9.]+) s$", re.MULTILINE)


@dataclass
class Tally:
    """Counts of one kind of tests."""

    passed: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    """Of each test; a native case that ran in a launch of many has the time that it took there."""
    wall_s: float = 0.0
    busy: float = 0.0
    """Share of the time of all cores that somebody used, these tests or not."""
    launches: int = 0
    """Of mpirun and its like, by whatever test; counted only where durations are asked for."""

    @property
    def executed(self) -> int:
        return self.passed + len(self.failed)


def run_tests(
    name: str | None, *, full: bool, as_json: bool, durations: bool = False, gpu: bool = False
) -> int:
    """Runs both suites, one after the other, whatever the first says; returns the exit status."""
    root = checkout_root()
    if root is None:
        raise CommandError("the tests are part of the source checkout; start ./tailrace test there.")
    if gpu:
        devices, why_none = devices_here()
        if not devices:
            return no_device(why_none, as_json=as_json)
        os.environ[TESTED_DEVICE] = "auto"
    if full:
        os.environ[ALL_COUNTS] = "1"
    suites = {
        "native": (ctest_command(root, name, full, gpu), "--output-junit"),
        "python": (pytest_command(root, name, full, gpu), "--junit-xml"),
    }
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        scratch = Path(directory)
        environment = suite_environment(scratch)
        tallies = {
            kind: run_suite([*command, option], scratch / f"{kind}.xml", environment, durations)
            for kind, (command, option) in suites.items()
        }
    if durations:
        report_durations(tallies)
    return report(tallies, name, as_json=as_json)


def no_device(why_none: str, *, as_json: bool) -> int:
    why = f"no test ran: there is no device to run them on: {why_none}"
    print(
        json.dumps({"executed": 0, "failed": [], "skipped": 0, "wall_s": 0.0, "why": why}) if as_json else why
    )
    return EXIT_OK


def ctest_command(root: Path, name: str | None, full: bool, gpu: bool) -> list[str]:
    """Two more at a time than cores: a launch of many ranks counts as two, and waits much of its time."""
    jobs = str(usable_cores() + 2)
    command = ["ctest", "--test-dir", str(root / "build"), "--output-on-failure", "-j", jobs]
    if not full:
        command += ["-LE", "full"]
    if name or gpu:
        command += ["-R", re.sub(r"([.+*?()\[\]^$|\\])", r"\\\1", name) if name else GPU_CASES]
    return command


def pytest_command(root: Path, name: str | None, full: bool, gpu: bool) -> list[str]:
    """As many workers as PYTEST_XDIST_AUTO_NUM_WORKERS says."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--rootdir",
        str(root),
        "-q",
        "-c",
        str(root / "pyproject.toml"),
        "-n",
        "auto",
        "--dist",
        "worksteal",
    ]
    if not full:
        command += ["-m", "not full"]
    words = [*(name or "").split(), *(["test_gpu"] if gpu else [])]
    if words:
        command += ["-k", " and ".join(words)]
    return command


def run_suite(command: list[str], results: Path, environment: dict[str, str], durations: bool) -> Tally:
    """Runs one suite with its lines passing through to standard error, and counts from its JUnit file."""
    # A log file or pipe gets the lines in the order in which they were written.
    sys.stderr.flush()
    started, used = time.monotonic(), CpuTimes.now()
    with counted_launches(durations) as launches:
        done = subprocess.run(
            [*command, str(results)],
            cwd=checkout_root(),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            check=False,
        )
    tally = read_junit(results) if results.is_file() else Tally()
    tally.wall_s, tally.launches = time.monotonic() - started, len(launches)
    tally.busy = (CpuTimes.now().busy_s - used.busy_s) / (tally.wall_s * (os.cpu_count() or 1))
    if done.returncode not in (0, PYTEST_NO_TESTS) and not tally.failed:
        raise CommandError(
            f"{command[0]} failed with status {done.returncode} before it ran a test.", EXIT_RUN_FAILED
        )
    return tally


def suite_environment(scratch: Path) -> dict[str, str]:
    """What both suites run in, unless the user's environment says otherwise."""
    return (
        # Four more than cores: those who start jobs sleep for most of a short one.
        {"PYTEST_XDIST_AUTO_NUM_WORKERS": str(usable_cores() + 4)}
        | ONE_MACHINE
        | {"OMPI_MCA_orte_tmpdir_base": str(session_directory(scratch))}
        | os.environ
        | root_permission()
        | {LAUNCH_MARK: str(os.getpid())}
    )


def session_directory(scratch: Path) -> Path:
    """A directory for Open MPI's launchers, which goes with the suite: killed ones leave 8 MB each in it, and
    each launcher looks at all that others have left. It is never empty: one that ends would remove it while
    another one begins.
    """
    directory = scratch / "mpi"
    (directory / f"ompi.{platform.node().split('.')[0]}.{os.geteuid()}" / "kept").mkdir(parents=True)
    return directory


@contextmanager
def counted_launches(wanted: bool) -> Iterator[set[str]]:
    """Collects the launchers that tests start meanwhile, by looking: each lives for half a second."""
    seen: set[str] = set()
    ended = Event()

    def watch() -> None:
        while not ended.wait(0.2):
            seen.update(running_launchers())

    thread = Thread(target=watch, daemon=True)
    if wanted:
        thread.start()
    yield seen
    ended.set()


def running_launchers() -> set[str]:
    """Processes that are launchers of our tests: `PID-START TIME`."""
    return {found for directory in Path("/proc").glob("[0-9]*") if (found := launcher_at(directory))}


def launcher_at(process: Path) -> str | None:
    try:
        name = (process / "comm").read_text().strip()
        if name not in LAUNCHERS or f"{LAUNCH_MARK}={os.getpid()}".encode() not in (
            process / "environ"
        ).read_bytes().split(b"\0"):
            return None
        return f"{process.name}-{(process / 'stat').read_text().rsplit(')', 1)[1].split()[19]}"
    except OSError:
        return None  # it has ended


def read_junit(path: Path) -> Tally:
    """Counts the test cases of a JUnit file as ctest and pytest write them."""
    tally = Tally()
    for case in ElementTree.parse(path).iter("testcase"):
        name = case.get("name", "?")
        if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
            tally.failed.append(name)
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            tally.skipped += 1
            continue
        else:
            tally.passed += 1
        tally.seconds[f"{case.get('classname', '')}: {name}"] = seconds_of(case)
    return tally


def seconds_of(case: ElementTree.Element) -> float:
    reported = CASE_TIME.findall(case.findtext("system-out") or "")
    return float(reported[0]) if len(reported) == 1 else float(case.get("time") or 0)


def report_durations(tallies: dict[str, Tally]) -> None:
    """Where the time went: the parts, and the slowest files and tests of all."""
    for kind, tally in tallies.items():
        print(
            f"{duration_text(tally.wall_s):>8}  {kind}: {count_of(tally.executed, 'test')}, "
            f"{tally.launches} launches of MPI programs, the cores busy for {tally.busy:.0%}",
            file=sys.stderr,
        )
    rows = [(seconds, test) for tally in tallies.values() for test, seconds in tally.seconds.items()]
    files = Counter[str]()
    for seconds, test in rows:
        file = test.split(":")[0]
        is_in_launch = test.startswith("mpi.") and test != f"{file}: {file}"
        files[file] += 0 if is_in_launch else seconds
    print_slowest("files", [(seconds, name) for name, seconds in files.items()])
    print_slowest("tests", rows)


def print_slowest(kind: str, rows: list[tuple[float, str]]) -> None:
    """Prints the longest first. Tests run side by side: their seconds add up to more than the clock's."""
    print(f"the slowest {min(SLOWEST, len(rows))} {kind}:", file=sys.stderr)
    for seconds, name in sorted(rows, reverse=True)[:SLOWEST]:
        print(f"{duration_text(seconds):>8}  {name}", file=sys.stderr)


def report(tallies: dict[str, Tally], name: str | None, *, as_json: bool) -> int:
    wall_s = sum(tally.wall_s for tally in tallies.values())
    executed = sum(tally.executed for tally in tallies.values())
    failed = [test for tally in tallies.values() for test in tally.failed]
    skipped = sum(tally.skipped for tally in tallies.values())
    if as_json:
        account = {"executed": executed, "failed": failed, "skipped": skipped, "wall_s": round(wall_s, 3)}
        print(json.dumps(account | {kind: asdict(tally) for kind, tally in tallies.items()}, indent=2))
    if executed == 0:
        raise CommandError(f"no test ran{f' whose name contains {name!r}' if name else ''}.", EXIT_NO)
    for test in failed:
        print(f"failed: {test}", file=sys.stderr)
    if not as_json:
        parts = ", ".join(f"{tally.executed} {kind}" for kind, tally in tallies.items())
        verdict = (
            f"{len(failed)} of {count_of(executed, 'test')} failed" if failed else f"{executed} tests passed"
        )
        print(f"{verdict} ({parts}), {skipped} skipped, in {duration_text(wall_s)}")
    return EXIT_NO if failed else EXIT_OK
