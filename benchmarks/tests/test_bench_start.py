# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench start`: its cases, its account and its tables. Nothing here asserts a time."""

import json
from dataclasses import asdict

import pytest
from rich.console import Console

from native import needs
from tailrace.bench.programs import Runner
from tailrace_bench import start, start_cases, start_tables
from test_bench import ENVIRONMENT, command


def test_every_simulation_has_cases():
    cases = start_cases.all_cases()
    assert {case.simulation for case in cases} == {"ultrasound", "seismic", "molecules", "heat", "poisson"}
    names = [(case.simulation, case.name) for case in cases]
    assert len(set(names)) == len(names) > 30
    wrong = command("bench", "start", "--simulation", "weather")
    assert wrong.returncode == 2
    assert "--simulation weather: unknown. Choose one of ultrasound" in wrong.stderr


def times(setup_s: float, launch_s: float = 0.5) -> start.Times:
    return start.Times(launch_s=launch_s, setup_s=setup_s, memory_s=0.01, step_s=0.1, end_s=0.02)


def test_what_the_command_adds():
    found = start.Found([times(0.1), times(0.3)], [times(0.2, 0.6), times(0.4, 0.6)])
    case = start_cases.StartCase("heat", "class S", lambda directory: [], whole=True)
    row = start.make_row(case, (2, 1), found)
    assert row["setup_steps"]["samples"] == pytest.approx([1, 3])
    assert row["command"]["before_s"]["samples"] == pytest.approx([0.2, 0.2])
    assert row["command"]["after_s"]["samples"] == pytest.approx([0, 0])
    slow = start.make_row(case, (1, 1), start.Found([times(0.5)]))
    assert start_tables.verdicts([row, slow]) == [
        "aim: a set-up of at most 2 steps: met in 1 of 2 rows",
        "  missed: heat class S, 1 x 1, 5.0 steps",
    ]


@needs("tailrace-molecules")
def test_a_run_is_measured_from_the_command_to_the_prompt(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    (case,) = (one for one in start_cases.all_cases() if one.name == "Lennard-Jones, 2048")
    request = start.Request(("molecules",), ((1, 1),), 1, tmp_path)
    (found,) = start.measure_case(case, request, tmp_path, Runner()).values()
    account = json.loads((tmp_path / "run" / "run.json").read_text())
    assert account["steps"] == start_cases.STEPS
    for one in (*found.native, *found.command):
        assert all(seconds > 0 for seconds in asdict(one).values())
    assert len(found.native) == len(found.command) == 1
    row = start.make_row(case, (1, 1), found)
    console = Console(width=200, record=True)
    start_tables.print_starts([row], console)
    start_tables.print_commands([row], console)
    assert "molecules Lennard-Jones, 2048, 1 x 1" in console.export_text()
