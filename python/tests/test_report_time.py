# SPDX-License-Identifier: BSD-3-Clause
"""The report on time and output: imitated runs with planted troubles, of which each must be named."""

import base64
import json
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

import packed_parts
import rehearsals
import trace_files
from tailrace.report import intervals, load, time_figures, timeline, write_report
from tailrace.report.advice import advise
from tailrace.report.balance import slow_ranks
from tailrace.report.lanes import flatten
from tailrace.report.load import load_run
from tailrace.report.writers import ranks_text
from tailrace.trace import EVENT, KINDS
from tailrace.units import si_scale

HEALTHY = {"rate": 1e9}
SLOW_DEVICE = {"rate": 6e7}
OVERLOADED = {"ranks": 8, "group": 4, "rate": 4e8, "share": dict.fromkeys(range(4), 3.0)}
SLOW_RANK = {"slow": {2: 1.8}}
SLOW_WRITER = {"slow_writers": {1: 5e7}, "rate": 4e8, "ranks_per_host": 1}
BURSTS = {"every": 10, "burst": 4, "rate": 4e7}


def imitated(tmp_path, **wanted):
    return load_run(rehearsals.write_run(tmp_path / "run", **wanted))


def reported(run):
    """Advice that is no praise, as one text."""
    return " ".join(f"{one.text} {one.evidence}" for one in advise(run) if one.level != "good")


class Parts(HTMLParser):
    """Data of the page's scripts by id, and the words outside of them."""

    def __init__(self, text):
        super().__init__()
        self.data, self.words, self._inside = {}, "", None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self._inside = (tag, dict(attributes).get("id"))

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        tag, name = self._inside or ("", None)
        if tag == "script" and name:
            self.data[name] = packed_parts.unpacked(data) if name.endswith("-data") else json.loads(data)
        elif tag not in ("script", "style"):
            self.words += data


def page_of(run):
    return Parts(write_report(run.directory).read_text())


def picture(page, words):
    """The figure whose axis has these words."""
    return next(one for one in page.data.values() if words in json.dumps(one.get("layout", {})))


# --- what was planted is named, and nothing else


def test_a_healthy_run_gets_praise_only(tmp_path):
    run = imitated(tmp_path, **HEALTHY)
    assert [one.level for one in advise(run)] == ["good"]
    assert {reason.kind for reason in run.analysis.reasons} <= {"final"}
    assert "1.15" not in page_of(run).words


def test_a_slow_device(tmp_path):
    run = imitated(tmp_path, **SLOW_DEVICE)
    assert run.analysis.reasons[0].kind == "device"
    assert run.analysis.reasons[0].seconds == pytest.approx(
        sum(run.column("output_wait_s")) - sum(one.seconds for one in run.analysis.reasons[1:])
    )
    text = reported(run)
    assert "device is too slow" in text and "60.0 MB/s" in text and "busy 100 %" in text
    assert "overloaded" not in text and "is slow, and all others" not in text
    page = page_of(run)
    assert picture(page, "all ranks together")["data"][0]["y"][-1] == "slow device"
    assert "slow device: no buffer was free" in page.words


def test_an_overloaded_leader(tmp_path):
    run = imitated(tmp_path, **OVERLOADED)
    assert run.analysis.reasons[0].kind == "leader"
    assert set(run.analysis.reasons[0].by_rank) <= {0, 1, 2, 3}
    text = reported(run)
    assert "writer of rank 0 is overloaded" in text and "ranks 0 to 3" in text and "leaders:2" in text
    assert "device is too slow" not in text and "is slow, and all others" not in text
    bars = picture(page_of(run), "share of the time between first and last output")
    assert bars["data"][0]["y"] == ["rank 0 for ranks 0 to 3", "rank 4 for ranks 4 to 7"]
    busy = np.sum([one["x"] for one in bars["data"]], axis=0)
    assert busy[0] > 95 and busy[1] < 40


def test_the_others_wait_in_exchanges_for_ranks_that_wait_for_output(tmp_path):
    run = imitated(tmp_path, **OVERLOADED)
    blame = run.analysis.blame
    assert blame.output_s > 0.9 * blame.seconds > 0.8 * blame.exchange_s
    assert "had waited for output" in page_of(run).words


