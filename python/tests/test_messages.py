# SPDX-License-Identifier: BSD-3-Clause
"""Sizes, classes, shares and balance of messages, from counts written by hand."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from command import tailrace
from tailrace.console import CommandError
from tailrace.messages.balance import differences, matrix, over_time
from tailrace.messages.classes import largest_size, parse_classes, rate_of, shares
from tailrace.messages.counts import GROUPS, Sizes, Total, read_profile
from tailrace.messages.pairs import pairs_text, profile_text, read_pairs
from tailrace.messages.preload import clear

# A run of a Poisson solver on a two-dimensional grid: classes and shares as a thesis prints them. It does
# not print the counts: these are some with the same shares.
THESIS_CLASSES = "32-40,69-80,96-652,41685-43288"
THESIS_PAIRS = "300:32 4170:40 1950:69 1770:77 484:96 1076:652 40:41685 210:43288"
THESIS = [("32-40", 44.7, 1.5), ("69-80", 37.2, 2.3), ("96-652", 15.6, 6.3), ("41685-43288", 2.5, 90.0)]


def counts(rank: int, ranks: int, **groups: list[tuple[int, int, int]]) -> dict:
    """A file of the profiler: of each group peer, messages, size."""
    kinds, peers = [], []
    for group, entries in groups.items():
        sizes = Counter()
        for peer, messages, size in entries:
            sizes[size] += messages
            peers.append([group, group, peer, messages, messages * size])
        total = {"messages": sizes.total(), "bytes": sum(size * n for size, n in sizes.items())}
        kinds.append({"group": group, "kind": group, **total, "sizes": list(sizes.items()), "classes": []})
    return {
        "format": "tailrace-messages", "format_version": 1, "rank": rank, "ranks": ranks, "host": "node",
        "mpi": "Open MPI", "complete": True, "elapsed_s": 1.0, "max_sizes": 4096, "unseen_receives": 0,
        "kinds": kinds, "peers": peers, "peers_left_out": [0, 0],
        "time": bins(0.01, [1, 8]),
    }  # fmt: skip


def bins(width: float, *counted: list[int]) -> dict:
    return {"bin_s": width} | {group: list(counted) for group in GROUPS}


def write(directory: Path, *tables: dict) -> Path:
    for table in tables:
        (directory / f"rank-{table['rank']:05}.json").write_text(json.dumps(table))
    return directory


def test_the_table_of_the_thesis_comes_from_its_line_of_pairs():
    sizes = read_pairs(THESIS_PAIRS, "line")
    assert sizes.total.messages == 10_000
    found = shares(sizes, parse_classes(THESIS_CLASSES, 0))
    rounded = [(one.label, round(100 * one.by_count, 1), round(100 * one.by_volume, 1)) for one in found]
    assert rounded == THESIS


def test_pairs_are_written_as_they_are_read():
    assert pairs_text(read_pairs("3:8 1:0  # two sizes\n2:8,5:16", "text")) == "1:0 5:8 5:16"
    with pytest.raises(CommandError, match="text:2: 'x' is no pair"):
        read_pairs("1:2\nx", "text")
    coarse = Sizes(Counter({4: 2}), [(4096, 8191, 3, 15000)])
    assert pairs_text(coarse) == "2:4 3:5000"


def test_shares_by_time_take_measured_rates():
    rates = [(1, 1e6), (100, 1e4)]
    assert rate_of(10, rates) == pytest.approx(1e5)  # in the middle of both logarithms
    assert rate_of(0, rates) == pytest.approx(1e6) and rate_of(1000, rates) == pytest.approx(1e4)
    found = shares(read_pairs("10:1 1:100", "x"), parse_classes("1,100", 0), rates)
    assert [one.by_time for one in found] == pytest.approx([1 / 11, 10 / 11])


def test_classes_by_powers_of_two_darshan_and_by_hand():
    sizes = read_pairs("1:0 1:1 1:3 1:4 1:100 1:101", "x")
    powers = shares(sizes, parse_classes("powers", largest_size(sizes)))
    assert [(one.label, one.messages) for one in powers] == [
        ("0", 1), ("1", 1), ("2-3", 1), ("4-7", 1), ("64-127", 2)
    ]  # fmt: skip
    darshan = shares(sizes, parse_classes("darshan", 101))
    assert [(one.label, one.messages) for one in darshan] == [("0-100", 5), ("101-1000", 1)]
    mine = shares(sizes, parse_classes("0-3,100", 0))
    assert [(one.label, one.messages) for one in mine] == [("0-3", 3), ("100", 1), ("other", 2)]
    assert sum(one.by_volume for one in mine) == pytest.approx(1)
    for wrong in ("4-3", "a", "1-5,5-9", ""):
        with pytest.raises(CommandError, match="--classes"):
            parse_classes(wrong, 0)


def test_what_was_not_received_is_named(tmp_path):
    profile = read_profile(
        write(
            tmp_path,
            counts(0, 2, sent=[(1, 3, 8), (0, 1, 4)], received=[(0, 1, 4)]),
            counts(1, 2, received=[(0, 2, 8)]),
        )
    )
    assert differences(profile) == ["rank 0 sent 3 messages (24 B) to rank 1, which received 2 (16 B)"]
    messages, volume, together = matrix(profile, 64)
    assert together == 1
    assert messages.tolist() == [[1, 3], [0, 0]] and volume.tolist() == [[4, 24], [0, 0]]
    assert "# rank-00000, sent\n1:4 3:8\n" in profile_text(profile)


def test_large_matrices_are_folded_and_bins_of_different_widths_added(tmp_path):
    tables = [counts(rank, 5, sent=[((rank + 1) % 5, 1, 8)]) for rank in range(5)]
    tables[4]["time"] = bins(0.04, [2, 16], [1, 8])
    tables[0]["time"] = bins(0.01, *[[1, 8]] * 6)
    profile = read_profile(write(tmp_path, *tables))
    messages, _, together = matrix(profile, 3)
    assert together == 2 and messages.tolist() == [[1, 1, 0], [0, 1, 1], [1, 0, 0]]
    width, counted = over_time(profile, "sent")
    assert width == 0.04 and np.array_equal(counted, [[9, 72], [3, 24]])


def test_missing_and_damaged_files_are_named(tmp_path):
    write(tmp_path, counts(0, 3, sent=[(1, 1, 8)]))
    (tmp_path / "rank-00001.json").write_text('{"format": "tailrace-mess')
    found = read_profile(tmp_path)
    assert len(found.ranks) == 1 and differences(found) == []
    assert "rank-00001.json: damaged" in found.problems[0]
    assert "no counts of rank 1, 2" in found.problems[1]
    wrong = counts(1, 3, sent=[(0, 2, 8)])
    wrong["kinds"][0]["messages"] = 3
    write(tmp_path, wrong)
    assert "do not add up to its 3 messages" in read_profile(tmp_path).problems[0]


def test_the_command_shows_a_line_of_pairs(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text(THESIS_PAIRS)
    (tmp_path / "rates.json").write_text('{"rates": [[1, 1e6], [100000, 1e4]]}')
    answer = tailrace(
        "profile", "messages", "--read", path, "--classes", THESIS_CLASSES, "--rates", tmp_path / "rates.json"
    )
    assert answer.status == 0 and "an estimate of how long senders" in answer.out
    for label, by_count, by_volume in THESIS:
        line = next(line for line in answer.out.splitlines() if line.split()[:1] == [label])
        assert f"{by_count} %" in line and f"{by_volume} %" in line
    answer = tailrace("profile", "messages", "--read", path, "--json")
    assert Total(**{key: json.loads(answer.out)[key] for key in ("messages", "bytes")}).messages == 10_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no program"),
        (["--", "/no/such/program"], "there is no such program"),
        (["--classes", "9-1", "--", "true"], "--classes 9-1"),
        (["--rates", "/no/file", "--", "true"], "--rates /no/file"),
        (["--read", "/no/file"], "/no/file: cannot be read"),
        (["--bind", "up", "--", "true"], "--bind up"),
    ],
)
def test_bad_options_are_named(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = tailrace("profile", "messages", *words)
    assert answer.status == 2 and said in answer.err
    assert not list(tmp_path.iterdir())


def test_a_profile_replaces_nothing_but_a_profile(tmp_path):
    words = ["profile", "messages", "--out", tmp_path, "--", "true"]
    for name in ("rank-list.json", "started-late.json", "notes.partial"):
        (tmp_path / name).write_text("mine")
        answer = tailrace(*words[:4], "--overwrite", *words[4:])
        assert answer.status == 2 and f"{tmp_path}: has {name}, which is of no profile" in answer.err
        assert (tmp_path / name).read_text() == "mine"
        (tmp_path / name).unlink()
    write(tmp_path, counts(0, 1, sent=[(0, 1, 8)]))
    answer = tailrace(*words)
    assert answer.status == 2 and f"{tmp_path} exists already" in answer.err
    assert (tmp_path / "rank-00000.json").exists()


def test_only_files_of_the_profilers_names_are_removed(tmp_path):
    ours = ["rank-00000.json", "rank-123456.json", "started-77-00001.json", "rank-00000.json.partial"]
    others = ["rank-0.json", "rank-list.json", "started-00001.json", "a.partial", "rank-00000.json.old"]
    for name in [*ours, *others]:
        (tmp_path / name).touch()
    clear(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)
