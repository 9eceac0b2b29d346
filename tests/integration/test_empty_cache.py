# SPDX-License-Identifier: BSD-3-Clause
"""What a machine remembers of earlier runs changes no byte of a result: nothing is there, two runs make it at
once, or it is damaged.
"""

import json
from pathlib import Path

import pytest

import jobs
from kwave_input import small_input

GRID, STEPS = (27, 22, 14), 30
"""Lengths with the factors 3, 11 and 7."""


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A user who has never run anything."""
    monkeypatch.delenv("TAILRACE_TUNING", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def simulate(directory: Path, name: str, ranks: int = 0) -> jobs.Job:
    words = [
        "-i",
        directory / "in.h5",
        "-o",
        directory / f"{name}.h5",
        "--run-dir",
        directory / name,
        "--quiet",
    ]
    return jobs.Job([*words, "--p_raw", "--p_max_all", "--u_raw", "--p_final"], ranks)


@pytest.mark.parametrize("ranks", [0, 2])
def test_an_empty_cache_two_runs_at_once_and_a_full_cache_give_the_same_bytes(home, ranks, tmp_path):
    small_input(GRID, STEPS).write(tmp_path / "in.h5")
    at_once = [simulate(tmp_path, name, ranks) for name in ("one", "other")]
    for job in at_once:
        ended = job.wait()
        assert ended.status == 0, ended
    (history,) = (home / ".cache/tailrace/output").iterdir()
    assert json.loads(history.read_text())["kinds"]
    later = simulate(tmp_path, "later", ranks).wait()
    assert later.status == 0, later
    assert "last run with such outputs" in json.dumps(jobs.account(tmp_path / "later")["plan"]["decisions"])
    history.write_text('{"format": 1, "kinds": {"')
    assert simulate(tmp_path, "damaged", ranks).wait().status == 0
    for name in ("other", "later", "damaged"):
        jobs.assert_equal_files(tmp_path / f"{name}.h5", tmp_path / "one.h5")


def test_a_home_that_cannot_be_written_is_named_and_costs_nothing_else(home, tmp_path):
    home.write_text("no directory")
    small_input(GRID, STEPS).write(tmp_path / "in.h5")
    ended = simulate(tmp_path, "run").wait()
    assert ended.status == 0, ended
    (reason,) = [
        text for text in jobs.account(tmp_path / "run")["plan"]["reasons"] if "kept for later" in text
    ]
    assert str(home) in reason
