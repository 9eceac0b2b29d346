# SPDX-License-Identifier: BSD-3-Clause
"""The fragment profiler on traces written by hand, of which every answer is known."""

import numpy as np
import pytest

from fragment_traces import number, records_block, summary_block, type_block, write
from tailrace.fragment_profile.graph import replay
from tailrace.fragment_profile.pictures import curve, density, write_pictures
from tailrace.fragment_profile.profile import NoRecordsError, population, read_profile
from tailrace.fragment_profile.values import live, values_of

MAIN, A, B, C = (number(0, n) for n in (1, 2, 3, 4))
X, Y = 111, 222


ON_ZERO = [
    (0.0, "create", MAIN, 0, 0, 0),
    (0.5, "ready", MAIN, 0, 0, 0),
    (1.0, "unfold", MAIN, 0, 0, 0),
    (1.25, "destroy", MAIN, 0, 0, 0),
    (1.25, "create", A, MAIN, 0, 1),
    (1.25, "create", B, MAIN, 0, 2),
    (1.25, "create", C, MAIN, 0, 3),
    (1.5, "forward", B, 0, 1, 2),
    (1.75, "ready", A, 0, 0, 1),
    (1.875, "wait", C, 0, 1, 3),
    (2.0, "begin", A, 0, 0, 1),
    (4.0, "end", A, 0, 0, 1),
    (4.0, "destroy", A, 0, 0, 1),
    (4.0, "post", A, X, 800, 1),
    (4.0, "store", 0, X, 800),
    (4.0, "data_arrived", C, X, 800, 3),
    (4.0, "resume", C, 0, 0, 3),
    (4.0, "deliver", 0, X, 1),
    (4.125, "ready", C, 0, 0, 3),
    (4.25, "begin", C, 0, 0, 3),
    (5.25, "end", C, 0, 0, 3),
    (5.25, "destroy", C, 0, 0, 3),
    (5.25, "idle", 0),
    (8.0, "release", 0, X, 800),
    (9.75, "busy", 0),
]
ON_ONE = [
    (0.25, "idle", 0),
    (2.0, "busy", 0),
    (2.0, "arrive", B, 0, 0, 2),
    (2.125, "request", B, X, 0, 2),
    (2.25, "wait", B, 0, 1, 2),
    (2.25, "idle", 0),
    (4.25, "busy", 0),
    (4.25, "data_arrived", B, X, 800, 2),
    (4.25, "resume", B, 0, 0, 2),
    (4.375, "ready", B, 0, 0, 2),
    (4.5, "begin", B, 0, 0, 2),
    (7.5, "end", B, 0, 0, 2),
    (7.5, "destroy", B, 0, 1, 2),
    (7.5, "post", B, Y, 16, 2),
    (7.5, "store", 0, Y, 16),
    (7.5, "idle", 0),
    (10.0, "busy", 0),
]


@pytest.fixture
def two_ranks(tmp_path):
    """`main` on rank 0 unfolds at 1 and creates a, b and c. a runs on rank 0 from 2 to 4 and writes x, for
    which b on rank 1, and c on rank 0, wait. b goes to rank 1 in 0.5 s, gets x 0.25 s after it was written,
    and runs from 4.5 to 7.5. c runs from 4.25 to 5.25.
    """
    types = [type_block(0, "main", "call"), type_block(1, "a"), type_block(2, "b"), type_block(3, "c")]
    of_zero = {"useful": 3.0, "idle": 4.5, "unfolding": 0.5, "dependencies": 1.5, "distribution": 0.5}
    of_one = {"useful": 3.0, "idle": 6.25, "messages": 0.75}
    write(
        tmp_path, 0,
        [*types, records_block(ON_ZERO), summary_block(seconds=of_zero, totals=(4, 3, 1, 1), hops=(3,),
         counts={"begin": 2, "store": 1, "release": 1}, stored=(800, 800))],
        ranks=2,
    )  # fmt: skip
    write(
        tmp_path, 1,
        [*types, records_block(ON_ONE), summary_block(seconds=of_one, totals=(0, 1, 1, 0), hops=(0, 1),
         counts={"begin": 1, "store": 1}, stored=(16, 0), left=(1, 16))],
        ranks=2,
    )  # fmt: skip
    return tmp_path


def test_totals_have_the_form_of_the_thesis(two_ranks):
    profile = read_profile(two_ranks)
    assert profile.totals.text() == "Total cf: 4\nDistribs: [3, 1]\nWait df : 2"
    assert profile.errors == []
    assert profile.recorded.problems == []


