# SPDX-License-Identifier: BSD-3-Clause
"""What a run describes itself, and that strategies and repetitions make no difference to the data."""

import json
from pathlib import Path
from typing import Any

import pytest

import jobs
from conftest import SENSOR_DATA
from kwave_input import GRID, STEPS
from matrix import each_value
from test_faults import write_case

VARIANTS = ["--write blocking", "--write threads:1", "--write threads:4", "", "--pace latency=1ms,jitter=0.9"]


@each_value("ranks, options", [1, 2, 3], VARIANTS)
def test_datasets_are_the_same_for_all_strategies_and_every_time(ranks, options, small, clean, tmp_path):
    output = tmp_path / "out.h5"
    ended = jobs.run("-i", small, "-o", output, "--quiet", *SENSOR_DATA, *options.split(), ranks=ranks)
    assert ended.status == 0, ended
    jobs.assert_equal_files(output, clean(ranks), but=())


TIMES = ["wall_s", "setup_s", "compute_s", "exchange_s", "output_wait_s", "output_write_s", "checkpoint_s"]


def assert_consistent(reported: dict[str, Any], ranks: int, run_dir: Path) -> None:
    assert reported["format"] == "tailrace-run" and reported["format_version"] == 1
    assert reported["simulation"] == "ultrasound" and reported["program"] == "tailrace-ultrasound"
    assert reported["ranks"] == ranks and reported["threads"] == 1 and reported["sink"] == "hdf5"
    assert reported["grid"] == list(GRID) and reported["steps"] == reported["steps_planned"] == STEPS
    assert reported["hosts"] and reported["started"] <= reported["ended"]
    assert set(reported["versions"]) >= {"mpi", "hdf5", "compiler"}
    assert reported["config"]["case"]["simulation"] == "ultrasound"
    assert reported["config"]["record"]["p_raw"] is True
    assert all(reported[name] >= 0 for name in TIMES)
    assert reported["checkpoint_bytes"] == 0
    per_rank = reported["per_rank"]
    assert [rank["rank"] for rank in per_rank] == list(range(ranks))
    assert sum(rank["cells"] for rank in per_rank) == GRID[0] * GRID[1] * GRID[2]
    for rank in per_rank:
        spent = sum(rank[name] for name in ("setup_s", "compute_s", "exchange_s", "output_wait_s"))
        assert 0 < spent <= reported["wall_s"] + 0.05
        assert all(rank[name] >= 0 for name in ("write_s", "write_cpu_s", "write_bytes", "writes", "waits"))
    for name in ("setup_s", "compute_s", "exchange_s", "output_wait_s"):
        assert reported[name] == max(rank[name] for rank in per_rank)
    assert (
        reported["output_bytes"]
        == sum(rank["write_bytes"] for rank in per_rank)
        == stream_bytes(reported, run_dir)
    )
    for name in ("peak_memory_bytes", "predicted_memory_bytes"):
        assert reported[name] == [rank[name] for rank in per_rank] and min(reported[name]) > 0


def stream_bytes(reported: dict[str, Any], run_dir: Path) -> int:
    """Bytes of all datasets that the account lists, as they are in the file."""
    datasets = jobs.read_datasets(run_dir / "output.h5")
    paths = [path.lstrip("/") for stream in reported["outputs"] for path in stream["paths"]]
    assert len(set(paths)) == len(paths)
    return sum(datasets[path].nbytes for path in paths)


@pytest.mark.parametrize(("ranks", "strategy"), [(1, "blocking"), (2, "threads:2"), (3, "threads:3")])
def test_account_of_a_run(ranks, strategy, small, tmp_path):
    case, run_dir = write_case(tmp_path, small), tmp_path / "run"
    ended = jobs.run("--case", case, "--out", run_dir, "--quiet", "--write", strategy, ranks=ranks)
    assert ended.status == 0, ended
    reported = jobs.account(run_dir)
    assert reported["status"] == "finished" and "error" not in reported
    assert reported["strategy"] == strategy
    assert_consistent(reported, ranks, run_dir)
    if strategy == "blocking":
        assert reported["hidden_fraction"] == 0
    assert not (run_dir / "progress.json").exists()


def test_back_pressure_is_counted(small, tmp_path):
    """Writes that take longer than the computation: it waits, and the account says how long."""
    case, run_dir = write_case(tmp_path, small), tmp_path / "run"
    words = ["--quiet", "--write", "threads", "--pace", "latency=10ms"]
    ended = jobs.run("--case", case, "--out", run_dir, *words, ranks=2)
    assert ended.status == 0, ended
    reported = jobs.account(run_dir)
    assert_consistent(reported, 2, run_dir)
    assert all(rank["waits"] > 0 and rank["output_wait_s"] > 0 for rank in reported["per_rank"])
    assert 0 <= reported["hidden_fraction"] < 1
    names = ("output_wait_s", "write_s", "pack_s")
    total = {name: sum(rank[name] for rank in reported["per_rank"]) for name in names}
    visible = total["output_wait_s"] + total["pack_s"]
    expected = max(0.0, 1 - visible / (total["write_s"] + total["pack_s"]))
    assert reported["hidden_fraction"] == pytest.approx(expected, abs=1e-9)
    assert reported["pack_s"] == max(rank["pack_s"] for rank in reported["per_rank"]) > 0
    start = json.loads((run_dir / "start.json").read_text())
    assert Path(start["executable"]).name == start["program"] and Path(start["executable"]).is_absolute()
    assert total["write_s"] > 0.2


@pytest.mark.parametrize("strategy", ["blocking", "threads"])
def test_no_second_counts_twice(strategy, tmp_path):
    """Checkpoints wait for samples, and a writer that blocks writes where the computation waits."""
    words = [
        "--quiet",
        "--steps",
        30,
        "--write",
        strategy,
        "--pace",
        "latency=5ms",
        "--set",
        "checkpoint.every=3",
    ]
    ended = jobs.rehearse("--out", tmp_path / "run", *words)
    assert ended.status == 0, ended
    reported = jobs.account(tmp_path / "run")
    (rank,) = reported["per_rank"]
    assert min(rank["output_wait_s"], rank["checkpoint_s"]) > 0
    parts = ("setup_s", "compute_s", "exchange_s", "output_wait_s", "pack_s", "checkpoint_s")
    assert sum(rank[name] for name in parts) <= reported["wall_s"]


def test_account_in_kwave_mode(small, tmp_path):
    run_dir = tmp_path / "run"
    output = tmp_path / "out.h5"
    ended = jobs.run("-i", small, "-o", output, "--run-dir", run_dir, "--quiet", *SENSOR_DATA, ranks=2)
    assert ended.status == 0, ended
    reported = jobs.account(run_dir)
    assert reported["status"] == "finished" and reported["steps"] == STEPS
    assert {stream["file"] for stream in reported["outputs"]} == {"output.h5"}
