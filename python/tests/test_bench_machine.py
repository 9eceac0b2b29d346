# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench` of an installed package, which has no checkout around it. Nothing here asserts a time."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tailrace
from native import needs
from tailrace.bench import machine
from tailrace.programs import program_directories

Bench = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Bench:
    """Starts the command of a copy of the package."""
    site = tmp_path_factory.mktemp("site")
    source = Path(tailrace.__file__).parent
    shutil.copytree(source, site / "tailrace", ignore=shutil.ignore_patterns("bin", "__pycache__"))
    programs = next((path for path in program_directories() if path.is_dir()), site)
    environment = os.environ | {"PYTHONPATH": str(site), "TAILRACE_BIN_DIR": str(programs)}

    def start(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tailrace", "bench", *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=300, env=environment, cwd=site
        )

    return start


def test_what_there_is(bench):
    listed = bench()
    assert listed.returncode == 0
    for name in (*machine.QUESTIONS, *machine.SIMULATIONS):
        assert f"tailrace bench {name}" in listed.stdout


@pytest.mark.parametrize(
    "words",
    [["study", "ultrasound", "--html", "x"], ["ultrasound", "--reference", "lmp"], ["output", "--rows", "a"]],
)
def test_benchmarks_of_the_checkout_are_named(bench, words):
    done = bench(*words)
    assert done.returncode == 2
    assert words[1] in done.stderr and "start ./tailrace bench there" in done.stderr


@needs("tailrace-rehearse", "tailrace-molecules")
@pytest.mark.parametrize(
    ("words", "ways"),
    [
        (["trace", "-n", "1", "--steps", "20"], ["without a trace", "with a trace"]),
        (["molecules", "--molecules", "500", "--steps", "4", "--layout", "1x1"], ["1 x 1"]),
    ],
)
def test_an_answer(bench, tmp_path, words, ways):
    file = tmp_path / "found.json"
    done = bench(*words, "--pairs", "2", "--dir", str(tmp_path), "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "ms per step" in done.stdout and "aim" not in done.stdout.lower()
    found = json.loads(file.read_text())
    assert found["benchmark"] == words[0]
    assert [row["way"] for row in found["rows"]] == ways
    for row in found["rows"]:
        assert len(row["step_s"]["samples"]) == 2 and row["peak_memory_bytes"] > 0
    assert found["rows"][0]["over_first"]["samples"] == [1.0, 1.0]
    assert [path.name for path in tmp_path.iterdir()] == ["found.json"]


@needs("tailrace-rehearse")
def test_ways_to_write_and_to_checkpoint(tmp_path):
    program = machine.Rehearsal(tmp_path)
    request = machine.Request(ranks=1, pairs=1, steps=3, size_mib=1)
    first, *others = machine.output_ways(request, program)
    assert first.words[-2:] == ("--select", "none")
    assert {"blocking", "threads"} <= {way.name for way in others}
    assert {way.name.split(":")[0]: way.ranks for way in others}["ranks"] == 2
    rows = machine.measure_ways(program, machine.checkpoint_ways(request, program)[1:], 1)
    assert rows[1]["written_bytes"] >= 2 << 20 and rows[1]["written_bytes_s"] > 0


def test_what_output_costs_is_waiting_and_copying():
    rank = {"output_wait_s": 0.5, "pack_s": 1.5}
    account = {
        "wall_s": 9.0, "setup_s": 1.0, "steps": 4, "output_bytes": 10, "checkpoint_bytes": 0,
        "checkpoint_s": 0.0, "peak_memory_bytes": [1], "per_rank": [rank],
    }  # fmt: skip
    row = machine.make_row(machine.Way("one", (), 1), [account], [account])
    assert row["output_share"] == pytest.approx(2.0 / 8.0)
