# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace profile fragments` on real runs: identities, shares of time, budgets, clocks that are off."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import jobs
from native import needs
from tailrace.fragment_profile.profile import Profile, read_profile
from tailrace.programs import find_program

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
POWERS = EXAMPLES / "fragments" / "powers.fa"
RANKS = [1, 2] if jobs.waits_spin() else [1, 2, 4, 7]
TOTAL = 46  # fragments of powers.fa with n = 30: main, powers, loops, conditions and 35 bodies

pytestmark = needs("tailrace-fragments")


@pytest.fixture(scope="module")
def runs(once) -> dict[int, Path]:
    folder = once("profiled_powers", run_all)
    return {ranks: folder / f"{ranks}" for ranks in RANKS}


def run_all(folder: Path) -> Path:
    def run(ranks: int) -> None:
        out = ["--out", folder / f"{ranks}", "--trace", "on", "--no-report", "--oversubscribe"]
        assert jobs.tailrace("run", POWERS, "-n", ranks, *out, "--", 30).status == 0

    run(RANKS[0])
    jobs.in_parallel([partial(run, ranks) for ranks in RANKS[1:]])
    return folder


@pytest.fixture(scope="module")
def profiles(runs) -> dict[int, Profile]:
    return {ranks: read_profile(directory) for ranks, directory in runs.items()}


@pytest.mark.parametrize("ranks", RANKS)
def test_identities_hold_on_any_number_of_ranks(profiles, ranks):
    profile = profiles[ranks]
    assert profile.errors == []
    assert profile.recorded.problems == []
    totals = profile.totals
    assert totals.created == totals.ended == sum(totals.distribs) == TOTAL
    assert sum(n * count for n, count in enumerate(totals.distribs)) == totals.forwarded
    assert (totals.forwarded > 0) == (ranks > 1)
    assert 0 < totals.waited <= totals.created
    # x[0] to x[30], which stay to the end of main, and big, which goes with its only reader.
    assert (profile.values.written, profile.values.live_at_end) == (32, 31)


@pytest.mark.parametrize("ranks", RANKS)
def test_states_of_threads_add_up_to_the_wall_time(profiles, ranks):
    shares = profiles[ranks].shares
    assert len(shares.threads) == ranks
    for one in shares.threads:
        assert one.useful_s + one.idle_s + one.all_overhead_s == pytest.approx(one.wall_s, rel=0.01)
    assert shares.bodies == 35


@pytest.mark.parametrize("ranks", RANKS)
def test_nothing_happens_before_its_cause(profiles, ranks):
    recorded = profiles[ranks].recorded
    assert (recorded.stays["end_s"] >= recorded.stays["start_s"]).all()
    values, arrivals = recorded.values, recorded.arrivals
    posted = values["posted_s"][np.searchsorted(values["key"], arrivals["key"])]
    assert (arrivals["time_s"] >= posted - 1e-9).all()
    path = profiles[ranks].path
    assert 0 < path.length_s <= recorded.last_s - recorded.first_s


def test_the_command_says_the_thesis_lines(runs, tmp_path):
    ended = jobs.tailrace("profile", "fragments", runs[2], "--info", tmp_path / "info")
    assert ended.status == 0
    assert ended.out.startswith(f"Total cf: {TOTAL}\nDistribs: [")
    assert (tmp_path / "info" / "wait_df_time.png").is_file()
    as_json = json.loads(jobs.tailrace("profile", "fragments", runs[2], "--json").out)
    assert as_json["total_cf"] == TOTAL
    assert as_json["errors"] == []


def test_what_there_is_to_profile_is_said(tmp_path):
    ended = jobs.tailrace("profile", "fragments", tmp_path)
    assert ended.status == 2
    assert "--trace on" in ended.err


def native(directory: Path, *options: str, ranks: int = 2) -> Profile:
    """A compiled program with the native command's own options."""
    (directory / "trace").mkdir()
    program = directory / "powers.so"
    assert jobs.tailrace("compile", POWERS, "-o", program).status == 0
    words = [f"--trace={directory}", *options, str(program), "200"]
    ended = jobs.Job(words, ranks, command=[str(find_program("tailrace-fragments"))]).wait()
    assert ended.status == 0, ended
    return read_profile(directory)


def test_beyond_the_budget_totals_and_shares_stay_exact(tmp_path):
    profile = native(tmp_path, "--trace-budget=4KiB")
    assert not profile.recorded.is_full
    assert profile.errors == []
    assert profile.totals.created == TOTAL - 30 + 200
    assert len(profile.recorded.fragments) < profile.totals.created
    assert (profile.recorded.fragments["created_s"] <= profile.recorded.full_until_s).all()


def test_workers_run_the_bodies(tmp_path):
    profile = native(tmp_path, "-t", "2")
    assert profile.errors == []
    names = {one.thread for one in profile.shares.threads if one.useful_s > 0}
    assert names <= {"worker 1", "worker 2"}
    assert len(profile.shares.executing) == 4
    assert len(profile.recorded.runs) == profile.shares.bodies == 205


def test_clocks_that_are_off_are_put_right(tmp_path, monkeypatch):
    monkeypatch.setenv("TAILRACE_CLOCK_SKEW", "5.0,1e-5")
    profile = native(tmp_path)
    assert profile.errors == []
    error = profile.recorded.clock_error_s
    assert 0 < error < 0.1
    stays = profile.recorded.stays
    assert (stays["end_s"] - stays["start_s"] >= -error).all()
    assert profile.recorded.last_s - profile.recorded.first_s < 5.0


@pytest.mark.skipif(jobs.waits_spin(), reason="waits of this MPI take the core of the other rank")
def test_poisson_leaves_fragments_in_its_trace(tmp_path):
    out = tmp_path / "run"
    settings = ["--set", "time.steps=1000", "--set", "domain.cells=[255,255]", "--no-report"]
    ended = jobs.tailrace("run", EXAMPLES / "poisson.toml", "-n", 2, "--out", out, *settings)
    assert ended.status == 0, ended.err
    profile = read_profile(out)
    assert profile.errors == []
    # Sweeps beyond the last one have begun, and are abandoned.
    assert profile.totals.created >= sum(profile.totals.distribs) == profile.totals.ended > 100
    assert profile.shares.useful_s > 0
