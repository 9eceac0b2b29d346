# SPDX-License-Identifier: BSD-3-Clause
"""Traces of real runs: they add up to the account, merged clocks keep cause before effect, a kill leaves what
was recorded."""

import json
import signal
from pathlib import Path

import numpy as np
import pytest

import command
import jobs
import json_schema
from conftest import SENSOR_DATA
from kwave_input import STEPS
from tailrace.trace import KINDS, RunTrace, read_run

SCHEMA = Path(__file__).resolve().parents[1] / "data" / "trace" / "trace_event.schema.json"


def run_traced(small, directory: Path, *options, ranks: int = 3) -> Path:
    arguments = ["-i", small, "-o", directory / "out.h5", "--run-dir", directory / "run", "--quiet"]
    ended = jobs.run(*arguments, *SENSOR_DATA, *options, ranks=ranks)
    assert ended.status == 0, ended
    return directory / "run"


def seconds(rank, thread, *kinds) -> float:
    spans = rank.select(thread, *kinds)
    return float((spans["end_s"] - spans["start_s"]).sum())


@pytest.mark.parametrize("strategy", ["blocking", "threads"])
def test_a_trace_adds_up_to_the_account(strategy, small, tmp_path):
    run_dir = run_traced(small, tmp_path, "--write", strategy, "--flush", "sample")
    run, reported = read_run(run_dir), jobs.account(run_dir)
    assert run.problems == [] and len(run.ranks) == 3
    for rank, account in zip(run.ranks, reported["per_rank"], strict=True):
        assert rank.role == "compute" and rank.host == account["host"] and rank.lost == 0
        assert rank.clock_error_s == 0  # the ranks of a machine read one clock
        assert set(rank.threads) <= {"main", "writer"}
        writing = "main" if strategy == "blocking" else "writer"
        exchange = seconds(rank, "main", "exchange")
        assert account["exchange_s"] == pytest.approx(exchange, abs=1e-6)
        assert account["compute_s"] == pytest.approx(seconds(rank, "main", "compute") - exchange, abs=1e-6)
        assert account["setup_s"] == pytest.approx(seconds(rank, "main", "setup"), abs=1e-6)
        assert account["write_s"] == pytest.approx(seconds(rank, writing, "write", "sync"), abs=1e-6)
        assert account["write_bytes"] == rank.select(writing, "write")["bytes"].sum()
        assert np.unique(rank.select("main", "compute")["step"]).tolist() == list(range(1, STEPS + 1))
        assert len(rank.select(writing, "sync")) >= 1
        assert rank.events["memory_bytes"].max() > 1 << 20
        assert rank.select("main", "pack")["buffers"].max() >= 1
        assert (len(rank.select("writer", "idle")) > 0) == (strategy == "threads")
        assert rank.events["start_s"].min() >= 0 and run.last_s <= reported["wall_s"] + 0.05


def last_before_first(run: RunTrace) -> float:
    """By how much, at worst, a rank leaves an exchange among all before another has entered it."""
    exchanges = [rank.select("main", "exchange") for rank in run.ranks]
    assert len({len(one) for one in exchanges}) == 1 and len(exchanges[0]) > 100
    entered = np.max([one["start_s"] for one in exchanges], axis=0)
    left = np.min([one["end_s"] for one in exchanges], axis=0)
    return float((entered - left).max())


@pytest.mark.parametrize("skew", ["4.25,3e-5", "-2.5,-8e-5"])
def test_merged_clocks_never_show_an_effect_before_its_cause(skew, small, tmp_path, monkeypatch):
    """Every rank's clock is off by seconds and drifts; in each exchange all ranks depend on all."""
    monkeypatch.setenv("TAILRACE_CLOCK_SKEW", skew)
    run = read_run(run_traced(small, tmp_path))
    assert run.problems == []
    assert 0 < run.clock_error_s < 1
    offset_s = float(skew.split(",")[0])
    assert abs(run.ranks[2].clock_offset_s) > 1.9 * abs(offset_s)
    assert last_before_first(run) <= run.clock_error_s + 1e-9
    for rank in run.ranks:  # with the clocks as they were, it looks impossible
        for name in ("start_s", "end_s"):
            rank.events[name] -= rank.clock_offset_s
    assert last_before_first(run) > abs(offset_s)


def test_a_wrong_value_for_the_clocks_is_named(small, tmp_path, monkeypatch):
    monkeypatch.setenv("TAILRACE_CLOCK_SKEW", "much")
    ended = jobs.run("-i", small, "-o", tmp_path / "o.h5", "--run-dir", tmp_path / "run", "--quiet", ranks=2)
    assert ended.status == 1  # as k-Wave's programs fail
    assert "TAILRACE_CLOCK_SKEW=much" in ended.err and "Fix: " in ended.err