def test_stays_in_stages(two_ranks):
    profile = read_profile(two_ranks)
    stays = profile.recorded.stays
    lengths = [
        np.sort((one := stays[stays["stage"] == n])["end_s"] - one["start_s"]).tolist() for n in range(3)
    ]
    assert lengths == [[0.5], [2.0, 2.125], [0.125, 0.125, 0.25, 0.5]]
    distribution, wait, ready = profile.stages
    assert (distribution.count, distribution.longest_s, distribution.uncertain) == (1, 0.5, 0)
    assert (wait.max_at_once, wait.total_s) == (2, 4.125)
    assert (ready.count, ready.max_at_once) == (4, 1)


def test_population_and_density_add_up(two_ranks):
    recorded = read_profile(two_ranks).recorded
    waits = recorded.stays[recorded.stays["stage"] == 1]
    times, count = population(waits)
    assert times.tolist() == [1.875, 2.25, 4.0, 4.25]
    assert count.tolist() == [1, 2, 1, 0]
    at, most = curve(waits, (0.0, 10.0))
    assert most[np.searchsorted(at, 3.0)] == 2
    assert most[np.searchsorted(at, 4.1)] == 1
    assert most[np.searchsorted(at, 6.0)] == 0
    assert density(waits, (0.0, 10.0))[2].sum() == 2


def test_shares_of_threads_and_efficiencies(two_ranks):
    shares = read_profile(two_ranks).shares
    found = [(one.rank, one.useful_s, one.idle_s, one.all_overhead_s) for one in shares.threads]
    assert np.array(found) == pytest.approx(np.array([(0, 3.0, 4.5, 2.5), (1, 3.0, 6.25, 0.75)]))
    found = shares.efficiencies()
    assert found["parallel"] == pytest.approx(0.3)
    assert found["load_balance"] == pytest.approx(1.0)
    assert found["communication"] == pytest.approx(0.3)
    assert found["transfer"] * found["serialisation"] == pytest.approx(found["communication"])
    assert shares.bodies == 3
    assert shares.granularity_s == pytest.approx(2.0, rel=1e-12)
    assert shares.overhead_per_fragment_s == pytest.approx(3.25 / 4, rel=1e-12)


def test_critical_path(two_ranks):
    """a, x to rank 1, b."""
    profile = read_profile(two_ranks)
    path, names = profile.path, profile.recorded.type_names()
    assert path.length_s == 2.0 + 0.25 + 3.0
    assert path.transfer_s == 0.25
    assert {names[one]: found for one, found in path.by_type.items()} == {
        "b": (1, 3.0), "a": (1, 2.0), "main": (1, 0.0)
    }  # fmt: skip


def test_what_if(two_ranks):
    """On rank 0: a after 2 s of overhead, c 0.25 s later; on rank 1: b after 0.5 s of overhead."""
    profile = read_profile(two_ranks)
    found = profile.what_if
    assert found.measured_s == 7.5
    assert found.as_it_was_s == 2.0 + 2.0 + 0.25 + 3.0  # b is ready at 4.25, and its rank has been for long
    assert found.error == pytest.approx(7.25 / 7.5 - 1)
    assert found.cases == {
        "infinite workers": 2.0 + 0.25 + 3.0,
        "zero latency": 2.0 + 2.0 + 3.0,
        "no overhead": 2.0 + 0.25 + 3.0,
        "b twice as fast": 2.0 + 2.0 + 0.25 + 1.5,
        "a twice as fast": 2.0 + 1.0 + 0.25 + 3.0,
        "c twice as fast": 2.0 + 2.0 + 0.25 + 3.0,
    }
    assert replay(profile.graph, transfer=2.0) == 2.0 + 2.0 + 0.5 + 3.0


def test_values(two_ranks):
    profile = read_profile(two_ranks)
    found = profile.values
    assert (found.written, found.bytes, found.peak_count, found.peak_bytes) == (2, 816, 2, 816)
    assert (found.live_at_end, found.live_bytes_at_end) == (1, 16)
    assert found.latency_s.tolist() == [4.25 - 2.125]
    assert found.kept_s.tolist() == [8.0 - 4.25]
    assert sorted(found.transfers.tolist()) == [0, 1]
    times, count, size = live(profile.recorded)
    assert (times.tolist(), count.tolist(), size.tolist()) == ([4.0, 7.5, 8.0], [1, 2, 1], [800, 816, 16])