def test_one_slow_rank(tmp_path):
    run = imitated(tmp_path, **SLOW_RANK)
    text = reported(run)
    assert "Rank 2 is slow" in text and "1.80 times" in text and "other programs" in text
    assert "device" not in text and "overloaded" not in text
    assert max(run.analysis.blame.by_rank, key=run.analysis.blame.by_rank.get) == 2
    assert run.analysis.blame.seconds == pytest.approx(60 * 3 * 0.8 * 0.03, rel=1e-3)
    page = page_of(run)
    assert "% of it for rank 2" in page.words
    assert picture(page, "rank 2: 1.8 times the median")


def test_a_slow_rank_with_more_points(tmp_path):
    run = imitated(tmp_path, **SLOW_RANK)
    run.per_rank[2]["cells"] = 1800
    assert "1.80 times as many grid points" in reported(run)


def test_a_slow_node(tmp_path):
    run = imitated(tmp_path, ranks=8, slow={6: 1.5, 7: 1.5}, ranks_per_host=2)
    assert "Ranks 6 and 7 are slow" in reported(run) and "all ranks on node-3" in reported(run)


def test_one_slow_writer(tmp_path):
    run = imitated(tmp_path, **SLOW_WRITER)
    assert run.analysis.reasons[0].kind == "slow_writer"
    assert "writer of rank 1 on node-1 writes more slowly" in reported(run)


def test_bursts_ask_for_buffers(tmp_path):
    run = imitated(tmp_path, **BURSTS)
    assert run.analysis.reasons[0].kind == "burst"
    assert "--write threads:4" in reported(run) and "device is too slow" not in reported(run)


def test_blocking(tmp_path):
    run = imitated(tmp_path, blocking=True, rate=1.5e8)
    assert [reason.kind for reason in run.analysis.reasons] == ["blocking"]
    assert "--write threads" in reported(run)


def test_processes_that_only_write(tmp_path):
    run = imitated(tmp_path, ranks=6, dedicated=2, rate=1.2e8)
    assert [writer.members for writer in run.analysis.writers] == [[0, 1, 2], [3, 4, 5]]
    assert {writer.name for writer in run.analysis.writers} == {"writer process 6", "writer process 7"}
    assert run.analysis.reasons[0].kind == "device"
    rows = timeline.build(run.analysis, 0.0).rows
    assert [row.name for row in rows[3:5]] == ["writer process 6, writer", "rank 3"]


def test_a_device_that_takes_more_than_its_few_writers_give(tmp_path):
    measured = {"bytes_per_output": 24e6, "write_s": 0.002, "flush_s": 0.01, "beyond_page_cache": True}
    plan = {"measured": measured}
    run = imitated(tmp_path, ranks=6, dedicated=2, rate=1.2e8, changes={"plan": plan})
    assert run.analysis.reasons[0].kind == "leader" and "--write ranks:3" in reported(run)
    # The line of a device that is far faster would leave no room for what was written.
    assert "The device takes far more: 2.00 GB/s" in page_of(run).words
    assert "device: 2.00 GB/s" not in json.dumps(page_of(run).data)


def test_one_leader_for_all_may_be_the_device(tmp_path):
    run = imitated(tmp_path, group=4, rate=2.5e8)
    assert run.analysis.reasons[0].kind == "leader"
    assert "They do not help if it is the device" in reported(run)


def test_tiny_writes(tmp_path):
    run = imitated(tmp_path, share=dict.fromkeys(range(4), 0.01), rate=2e7, writes_per_output=20)
    assert "many tiny writes" in reported(run) and "2.00 kB" in reported(run)


def test_writers_without_processor_time(tmp_path):
    run = imitated(tmp_path, **SLOW_DEVICE)
    account = json.loads((run.directory / "run.json").read_text())
    for entry in account["per_rank"]:
        entry["write_cpu_s"] = 0.9 * entry["write_s"]
    (run.directory / "run.json").write_text(json.dumps(account))
    run = load_run(run.directory)
    assert run.analysis.reasons[0].kind == "writer_cpu" and "lack processor time" in reported(run)


def test_reasons_add_up_to_the_waiting(tmp_path):
    for number, wanted in enumerate((SLOW_DEVICE, OVERLOADED, SLOW_WRITER, BURSTS, {"blocking": True})):
        run = imitated(tmp_path / str(number), **wanted)
        assert run.analysis.wait_s == pytest.approx(sum(run.column("output_wait_s")), rel=1e-5)


# --- the planner's part, binding, clocks