def test_a_killed_run_leaves_what_it_recorded(small, tmp_path):
    run_dir = tmp_path / "run"
    options = ["--quiet", *SENSOR_DATA, "--pace", "latency=20ms"]
    job = jobs.Job(["-i", small, "-o", tmp_path / "out.h5", "--run-dir", run_dir, *options], 2)

    def steps(rank: int) -> int:
        chosen = read_run(run_dir, [rank]).ranks
        return int(chosen[0].select("main", "compute")["step"].max(initial=0)) if chosen else 0

    job.wait_for(lambda: min(steps(0), steps(1)) > 20, "trace of twenty steps")
    reached = [steps(0), steps(1)]
    job.send(signal.SIGKILL, rank=1)
    assert job.wait().status != 0
    run = read_run(run_dir)
    assert len(run.ranks) == 2
    assert [f"rank-{rank:05}.trace: it has no end" in " ".join(run.problems) for rank in (0, 1)] == [True] * 2
    for rank, least in zip(run.ranks, reached, strict=True):
        found = np.unique(rank.select("main", "compute")["step"])
        assert found.tolist() == list(range(1, int(found.max()) + 1)) and found.max() >= least
        assert len(rank.select("writer", "write")) > 0
    assert command.tailrace("trace", "export", run_dir).status == 0


def test_without_a_trace_the_account_is_the_same(small, tmp_path):
    run_dir = run_traced(small, tmp_path, "--trace", "off", ranks=2)
    reported = jobs.account(run_dir)
    assert list((run_dir / "trace").iterdir()) == []
    assert reported["config"]["trace"] == {"mode": "off"}
    assert all(rank["compute_s"] > 0 and rank["write_s"] > 0 for rank in reported["per_rank"])
    ended = command.tailrace("trace", "export", run_dir)
    assert ended.status == 2 and "without --trace off" in ended.err


def test_hardware_counters_count_or_are_refused(small, tmp_path):
    arguments = ["-i", small, "-o", tmp_path / "o.h5", "--run-dir", tmp_path / "run", "--quiet"]
    ended = jobs.run(*arguments, *SENSOR_DATA, "--trace", "papi", ranks=2)
    if ended.status == 0:
        run = read_run(tmp_path / "run")
        assert all(rank.counters for rank in run.ranks)
        assert all((rank.select("main", "compute")["counters"][:, 0] > 0).all() for rank in run.ranks)
        return
    assert ended.status == 1
    (message,) = jobs.messages(ended)
    assert "--trace papi: " in message and "Fix: " in message
    assert "without PAPI" in message or "no hardware counters" in message


def test_unknown_modes_and_the_key_of_the_case(small, tmp_path):
    ended = jobs.run("-i", small, "-o", tmp_path / "o.h5", "--trace", "much")
    assert ended.status == 1 and "--trace much: unknown. Fix: one of off, on, papi" in ended.err
    case = tmp_path / "case.toml"
    case.write_text(f'[case]\nsimulation = "ultrasound"\n[input]\nfile = "{small}"\n[trace]\nmode = "of"\n')
    ended = jobs.run("--case", case, "--out", tmp_path / "run", "--check")
    assert ended.status == 2 and "trace.mode of: unknown" in ended.err
    ended = jobs.tailrace("run", case, "--out", tmp_path / "run", "--trace", "off", "--no-report")
    assert ended.status == 0, ended
    assert list((tmp_path / "run" / "trace").iterdir()) == []


def test_checkpoints_are_in_the_trace(small, tmp_path):
    options = ["--checkpoint_file", tmp_path / "check.h5", "--checkpoint_timesteps", "10"]
    run_dir = run_traced(small, tmp_path, *options, ranks=2)
    for rank in read_run(run_dir).ranks:
        (saved,) = rank.select("main", "checkpoint")
        assert saved["step"] == 10 and saved["end_s"] > saved["start_s"]


def test_the_export_of_a_run_fits_its_schema(small, tmp_path):
    run_dir = run_traced(small, tmp_path, ranks=2)
    assert command.tailrace("trace", "export", run_dir, "--format", "perfetto").status == 0
    document = json.loads((run_dir / "trace.json").read_text())
    assert json_schema.problems(document, json.loads(SCHEMA.read_text())) == []
    spans = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert len(spans) == sum(len(rank.events) for rank in read_run(run_dir).ranks)
    assert {event["name"] for event in spans} <= set(KINDS)
