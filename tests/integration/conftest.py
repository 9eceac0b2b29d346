"""Fixtures of the integration tests, which start the native programs of TAILRACE_BIN_DIR (build/bin)."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import jobs
from kwave_input import small_input
from native import cannot, needs


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The longest first: none is left over for one worker at the end.
    items.sort(key=lambda item: not item.nodeid.startswith("tests/integration/test_docs.py"))
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            programs = ("ultrasound", "rehearse", "seismic", "molecules")
            item.add_marker(needs(*(f"tailrace-{name}" for name in programs)))


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Path:
    """The input that most tests share. Not to be changed."""
    return small_input().write(tmp_path_factory.mktemp("input") / "small.h5")


RECORD = ["-p", "--p_max", "--p_rms", "--p_max_all", "--p_final", "-u", "--u_min"]


@pytest.fixture(scope="session")
def clean(small, tmp_path_factory) -> Callable[[int], Path]:
    """The output of an undisturbed run of the shared input on a number of ranks, made once."""
    directory = tmp_path_factory.mktemp("clean")
    made: dict[int, Path] = {}

    def output(ranks: int) -> Path:
        if ranks not in made:
            path = directory / f"{ranks}.h5"
            ended = jobs.run("-i", small, "-o", path, "--quiet", *RECORD, ranks=ranks)
            assert ended.status == 0, ended
            made[ranks] = path
        return made[ranks]

    return output


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
