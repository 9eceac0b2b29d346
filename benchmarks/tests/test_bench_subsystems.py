# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of subsystems: what it makes is sound, it has all that it names. Nothing asserts a time."""

import json

from command import SOURCE as PACKAGE
from command import tailrace
from native import needs
from tailrace.fragment_profile.profile import read_profile
from tailrace_bench.network_place import PROGRAM
from tailrace_bench.subsystems import SOURCE, seconds_said
from tailrace_bench.subsystems_traces import STORY, write_traces


def test_traces_that_are_made_are_sound(tmp_path):
    """Each fragment has its whole story, with a value from the rank before but for the first ones."""
    assert write_traces(tmp_path, 4, 4 * 25 * len(STORY)) == 4 * 25 * len(STORY)
    profile = read_profile(tmp_path)
    assert profile.errors == [] and profile.recorded.problems == []
    assert profile.totals.created == 100 and len(profile.recorded.runs) == 100
    assert profile.path is not None and profile.path.fragments == 25


def test_the_analyser_has_numbers(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))
    path = tmp_path / "found.json"
    words = ("--subsystem", "analyser", "--records", 20_000, "-n", 8, "--json", path)
    answer = tailrace("bench", "subsystems", *words)
    assert answer.status == 0, answer
    found = json.loads(path.read_text())["analyser"]
    assert found["ranks"] == 8 and 19_000 < found["records"] <= 20_000 and found["errors"] == []
    assert "records of 8 ranks in" in answer.out


@needs(PROGRAM)
def test_the_message_profiler_is_in_front_in_half_of_the_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "1")
    path = tmp_path / "found.json"
    answer = tailrace("bench", "subsystems", "--subsystem", "messages", "--pairs", 1, "--json", path)
    assert answer.status == 0, answer
    document = json.loads(path.read_text())
    assert len(document["messages"]["more_s"]["samples"]) == 1
    assert sum("LD_PRELOAD" in command for command in document["commands"]) == 1


def test_seconds_of_the_program():
    assert "seconds %.9g" in SOURCE.read_text()
    assert seconds_said("seconds 1.5e-3\n") == 0.0015