PLAN = {
    "mode": "auto",
    "measured": {"compute_s": 0.03, "write_s": 0.06, "phi": 0.02,
                 "free_cores": 1, "bytes_per_output": 4_000_000},
    "decisions": [
        {"step": 5, "strategy": "threads:2", "reason": "a core is free",
         "predicted_output_s": 0.05, "observed_output_s": 0.07}
    ],
    "predictions": [
        {"strategy": "blocking", "run_s": 5.0, "per_output_s": 0.09, "possible": True, "reason": ""},
        {"strategy": "threads:2", "run_s": 2.8, "per_output_s": 0.05, "possible": True, "reason": "hides"},
        {"strategy": "spawn:2", "run_s": 0, "per_output_s": 0, "possible": False,
         "reason": "spawning was refused"},
    ],
}  # fmt: skip


def test_plan_beside_outcome(tmp_path):
    run = imitated(tmp_path, **SLOW_DEVICE, changes={"plan": PLAN})
    page = page_of(run)
    for words in (
        "Plan and outcome",
        "spawning was refused",
        "a core is free",
        "+40 %",
        "The planner's prediction was off",
    ):
        assert words in page.words, words
    bars = picture(page, "observed 70.0 ms")
    assert bars["data"][0]["y"] == ["threads:2", "blocking"]
    assert "66.7 MB/s" in json.dumps(page.data)  # 4 MB in 0.06 s, the line in the write rate


def test_no_plan_no_section(tmp_path):
    page = page_of(imitated(tmp_path))
    assert "Plan and outcome" not in page.words and "Binding" not in page.words
    assert "best seen" in json.dumps(page.data)


def test_binding(tmp_path):
    place = {"host": "node-0", "cpus": "0", "writer_cpus": "1", "writer_place": "a free core"}
    binding = [{"rank": rank} | place for rank in range(4)]
    run = imitated(tmp_path, changes={"binding": binding})
    page = page_of(run)
    assert "a free core" in page.words
    assert "Binding" in page.words and "processors 0 of node-0" in page.words
    assert "ranks 0 to 3 with 1 threads" in reported(run)


def test_clock_error_is_told_where_it_is_not_negligible(tmp_path):
    run = imitated(tmp_path, **SLOW_WRITER, clock_error_s=2e-4)
    page = page_of(run)
    assert "Clocks of different nodes agree within" in page.words
    assert page.data["time-line"]["clockError"] == pytest.approx(4e-4, rel=0.1)


def test_pace_is_told(tmp_path):
    run = imitated(tmp_path, changes={"command": "tailrace-rehearse --pace bandwidth=60MB/s"})
    assert "--pace bandwidth=60MB/s" in page_of(run).words


# --- the timeline


def unpacked(payload):
    """Rows of (start, end, kind) as the page's script makes them."""
    data = zlib.decompress(base64.b64decode(payload["data"]))
    total = sum(row["count"] for row in payload["rows"])
    gaps = np.frombuffer(data, "<u4", total).astype(np.int64)
    lengths = np.frombuffer(data, "<u4", total, 4 * total).astype(np.int64)
    kinds = np.frombuffer(data, "u1", total, 16 * total)
    rows, at = [], 0
    for row in payload["rows"]:
        part = slice(at, at + row["count"])
        end = np.cumsum(gaps[part] + lengths[part]) * payload["quantum"]
        rows.append((end - lengths[part] * payload["quantum"], end, kinds[part]))
        at += row["count"]
    return rows


def test_timeline_holds_every_span(tmp_path):
    run = imitated(tmp_path, **SLOW_DEVICE)
    payload = timeline.build(run.analysis, 0.0).payload()
    assert [row["name"] for row in payload["rows"]] == [
        "rank 0",
        "writer",
        "rank 1",
        "writer",
        "rank 2",
        "writer",
        "rank 3",
        "writer",
    ]
    for (start, end, kind), lane in zip(unpacked(payload), run.analysis.lanes, strict=True):
        if lane.computes:
            assert np.allclose(start, lane.start_s, atol=2e-7) and np.allclose(end, lane.end_s, atol=2e-7)
            assert np.array_equal(kind, lane.kind)
        else:
            exposed = kind == timeline.EXPOSED
            assert (end - start).sum() == pytest.approx(lane.seconds("write"), abs=1e-4)
            waited = intervals.intersection(
                lane.intervals("write"), run.analysis.mains[lane.rank].intervals("output_wait")
            )
            assert (end - start)[exposed].sum() == pytest.approx(intervals.total_s(waited), abs=1e-4)


