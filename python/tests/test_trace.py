# SPDX-License-Identifier: BSD-3-Clause
"""Traces: the file format, sound and damaged; clocks put together; exports."""

import csv
import json
import random
import struct
from pathlib import Path

import numpy as np
import pytest

import command
import json_schema
import trace_files
from tailrace.trace import KINDS, RankTrace, RunTrace, read_run
from tailrace.trace import format as trace_format
from tailrace.trace.read import MAX_DRIFT, offsets

SCHEMA = Path(__file__).resolve().parents[2] / "tests" / "data" / "trace" / "trace_event.schema.json"
ROWS = [
    ("main", "setup", 0, 100.0, 101.0, 0, 0, 5_000_000),
    ("main", "compute", 1, 101.0, 103.0, 0, 0, 0),
    ("main", "exchange", 1, 101.5, 102.0, 0, 0, 0),
    ("main", "pack", 1, 103.0, 103.25, 4096, 1, 7_000_000),
    ("writer", "write", 1, 103.25, 104.0, 4096, 1, 0),
    ("writer", "sync", 1, 104.0, 104.5, 0, 1, 0),
]
SIZE = trace_format.STORED[0].itemsize


def path_of(directory: Path, rank: int = 0) -> Path:
    return directory / "trace" / f"rank-{rank:05}.trace"


def write_one(directory: Path, rank: int = 0, rows=ROWS, **more) -> Path:
    trace_files.write(path_of(directory, rank), rank, ["main", "writer"], rows, **more)
    return path_of(directory, rank)


def read_one(directory: Path) -> tuple[RankTrace, list[str]]:
    run = read_run(directory)
    assert len(run.ranks) == 1
    return run.ranks[0], run.problems


def test_sizes_are_those_of_the_format():
    assert trace_format.HEADER.size == 296
    assert trace_format.BLOCK.size == 24
    assert [dtype.itemsize for dtype in trace_format.STORED] == [48, 56, 64, 72, 80]


def test_a_sound_file(tmp_path):
    write_one(tmp_path, rank=3, ranks=8, clock=[(99.0, 0.0, 0.0, 100.0), (105.0, 0.0, 0.0, 100.0)])
    rank, problems = read_one(tmp_path)
    assert not problems
    assert (rank.rank, rank.role, rank.host) == (3, "compute", "node-a")
    assert rank.threads == ["main", "writer"] and rank.lost == 0
    assert (rank.clock_offset_s, rank.clock_error_s) == (0, 0)
    assert rank.events["start_s"].tolist() == [0, 1, 1.5, 3, 3.25, 4]
    assert [KINDS[kind] for kind in rank.events["kind"]] == [row[1] for row in ROWS]
    assert rank.events["memory_bytes"].tolist() == [5_000_000, 0, 0, 7_000_000, 0, 0]
    assert rank.events["buffers"].tolist() == [0, 0, 0, 1, 1, 1]
    assert rank.select("writer")["bytes"].tolist() == [4096, 0]
    assert rank.select(None, "sync", "write")["step"].tolist() == [1, 1]
    assert len(rank.select("nobody")) == 0


def test_counters_and_roles(tmp_path):
    rows = [("main", "compute", 1, 0.0, 1.0, 0, 0, 0, (5, 6))]
    write_one(tmp_path, rows=rows, counters=["PAPI_TOT_CYC", "PAPI_TOT_INS"], role=1)
    rank, problems = read_one(tmp_path)
    assert not problems and rank.role == "writer"
    assert rank.counters == ("PAPI_TOT_CYC", "PAPI_TOT_INS")
    assert rank.events["counters"].tolist() == [[5, 6, 0, 0]]


def test_a_directory_without_traces(tmp_path):
    run = read_run(tmp_path)
    assert (run.ranks, run.problems, run.clock_error_s, run.last_s) == ([], [], 0.0, 0.0)
    (tmp_path / "trace").mkdir()
    for name in ("rank-x.trace", "rank-00001.csv", "rank-²3.trace"):
        (tmp_path / "trace" / name).write_bytes(b"")
    assert read_run(tmp_path) == RunTrace()


def test_only_the_ranks_asked_for_are_read(tmp_path):
    for rank in range(5):
        write_one(tmp_path, rank)
    path_of(tmp_path, 1).write_bytes(b"")
    run = read_run(tmp_path, [4, 2])
    assert [rank.rank for rank in run.ranks] == [2, 4] and not run.problems


