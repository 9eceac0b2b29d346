"""`tailrace test`: the native tests through ctest and the Python tests through pytest, with one total."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tailrace.console import EXIT_NO, EXIT_OK, EXIT_RUN_FAILED, CommandError, count_of
from tailrace.cores import usable_cores
from tailrace.launch import root_permission
from tailrace.programs import checkout_root
from tailrace.units import duration_text

PYTEST_NO_TESTS = 5


@dataclass
class Tally:
    """Counts of one kind of tests."""

    passed: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)

    @property
    def executed(self) -> int:
        return self.passed + len(self.failed)


def run_tests(name: str | None, *, full: bool, as_json: bool) -> int:
    """Runs both suites, one after the other, whatever the first says; returns the exit status."""
    root = checkout_root()
    if root is None:
        raise CommandError("the tests are part of the source checkout; start ./tailrace test there.")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        tallies = {
            "native": run_suite(
                ctest_command(root, name, full), Path(scratch) / "ctest.xml", "--output-junit"
            ),
            "python": run_suite(
                pytest_command(root, name, full), Path(scratch) / "pytest.xml", "--junit-xml"
            ),
        }
    return report(tallies, time.monotonic() - started, name, as_json=as_json)


def ctest_command(root: Path, name: str | None, full: bool) -> list[str]:
    command = ["ctest", "--test-dir", str(root / "build"), "--output-on-failure", "-j", str(usable_cores())]
    if not full:
        command += ["-LE", "full"]
    if name:
        command += ["-R", re.sub(r"([.+*?()\[\]^$|\\])", r"\\\1", name)]
    return command


def pytest_command(root: Path, name: str | None, full: bool) -> list[str]:
    """One worker more than cores: those who start jobs sleep for most of a short one."""
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
        str(usable_cores() + 1),
        "--dist",
        "worksteal",
    ]
    if not full:
        command += ["-m", "not full"]
    if name:
        command += ["-k", " and ".join(name.split())]
    return command


def run_suite(command: list[str], results: Path, option: str) -> Tally:
    """Runs one suite with its lines passing through to standard error, and counts from its JUnit file."""
    # A log file or pipe gets the lines in the order in which they were written.
    sys.stderr.flush()
    done = subprocess.run(
        [*command, option, str(results)],
        cwd=checkout_root(),
        env=os.environ | root_permission(),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        check=False,
    )
    tally = read_junit(results) if results.is_file() else Tally()
    if done.returncode not in (0, PYTEST_NO_TESTS) and not tally.failed:
        raise CommandError(
            f"{command[0]} failed with status {done.returncode} before it ran a test.", EXIT_RUN_FAILED
        )
    return tally


def read_junit(path: Path) -> Tally:
    """Counts the test cases of a JUnit file as ctest and pytest write them."""
    tally = Tally()
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
            tally.failed.append(case.get("name", "?"))
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            tally.skipped += 1
        else:
            tally.passed += 1
    return tally


def report(tallies: dict[str, Tally], wall_s: float, name: str | None, *, as_json: bool) -> int:
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
