# SPDX-License-Identifier: BSD-3-Clause
"""Two runs of a program beside each other: the thesis' case of two revisions of a fragment manager."""

from pathlib import Path

import pytest

from fragment_traces import number, records_block, summary_block, type_block, write
from tailrace.fragment_profile.compare import compare
from tailrace.fragment_profile.profile import Profile, read_profile

FRAGMENTS = 600


def revision(path: Path, unfolds_s: float, wall_s: float, at_work: int, waits_s: float) -> Profile:
    """A program that creates fragments evenly for some seconds, each of which waits for a value of 1 kB, and
    whose bodies take 0.03 s on as many workers.
    """
    rows = []
    for count in range(1, FRAGMENTS + 1):
        which, created = number(0, count), unfolds_s * count / FRAGMENTS
        begin = min(max(created + waits_s, wall_s * count / FRAGMENTS), wall_s) - 0.04
        rows += [
            (created, "create", which, 0, 0, 0),
            (created, "wait", which, 0, 1, 0),
            (created, "store", 0, count, 1000),
            (max(begin, created), "resume", which, 0, 0, 0),
            (max(begin, created), "ready", which, 0, 0, 0),
            (max(begin, created), "release", 0, count, 1000),
            (wall_s, "destroy", which, 0, 0, 0),
        ]
    rows.sort(key=lambda row: row[0])
    spent = 0.03 * FRAGMENTS * at_work / 10
    summary = summary_block(
        span=(0.0, wall_s),
        seconds={"useful": spent, "idle": wall_s - spent},
        totals=(FRAGMENTS, FRAGMENTS, FRAGMENTS, 0),
        hops=(FRAGMENTS,),
    )
    write(path, 0, [type_block(0, "cell"), records_block(rows), summary])
    return read_profile(path)


@pytest.fixture
def both(tmp_path):
    """28.38 s with most fragments created in 12 s, and 21.48 s with 5 s."""
    old = revision(tmp_path / "old", 12.0, 28.38, 9, 1.0)
    new = revision(tmp_path / "new", 5.0, 21.48, 9, 1.0)
    return compare(old, new)


def test_the_case_of_the_thesis(both):
    stated = " ".join(both.sentences)
    assert both.sentences[0].startswith("The second run is 1.32 times faster (28.4 s and 21.5 s)")
    assert "It unfolds earlier" in stated
    assert "It has more parallelism" in stated
    assert "It needs more memory" in stated
    rows = {row.name: row for row in both.rows}
    arrival = rows["90 % of the fragments are in the wait stage after"]
    assert (arrival.first, arrival.second) == (pytest.approx(10.8, abs=0.05), pytest.approx(4.5, abs=0.05))
    assert rows["most fragments in the wait stage"].second > rows["most fragments in the wait stage"].first


def test_more_memory_is_said(tmp_path):
    lean, fat = tmp_path / "lean", tmp_path / "fat"
    for path, bytes_each in ((lean, 1000), (fat, 3000)):
        rows = [
            (0.0, "create", 1, 0, 0, 0),
            (1.0, "store", 0, 7, bytes_each),
            (9.0, "release", 0, 7, bytes_each),
        ]
        write(path, 0, [records_block(rows), summary_block(seconds={"useful": 10.0}, totals=(1, 0, 0, 0))])
    stated = " ".join(compare(read_profile(lean), read_profile(fat)).sentences)
    assert "It needs more memory: most live bytes, 1.00 kB before and 3.00 kB now." in stated
    assert "takes as long as the first" in stated


def test_equal_runs_have_one_sentence(tmp_path):
    profile = revision(tmp_path, 5.0, 20.0, 9, 1.0)
    assert len(compare(profile, profile).sentences) == 1