# --- damaged files


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is empty"),
        (b"thread,kind,step,start_s,end_s,bytes\n", "it is no trace of Tailrace"),
        (bytes(4096), "it is no trace of Tailrace"),
        (b"TRLT", "it ends within its header"),
        (trace_files.header(0)[:-1], "it ends within its header"),
    ],
)
def test_files_that_are_no_traces(tmp_path, data, words):
    write_one(tmp_path, 1)
    path_of(tmp_path).write_bytes(data)
    run = read_run(tmp_path)
    assert [rank.rank for rank in run.ranks] == [1]
    assert run.problems == [f"rank-00000.trace: {words}"]


def test_a_file_of_a_later_version(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(trace_format, "VERSION", 2)
        write_one(tmp_path)
    run = read_run(tmp_path)
    assert not run.ranks and "has version 2 of the format, this program reads version 1" in run.problems[0]


def test_a_file_that_cannot_be_read(tmp_path):
    path_of(tmp_path).mkdir(parents=True)
    run = read_run(tmp_path)
    assert not run.ranks and "rank-00000.trace: " in run.problems[0]


def test_cut_anywhere_all_complete_events_are_read(tmp_path):
    path = write_one(tmp_path, ended=False)
    data = path.read_bytes()
    blocks = [data.find(b"TRBK", start) for start in range(len(data)) if data[start : start + 4] == b"TRBK"]
    first, second = blocks[3:5]  # after the names of two threads and the clock
    for size in range(trace_format.HEADER.size, len(data)):
        path.write_bytes(data[:size])
        rank, problems = read_one(tmp_path)
        complete = [
            (min(size, end) - start - trace_format.BLOCK.size) // SIZE
            for start, end in ((first, second), (second, len(data)))
        ]
        assert len(rank.events) == sum(max(0, count) for count in complete), size
        assert any("it has no end: the program was killed, or is still running" in text for text in problems)
        assert not any("damaged" in text for text in problems)


def test_damage_in_the_middle_costs_one_block(tmp_path):
    path = write_one(tmp_path)
    data = bytearray(path.read_bytes())
    place = data.find(struct.pack("<d", 101.5))
    data[place] ^= 1
    path.write_bytes(data)
    rank, problems = read_one(tmp_path)
    assert [KINDS[kind] for kind in rank.events["kind"]] == ["write", "sync"]
    assert problems == ["rank-00000.trace: damaged in 1 places: what was recorded there is left out"]


def test_a_damaged_header_costs_only_what_it_tells(tmp_path):
    path = write_one(tmp_path)
    data = bytearray(path.read_bytes())
    data[40] ^= 255
    path.write_bytes(data)
    rank, problems = read_one(tmp_path)
    assert len(rank.events) == len(ROWS) and rank.host == ""
    assert "the header is damaged" in problems[0]


def test_lost_events_are_told(tmp_path):
    path = write_one(tmp_path, ended=False)
    more = trace_files.events_block([(0, "compute", 9, 200.0, 201.0, 0)], lost=12)
    path.write_bytes(path.read_bytes() + more + trace_files.block(trace_format.END, b"", lost=3))
    rank, problems = read_one(tmp_path)
    assert rank.lost == 15 and len(rank.events) == len(ROWS) + 1
    assert problems == ["rank-00000.trace: 15 events were lost: they came too fast, or the file was full"]


def test_events_that_cannot_be_are_left_out(tmp_path):
    path = write_one(tmp_path, ended=False)
    odd = np.zeros(6, trace_format.STORED[0])
    odd["kind"] = KINDS.index("compute")
    odd["start_s"] = [1, np.nan, -np.inf, 1, 1, 1]
    odd["end_s"] = [0, 1, 1, np.inf, 1e300, 2]
    odd["kind"][5] = len(KINDS)
    block = trace_files.block(trace_format.EVENTS, odd.tobytes(), event_bytes=SIZE)
    unknown = trace_files.block(77, b"of a later version")
    path.write_bytes(path.read_bytes() + block + unknown + trace_files.block(trace_format.END, b""))
    rank, _ = read_one(tmp_path)
    assert len(rank.events) == len(ROWS)


def test_random_damage_never_fails(tmp_path):
    """Bytes changed, cut out, doubled: the reader answers, with times that are numbers."""
    path = write_one(tmp_path, clock=[(99.0, 2.0, 1e-5, 100.0), (105.0, 2.0, 1e-5, 100.0)])
    sound = path.read_bytes()
    chance = random.Random(4)
    for number in range(4000):
        data = bytearray(sound)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(data)) if data else 0
            match chance.randrange(4):
                case 0:
                    data[place : place + 1] = bytes([chance.randrange(256)])
                case 1:
                    del data[place : place + chance.randrange(1, 100)]
                case 2:
                    data[place:place] = data[place : place + chance.randrange(1, 100)]
                case 3:
                    data[place : place + 4] = struct.pack("<I", chance.choice([0, 1, 2**31, 2**32 - 1]))
        path.write_bytes(data)
        run = read_run(tmp_path)
        for rank in run.ranks:
            assert np.isfinite(rank.events["start_s"]).all(), number
            assert (rank.events["end_s"] >= rank.events["start_s"]).all(), number
            assert (rank.events["thread"] < len(rank.threads)).all(), number
        if len(run.ranks) == 0 or len(run.ranks[0].events) < len(ROWS):
            assert run.problems, number