def test_timeline_puts_writers_below_the_ranks_they_serve(tmp_path):
    rows = timeline.build(imitated(tmp_path, **OVERLOADED).analysis, 0.0).rows
    names = [row.name for row in rows]
    assert names == [
        "rank 0",
        "rank 1",
        "rank 2",
        "rank 3",
        "leader",
        "rank 4",
        "rank 5",
        "rank 6",
        "rank 7",
        "leader",
    ]


def test_too_many_spans_are_summed_without_losing_time(tmp_path, monkeypatch):
    run = imitated(tmp_path, **SLOW_DEVICE)
    monkeypatch.setattr(timeline, "SPANS", 8 * 40)
    whole = timeline.build(run.analysis, 0.0)
    for row, lane in zip(whole.rows, run.analysis.lanes, strict=True):
        assert row.cell_s > 0 and len(row.kind) <= 40
        assert np.all(np.diff(row.start_s) >= 0) and np.all(row.start_s[1:] >= row.end_s[:-1] - 1e-9)
        assert (row.end_s - row.start_s).sum() == pytest.approx((lane.end_s - lane.start_s).sum(), rel=1e-6)
        if not lane.computes:
            assert row.size_bytes.sum() == pytest.approx(lane.of_kind("write")["bytes"].sum(), rel=1e-6)
    assert "summed over intervals" in page_of(run).words


def test_many_ranks_and_spans_stay_a_page_of_a_few_megabytes(tmp_path):
    rehearsals.write_run(tmp_path / "run", ranks=1000, group=50, steps=25, slow={777: 1.6}, rate=1e10)
    path = write_report(tmp_path / "run")
    assert path.stat().st_size < 5_000_000
    page = Parts(path.read_text())
    assert "rank 777" in [row["name"] for row in page.data["time-line"]["rows"]]
    assert "Rank 777 is slow" in page.words and "24 ranks of 1000" in page.words


