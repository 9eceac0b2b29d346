# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the integration tests, which start the native programs of TAILRACE_BIN_DIR (build/bin), and the
limit to what each test starts.
"""

import gc
import os
import subprocess
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path

import pytest

import jobs
from built_examples import Examples
from computations import Whole
from kwave_input import small_input
from native import cannot, needs
from shared import Shared, common_directory

# What a test outside of `full` may start itself. Runs that several tests look at are made by `once`.
MAX_LAUNCHES = 12

# Files with tests that take long.
LONGEST = {
    "test_bench.py",
    "test_bench_heat.py",
    "test_bench_language.py",
    "test_docs.py",
    "test_language_build.py",
}

# Open MPI's launcher waits for so many seconds between two signals by which it ends what a killed rank has
# left: twice in each such run.
LAUNCHER_WAITS = "OMPI_MCA_odls_base_sigkill_timeout"


def pytest_configure() -> None:
    # What earlier runs on this machine have shown is nothing that a test may rest on.
    os.environ["TAILRACE_TUNING"] = "off"
    os.environ.setdefault(LAUNCHER_WAITS, "0")
    gc.set_threshold(100_000, 10, 10)  # as the command does


def pytest_collection_finish() -> None:
    # Modules and tests stay until the end: no use in looking through them for cycles again and again.
    gc.freeze()


@pytest.fixture
def launcher_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher waits between its signals as it does for users: ranks may do something in between."""
    monkeypatch.delenv(LAUNCHER_WAITS)


def pytest_terminal_summary(terminalreporter) -> None:
    """Says what the tests cost in launches, each of which takes half a second to a second of a core."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    ends = [report for report in reports if getattr(report, "when", "") == "teardown"]
    launches = sum(count for end in ends for name, count in end.user_properties if name == "launches")
    terminalreporter.write_line(f"launches of jobs and commands in tests/integration: {launches}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The longest first: none is left over for one worker at the end.
    items.sort(key=lambda item: Path(item.fspath).name not in LONGEST)
    programs = ("ultrasound", "rehearse", "seismic", "molecules")
    needed = needs(*(f"tailrace-{name}" for name in programs))
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(needed)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Notes what the fixtures of a test start."""
    before = jobs.LAUNCHES.count
    result = yield
    item.user_properties.append(("launches", jobs.LAUNCHES.count - before))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Notes what a test starts, and fails one that starts too much."""
    before, shared = jobs.LAUNCHES.count, jobs.LAUNCHES.shared
    result = yield
    started = jobs.LAUNCHES.count - before
    item.user_properties.append(("launches", started))
    own = started - (jobs.LAUNCHES.shared - shared)
    if own > MAX_LAUNCHES and not item.get_closest_marker("full"):
        pytest.fail(f"{own} launches in one test, of {MAX_LAUNCHES}: share runs, or mark it full")
    return result


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Path:
    """The input that most tests share. Not to be changed."""
    return small_input().write(tmp_path_factory.mktemp("input") / "small.h5")


SENSOR_DATA = ["-p", "--p_max", "--p_rms", "--p_max_all", "--p_final", "-u", "--u_min"]


@pytest.fixture(scope="session")
def once(tmp_path_factory) -> Shared:
    """Runs that are made once for all workers."""
    return Shared(common_directory(tmp_path_factory) / "shared")


@pytest.fixture(scope="session")
def clean(small, once) -> Callable[[int], Path]:
    """The output of an undisturbed run of the shared input on a number of ranks. Not to be changed."""

    def output(ranks: int) -> Path:
        return once(f"clean-{ranks}", partial(commit_mark_small, small, ranks))

    return output


def commit_mark_small(small: Path, ranks: int, directory: Path) -> Path:
    path = directory / "out.h5"
    ended = jobs.run("-i", small, "-o", path, "--quiet", *SENSOR_DATA, ranks=ranks)
    assert ended.status == 0, ended
    return path


@pytest.fixture(scope="session")
def whole(once) -> Whole:
    """What each computation writes that nobody stops."""
    return Whole(once)


@pytest.fixture(scope="session")
def build_example(once) -> Examples:
    """Builds an example: `build_example(NAME, PROGRAM)`."""
    return Examples(once)


@pytest.fixture
def small_disk(tmp_path):
    """Mounts a file system of a given size, at a given place or any, that goes with the test."""
    places = []

    def mount(size: str, place: Path | None = None) -> Path:
        place = place or tmp_path / f"disk{len(places)}"
        place.mkdir(parents=True)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], capture_output=True, check=False
        )
        if done.returncode != 0:
            cannot(f"no file system can be mounted here: {done.stderr.decode().strip()}")
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", "--lazy", place], check=True)
