# SPDX-License-Identifier: BSD-3-Clause
"""A fragment program in C++ on the installed library, by the commands of the howto."""

import math
import os
import re
import subprocess
from pathlib import Path

import pytest

import jobs

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "examples/wave_front/wave_front.cpp"
HOWTO = ROOT / "docs/howto/fragments.md"
RANKS = [1, 2] if jobs.waits_spin() else [1, 2, 3]


@pytest.fixture
def program(build_example) -> Path:
    return build_example("wave_front", "wave_front")


def test_it_is_short_and_places_nothing():
    text = SOURCE.read_text()
    assert len(text.splitlines()) < 60
    assert "MPI_" not in text and ".on(" not in text and ".stealable" not in text


@pytest.mark.parametrize("ranks", RANKS)
def test_all_ranks_work_and_it_says_so(ranks, program):
    n = 20
    ended = jobs.Job([n], ranks, command=[str(program)]).wait()
    assert ended.status == 0, ended
    ways = math.comb(2 * n, n) % 1000003
    assert f"{n} x {n}: {ways} ways\n" in ended.out
    total, parts = re.search(r"^(\d+) fragments: (.*)$", ended.out, re.MULTILINE).groups()
    executed = [int(part.split(": ")[1]) for part in parts.split(", ")]
    # main, three loops and one for each row, the first row and column, the cells, and `show`
    assert len(executed) == ranks and sum(executed) == int(total) == 1 + 3 + n + 2 * n + 1 + n * n + 1
    assert min(executed) > sum(executed) / ranks / 2


@pytest.mark.parametrize("words", [[], ["many"], ["1", "2"]])
def test_arguments_that_do_not_fit(words, program):
    ended = jobs.Job(words, 2, command=[str(program)]).wait()
    assert ended.status == 2 and "wave_front: " in ended.err, ended


def test_the_commands_of_the_howto(tmp_path):
    build = jobs.REHEARSE.parent.parent
    if jobs.waits_spin() or not (build / "CMakeCache.txt").is_file():
        pytest.skip("the commands are those of a checkout with the MPI that is found first")
    lines = re.findall(r"^    ((?:cmake|mpirun) .*)$", HOWTO.read_text(), re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["cmake", "cmake", "cmake", "mpirun"]
    (tmp_path / "build").symlink_to(build)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for line in lines:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=tmp_path,
            env=os.environ | {"HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    assert "fragments: rank 0: " in done.stdout