# --- clocks


def points(*rows) -> list[trace_format.ClockPoint]:
    return [trace_format.ClockPoint(*row, 0.0) for row in rows]


def test_offsets_between_two_points_follow_the_drift():
    offset, error = offsets(points((10.0, 5.0, 1e-6), (20.0, 5.001, 3e-6)), np.array([10.0, 15.0, 20.0]))
    assert offset.tolist() == pytest.approx([5.0, 5.0005, 5.001], abs=1e-12)
    assert error.tolist() == [3e-6] * 3


def test_offsets_outside_resume_with_a_growing_error():
    known = points((10.0, 5.0, 1e-6), (20.0, 5.001, 1e-6))
    offset, error = offsets(known, np.array([0.0, 30.0]))
    assert offset.tolist() == pytest.approx([4.999, 5.002], abs=1e-12)
    assert error.tolist() == pytest.approx([3e-6, 3e-6])
    # Too close together to show a drift: the offset stays, and the doubt grows with the largest drift.
    known = points((10.0, 5.0, 1e-3), (10.1, 5.001, 1e-3))
    offset, error = offsets(known, np.array([0.0, 20.1]))
    assert offset.tolist() == pytest.approx([5.0, 5.001])
    assert error.tolist() == pytest.approx([1e-3 + 10 * MAX_DRIFT] * 2)


def test_offsets_of_a_killed_run_know_one_point():
    offset, error = offsets(points((10.0, 5.0, 1e-6)), np.array([5.0, 110.0]))
    assert offset.tolist() == [5.0, 5.0]
    assert error.tolist() == pytest.approx([1e-6 + 5 * MAX_DRIFT, 1e-6 + 100 * MAX_DRIFT])


def test_the_same_clock_has_no_error():
    offset, error = offsets(points((10.0, 0.0, 0.0)), np.array([0.0, 1e6]))
    assert not offset.any() and not error.any()


def test_ranks_are_put_on_one_clock(tmp_path):
    for rank, (host, ahead, error) in enumerate(
        [("a", 0.0, 0.0), ("a", 0.0, 0.0), ("b", 7.0, 1e-5), ("b", 7.0, 1e-5), ("c", -3.0, 4e-5)]
    ):
        rows = [(0, "compute", 1, 100.0 + ahead, 101.0 + ahead, 0)]
        clock = [(time + ahead, -ahead, error, 90.0) for time in (99.0, 200.0)]
        write_one(tmp_path, rank, rows, clock=clock, host=host)
    run = read_run(tmp_path)
    assert [rank.events["start_s"][0] for rank in run.ranks] == [10.0] * 5
    assert [rank.clock_error_s for rank in run.ranks] == [0, 0, 1e-5, 1e-5, 4e-5]
    assert run.clock_error_s == pytest.approx(5e-5)  # between b and c, the two worst
    assert [rank.clock_offset_s for rank in run.ranks] == [0, 0, -7, -7, 3]


def test_a_clock_that_was_never_compared_is_told(tmp_path):
    write_one(tmp_path, clock=[])
    rank, problems = read_one(tmp_path)
    assert rank.events["start_s"][0] == 0
    assert problems == ["rank-00000.trace: its clock was never compared with rank 0's"]


