# SPDX-License-Identifier: BSD-3-Clause
"""Records of fragments for Perfetto and as CSV, by the rules of the Trace Event Format."""

import csv
import json
from collections import Counter

import command
from fragment_traces import write
from tailrace.trace import read_run
from tailrace.trace.export import write_csv, write_perfetto
from test_fragment_profile import A, two_ranks  # noqa: F401  (a fixture)


def check(events: list[dict]) -> None:
    """What ui.perfetto.dev wants: numbers, phases with what belongs to them, and pairs that match."""
    tracks: dict[tuple, float] = {}
    opened, flows = {}, {}
    for event in sorted((one for one in events if one["ph"] != "M"), key=lambda one: one["ts"]):
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int)
        assert event["ts"] >= 0 and event["name"] and isinstance(event["args"], dict)
        key = (event["pid"], event["tid"])
        if event["ph"] == "X":
            assert event["dur"] >= 0
            assert event["ts"] >= tracks.get(key, 0.0), "complete events of a thread do not overlap"
            tracks[key] = event["ts"] + event["dur"]
        elif event["ph"] == "b":
            assert opened.setdefault((event["cat"], event["id"]), event) is event
        elif event["ph"] == "e":
            assert opened.pop((event["cat"], event["id"]))["name"] == event["name"]
        elif event["ph"] == "s":
            assert event["id"] not in flows
            flows[event["id"]] = event["ts"]
        elif event["ph"] == "f":
            assert event["bp"] == "e" and flows[event["id"]] <= event["ts"]
        else:
            assert event["ph"] == "C"
    assert not opened


def test_perfetto(two_ranks, tmp_path):  # noqa: F811
    write_perfetto(read_run(two_ranks), tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    check(events)
    assert Counter(one["ph"] for one in events if one["ph"] != "M") == {
        "X": 7,
        "b": 2,
        "e": 2,
        "s": 1,
        "f": 1,
    }
    body = next(one for one in events if one["name"] == "a" and one["ph"] == "X")
    assert (body["ts"], body["dur"], body["args"]) == (2e6, 2e6, {"fragment": f"{A:#x}"})


def test_a_fragment_that_waits_to_the_end(tmp_path):
    from fragment_traces import records_block

    write(tmp_path, 0, [records_block([(0.0, "create", A), (1.0, "wait", A), (3.0, "idle", 0)])])
    write_perfetto(read_run(tmp_path), tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    check(events)
    assert [one["ts"] for one in events if one["ph"] in "be"] == [1e6, 3e6]


def test_csv(two_ranks, tmp_path):  # noqa: F811
    write_csv(read_run(two_ranks), tmp_path / "trace.csv")
    with (tmp_path / "trace_fragments.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(rank.records) for rank in read_run(two_ranks).ranks)
    begun = [row for row in rows if row["event"] == "begin"]
    assert [(row["rank"], row["type"], row["time_s"]) for row in begun] == [
        ("0", "a", "2.000000000"), ("0", "c", "4.250000000"), ("1", "b", "4.500000000")
    ]  # fmt: skip


def test_the_command_names_every_table_that_it_writes(two_ranks):  # noqa: F811
    answer = command.tailrace("trace", "export", two_ranks, "--format", "csv")
    names = [two_ranks / "trace.csv", two_ranks / "trace_fragments.csv"]
    assert answer.status == 0 and answer.out.splitlines() == [str(name) for name in names], answer
    assert all(name.exists() for name in names)