def test_a_thread_with_two_hundred_thousand_spans(tmp_path):
    count = 200_000
    start = 1e-3 * np.arange(count)
    kinds = ("compute", "exchange")
    rows = [("main", kinds[i % 2], 1 + i // 2, start[i], start[i] + 9e-4, 0) for i in range(count)]
    trace_files.write(tmp_path / "trace" / "rank-00000.trace", 0, ["main"], rows)
    payload = timeline.build(load_run(tmp_path).analysis, 0.0).payload()
    assert payload["rows"][0]["count"] == count and payload["rows"][0]["cell"] == 0
    assert len(payload["data"]) < 3_000_000
    assert write_report(tmp_path).stat().st_size < 6_000_000


def test_only_some_ranks_are_read_when_traces_are_large(tmp_path, monkeypatch):
    directory = rehearsals.write_run(tmp_path / "run", ranks=12, slow={7: 1.5})
    size = (directory / "trace" / "rank-00000.trace").stat().st_size
    monkeypatch.setattr(load, "MAX_TRACE_BYTES", 5 * size)
    run = load_run(directory)
    assert len(run.trace.ranks) < 12 and 7 in {one.rank for one in run.trace.ranks}
    assert "of 12 ranks whose traces were read" in page_of(run).words


def test_damaged_traces_are_told(tmp_path):
    directory = rehearsals.write_run(tmp_path / "run")
    path = directory / "trace" / "rank-00001.trace"
    path.write_bytes(path.read_bytes()[:-3000])
    assert "rank-00001.trace" in page_of(load_run(directory)).words


def test_traces_without_events(tmp_path):
    trace_files.write(tmp_path / "trace" / "rank-00000.trace", 0, ["main"], [])
    assert "neither totals nor traces" in page_of(load_run(tmp_path)).words


# --- parts


def events(rows):
    array = np.zeros(len(rows), EVENT)
    for event, (kind, start, end) in zip(array, rows, strict=True):
        event["kind"], event["start_s"], event["end_s"] = KINDS.index(kind), start, end
    return array[np.lexsort((-array["end_s"], array["start_s"]))]


def test_the_inner_of_nested_spans_counts():
    nested = events(
        [("compute", 0, 10), ("exchange", 2, 6), ("output_wait", 3, 4), ("pack", 6, 7),
         ("compute", 10, 12), ("write", 5, 5)]
    )  # fmt: skip
    start, end, event = flatten(nested)
    found = [
        (KINDS[nested["kind"][number]], one, other)
        for one, other, number in zip(start, end, event, strict=True)
    ]
    assert found == [
        ("compute", 0, 2), ("exchange", 2, 3), ("output_wait", 3, 4), ("exchange", 4, 6), ("pack", 6, 7),
        ("compute", 7, 10),
        ("compute", 10, 12),
    ]  # fmt: skip


def test_flattening_keeps_all_time_of_random_nests():
    random = np.random.default_rng(7)
    for _ in range(50):
        edges = np.sort(random.choice(1000, 40, replace=False)).astype(float)
        rows, open_ = [], []
        for number, edge in enumerate(edges):
            if open_ and (random.random() < 0.5 or len(edges) - number <= len(open_)):
                kind, begin = open_.pop()
                rows.append((kind, begin, edge))
            else:
                open_.append((KINDS[random.integers(len(KINDS))], edge))
        array = events(rows)
        start, end, event = flatten(array)
        starts, ends = intervals.union(array["start_s"], array["end_s"])
        assert (end - start).sum() == pytest.approx((ends - starts).sum())
        assert np.all(start[1:] >= end[:-1])
        for one, other, number in zip(start, end, event, strict=True):
            middle = (one + other) / 2
            inside = (array["start_s"] < middle) & (array["end_s"] > middle)
            assert number == np.flatnonzero(inside)[np.argmin((array["end_s"] - array["start_s"])[inside])]


def test_interval_arithmetic():
    one = (np.array([0.0, 2.0, 5.0]), np.array([1.0, 4.0, 6.0]))
    other = (np.array([0.5, 3.0]), np.array([2.5, 7.0]))
    pairs = list(zip(*intervals.intersection(one, other), strict=True))
    assert pairs == [(0.5, 1.0), (2.0, 2.5), (3.0, 4.0), (5.0, 6.0)]
    assert list(zip(*intervals.difference(one, other), strict=True)) == [(0.0, 0.5), (2.5, 3.0)]
    assert intervals.overlap_s(one, np.array([0.0, 3.0, 10.0])).tolist() == [2.0, 2.0]
    assert [part.tolist() for part in intervals.merge([other, one])] == [[0.0], [7.0]]
    amounts = intervals.amount_before(
        np.array([0.0, 1.0]), np.array([2.0, 3.0]), np.array([10, 20]), np.array([0, 1, 2, 9])
    )
    assert amounts.tolist() == [0, 5, 20, 30]


def test_slow_ranks_stand_out_from_the_others():
    assert slow_ranks([0, 1, 2, 3], [1.0, 1.01, 1.5, 0.99]) == [2]
    assert slow_ranks([0, 1], [1.0, 2.0]) == [1]
    assert slow_ranks([0, 1, 2, 3], [1.0, 1.2, 1.4, 1.6]) == []  # spread, nobody differs
    assert slow_ranks([5, 6], [1.0, 1.05]) == [] == slow_ranks([3], [1.0])


def test_ranks_in_words():
    assert [ranks_text(ranks) for ranks in ([3], [0, 1], [0, 1, 2], [1, 5, 9], [])] == [
        "rank 3", "ranks 0 and 1", "ranks 0 to 2", "ranks 1, 5 and 9", "no rank",
    ]  # fmt: skip


def test_two_ranks_have_no_usual_one(tmp_path):
    """The median of two lies in their middle: neither is beyond it."""
    page = page_of(imitated(tmp_path, ranks=2))
    assert "the median" not in page.words and "times the median" not in json.dumps(page.data)


def test_the_time_split_adds_up_with_the_copying_in_it(tmp_path):
    run = imitated(tmp_path, ranks=2)
    wall_s = 1.2 * run.wall_s
    for entry in run.per_rank:
        entry["pack_s"] = 0.1 * wall_s
    figure = time_figures.time_split(run.per_rank, wall_s)
    bars = {bar.name: np.array(bar.x) for bar in figure.data}
    factor = 1 if wall_s >= 1 else si_scale(wall_s)[0]
    assert np.allclose(factor * sum(bars.values()), wall_s, rtol=1e-6)
    assert (factor * bars["output"] >= 0.1 * wall_s).all()