# --- exports


def export(directory: Path, *options: str) -> command.Answer:
    return command.tailrace("trace", "export", directory, *options)


def run_with_two_ranks(directory: Path) -> None:
    for rank in range(2):
        rows = [(*row[:3], row[3] + rank, row[4] + rank, *row[5:]) for row in ROWS]
        write_one(directory, rank, rows, ranks=2, clock=[(99.0, 0.0, 0.0, 100.0)])


def test_perfetto_export_fits_its_schema(tmp_path):
    run_with_two_ranks(tmp_path)
    done = export(tmp_path)
    assert done.status == 0, done
    document = json.loads((tmp_path / "trace.json").read_text())
    schema = json.loads(SCHEMA.read_text())
    assert json_schema.problems(document, schema) == []
    events = document["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert [(event["pid"], event["tid"], event["name"]) for event in spans[:6]] == [
        (0, 0, "setup"),
        (0, 0, "compute"),
        (0, 0, "exchange"),
        (0, 0, "pack"),
        (0, 1, "write"),
        (0, 1, "sync"),
    ]
    assert (spans[1]["ts"], spans[1]["dur"]) == (1e6, 2e6)  # microseconds
    assert spans[7]["ts"] == 2e6 and spans[7]["pid"] == 1
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    assert names == {
        (rank, thread): name for rank in (0, 1) for thread, name in enumerate(["main", "writer"])
    }
    memory = [event for event in events if event["name"] == "resident memory" and event["pid"] == 0]
    assert [(event["ts"], event["args"]["bytes"]) for event in memory] == [
        (1e6, 5_000_000),
        (3.25e6, 7_000_000),
    ]
    buffers = [event["args"]["buffers"] for event in events if event["name"] == "staging buffers"]
    assert buffers == [0, 1, 0, 1]


def test_the_schema_refuses_what_is_no_trace_event():
    schema = json.loads(SCHEMA.read_text())
    good = {"name": "a", "cat": "b", "ph": "X", "ts": 1, "dur": 2, "pid": 0, "tid": 0}
    assert not json_schema.problems({"traceEvents": [good]}, schema)
    for change in ({"dur": -1}, {"ph": "B"}, {"ts": "1"}, {"pid": -1}, {"extra": 1}, {"name": ""}):
        assert json_schema.problems({"traceEvents": [good | change]}, schema), change
    for name in ("name", "ts", "dur", "pid"):
        assert json_schema.problems({"traceEvents": [{k: v for k, v in good.items() if k != name}]}, schema)
    assert json_schema.problems({}, schema) and json_schema.problems([], schema)


def test_spans_within_others_stay_within_them(tmp_path):
    chance = random.Random(1)
    rows = []
    for step in range(200):
        start, length = step + chance.random() / 3, chance.random() / 3
        inner = sorted(start + length * chance.random() for _ in range(2))
        rows += [(0, "compute", step, start, start + length, 0), (0, "exchange", step, *inner, 0)]
    write_one(tmp_path, rows=rows)
    assert export(tmp_path, "-o", str(tmp_path / "out.json")).status == 0
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    spans = {(e["name"], e["args"]["step"]): (e["ts"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X"}
    for step in range(200):
        outer, inner = spans["compute", step], spans["exchange", step]
        assert outer[0] <= inner[0] and inner[1] <= outer[1] + 1e-6


def test_csv_export(tmp_path):
    run_with_two_ranks(tmp_path)
    assert export(tmp_path, "--format", "csv").status == 0
    with (tmp_path / "trace.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12
    assert rows[3] == {
        "rank": "0",
        "thread": "main",
        "kind": "pack",
        "step": "1",
        "start_s": "3.000000000",
        "end_s": "3.250000000",
        "bytes": "4096",
        "buffers": "1",
        "memory_bytes": "7000000",
    }
    assert rows[1]["memory_bytes"] == ""


def test_export_tells_what_is_missing(tmp_path):
    done = export(tmp_path)
    assert done.status == 2 and "no trace of a run is there. Fix: " in done.err
    path = write_one(tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    done = export(tmp_path)
    assert done.status == 0 and "rank-00000.trace: it has no end" in done.err
    assert export(tmp_path, "-o", "/nowhere/x.json").status == 2
    assert export(tmp_path, "--format", "png").status == 2