def test_a_value_that_its_home_gave_away_for_the_last_use_was_not_kept(two_ranks):
    recorded = read_profile(two_ranks).recorded
    recorded.values["last_use_s"][np.isfinite(recorded.values["released_s"])] = 8.5
    assert values_of(recorded).kept_s.tolist() == [0.0]


def test_a_wrong_count_is_an_error_that_names_the_rank(two_ranks):
    write(two_ranks, 1, [summary_block(totals=(0, 2, 1, 0), hops=(0, 1))], ranks=2)
    errors = read_profile(two_ranks).errors
    assert any("rank 1: Distribs add up to 1, 2 are over" in error for error in errors)
    assert any("rank 1" in error and "wall time" in error for error in errors)


def test_clock_error_is_said_and_moves_no_interval_of_one_rank(two_ranks):
    """Rank 1's clock is 100 s ahead, and known to 1 s only."""
    before = read_profile(two_ranks)
    path = two_ranks / "trace" / "rank-00001.trace"
    assert path.read_bytes()
    stays = before.recorded.stays
    lengths = stays["end_s"] - stays["start_s"]
    types = [type_block(0, "main", "call"), type_block(1, "a"), type_block(2, "b"), type_block(3, "c")]
    rows = [
        (102.0, "arrive", B, 0, 0, 2), (102.25, "wait", B, 0, 1, 2), (104.25, "data_arrived", B, X, 800, 2),
        (104.25, "resume", B, 0, 0, 2), (104.375, "ready", B, 0, 0, 2), (104.5, "begin", B, 0, 0, 2),
        (107.5, "end", B, 0, 0, 2), (107.5, "destroy", B, 0, 1, 2),
    ]  # fmt: skip
    clock = (100.0, -100.0, 1.0, 0.0)
    totals = {"totals": (0, 1, 1, 0), "hops": (0, 1), "counts": {"begin": 1}}
    summary = summary_block(span=(100.0, 110.0), seconds={"useful": 3.0, "idle": 7.0}, **totals)
    blocks = [*types, records_block(rows), summary]
    write(two_ranks, 1, blocks, ranks=2, clock=clock, host="node-b")
    after = read_profile(two_ranks)
    assert after.recorded.clock_error_s >= 1.0
    assert after.stages[0].uncertain == 1
    moved = after.recorded.stays["end_s"] - after.recorded.stays["start_s"]
    assert np.abs(np.sort(moved) - np.sort(lengths)).max() <= after.recorded.clock_error_s


def test_damage_is_named(tmp_path):
    rows = [
        (0.0, "create", MAIN), (0.0, "create", A, MAIN), (1.0, "create", A, MAIN),
        (2.0, "begin", B), (3.0, "end", B), (5.0, "begin", A), (4.0, "end", A),
    ]  # fmt: skip
    write(tmp_path, 0, [records_block(rows)])
    problems = read_profile(tmp_path).recorded.problems
    assert any("rank 0, record" in one and "was created twice" in one for one in problems)
    assert any("was never created" in one for one in problems)
    assert any("ends before it begins" in one for one in problems)


def test_a_summary_alone_has_totals_and_shares(tmp_path):
    seconds = {"useful": 6.0, "idle": 3.0, "messages": 1.0}
    write(tmp_path, 0, [summary_block(seconds=seconds, full_until=0.0, totals=(9, 9, 4, 0), hops=(9,))])
    profile = read_profile(tmp_path)
    assert profile.totals.text() == "Total cf: 9\nDistribs: [9]\nWait df : 4"
    assert profile.shares.efficiencies()["parallel"] == pytest.approx(0.6)
    assert profile.errors == []
    assert profile.path is None


def test_a_run_without_fragments(tmp_path):
    write(tmp_path, 0, [summary_block(seconds={"idle": 10.0})])
    profile = read_profile(tmp_path)
    assert profile.totals.text() == "Total cf: 0\nDistribs: [0]\nWait df : 0"
    assert profile.as_dict()["errors"] == []
    with pytest.raises(NoRecordsError):
        read_profile(tmp_path / "nothing")


def test_pictures(two_ranks, tmp_path):
    names = {path.name for path in write_pictures(read_profile(two_ranks).recorded, tmp_path / "info")}
    assert {"wait_df_time.svg", "wait_df_count.png", "wait_wtp_time.png", "wait_wtp_count.svg"} <= names
    assert all((tmp_path / "info" / name).stat().st_size > 1000 for name in names)
