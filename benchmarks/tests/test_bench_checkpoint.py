# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench checkpoint`: what is asked for, ratios and verdicts. Nothing here asserts a time."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from native import needs
from tailrace.console import CommandError
from tailrace_bench import checkpoint, checkpoint_tables
from test_bench import command

FEW = checkpoint.State(particles=2000, spread="clustered")
REQUEST = checkpoint.Request(states=(FEW,), ranks=(1, 2), strategies=("threads",), pairs=2)
HERE = checkpoint.Place(Path(), flushed=True)


def found_with(**seconds: list[float]) -> dict:
    """What the program says, all samples one second unless stated otherwise."""
    names = ["plain/durable", "plain/read"]
    for writers in (1, 2):
        names += [f"threads/{writers}/{key}" for key in ("handed", "durable", "complete")]
        names += [f"threads/{writers}/restart/{readers}" for readers in (1, 2)]
        names += [f"threads/{writers}/restart/{readers}/read_over_needed" for readers in (1, 2)]
    samples = {name: seconds.get(name, [1.0, 1.0]) for name in names}
    return {
        "bytes": 240_000,
        "state_bytes": 232_000,
        "samples": samples,
        "extra_bytes": dict.fromkeys(names, 0) | {f"threads/{writers}/save": 4 << 20 for writers in (1, 2)},
    }


def test_states():
    assert FEW.bytes == 232_000
    assert FEW.words() == ["--particles", "2000", "--clustered"]
    assert checkpoint.State(field_mib=3).words() == ["--field", "3"]


def test_rates_are_those_of_a_repetition():
    seconds = {
        "plain/durable": [1.0, 3.0],
        "threads/2/complete": [2.0, 4.0],
        "threads/2/restart/1": [3.0, 5.0],
    }
    found = found_with(**seconds, **{"threads/1/restart/1": [2.0, 2.0]})
    row = checkpoint.make_row(found, FEW, HERE, REQUEST, "threads", 2)
    assert row["plain_over_write"]["samples"] == [0.5, 0.75]
    assert row["restarts"]["1"]["over_own"]["samples"] == [1.5, 2.5]
    assert row["restarts"]["2"]["over_own"]["samples"] == [1.0, 1.0]
    document = {"rows": [row], "headers": [], "costs": []}
    verdict = checkpoint_tables.verdict(document)
    assert "in writing: missed (worst row 62%)" in verdict
    assert "on the same: missed (worst row 200%)" in verdict


def test_a_state_needs_room(tmp_path):
    large = checkpoint.State(particles=10**15)
    with pytest.raises(CommandError, match="Fix: give another --dir"):
        checkpoint.has_room(checkpoint.Place(tmp_path, flushed=True), large)
    assert not checkpoint.has_room(checkpoint.Place(tmp_path, flushed=False), large)


@needs("tailrace-bench-checkpoint")
def test_checkpoint_benchmark(tmp_path):
    file = tmp_path / "checkpoint.json"
    options = [
        "--particles",
        "3000",
        "--size",
        "1",
        "-n",
        "1",
        "-n",
        "2",
        "--strategy",
        "threads",
        "--pairs",
        "1",
    ]
    done = command("bench", "checkpoint", *options, "--no-cost", "--dir", str(tmp_path), "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "Restarts" in done.stdout and "A header on all ranks" in done.stdout
    found = json.loads(file.read_text())
    flushed = [row for row in found["rows"] if row["flushed"]]
    assert [(row["state"], row["ranks"]) for row in flushed] == [
        (state, ranks)
        for state in ("3000 particles, uniform", "3000 particles, clustered", "field, 1 MiB")
        for ranks in (1, 2)
    ]
    for row in flushed:
        assert 0 < row["state_bytes"] < row["bytes"]
        assert set(row["restarts"]) == {"1", "2"}
        seconds = row["seconds"]
        assert (
            0 < seconds["handed"]["median"] <= seconds["durable"]["median"] <= seconds["complete"]["median"]
        )
        for restart in row["restarts"].values():
            assert restart["read_over_needed"] >= 1
    assert [(row["bytes"], row["ranks"]) for row in found["headers"]] == [
        (size, ranks) for ranks in (1, 2) for size in checkpoint.HEADER_BYTES
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.json"]
    checkpoint_tables.print_document(found, Console(quiet=True))
