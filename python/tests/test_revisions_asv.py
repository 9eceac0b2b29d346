# SPDX-License-Identifier: BSD-3-Clause
"""Result directories of asv are read, with steps found in their histories; damage is named, never a crash."""

import json
import random

import pytest
from rich.console import Console

from tailrace.console import CommandError
from tailrace.revisions.asv import read_asv, show_asv


@pytest.fixture
def results(tmp_path):
    """20 commits; `time_sort` becomes 1.5 times slower at the 12th, for one of two parameters."""
    folder = tmp_path / "node-a"
    folder.mkdir()
    (folder / "machine.json").write_text('{"machine": "node-a"}')
    (tmp_path / "benchmarks.json").write_text('{"time_sort": {"unit": "seconds"}, "version": 2}')
    noise = random.Random(1)
    for number in range(20):
        factor = 1.5 if number >= 12 else 1.0
        value = [1.0 + 0.01 * noise.random(), factor * (2.0 + 0.02 * noise.random())]
        document = {
            "commit_hash": f"{number:040x}",
            "env_name": "py3.11",
            "date": 1000 * (100 - number),  # files are in another order than dates
            "result_columns": ["result", "params", "version"],
            "results": {
                "time_sort": [value, [["'a'", "'b'"]], "v"],
                "mem_all": [[1000], [], "v"],
                "broken": [None, [], "v"],
            },
        }
        document["date"] = 1000 * number
        (folder / f"{19 - number:08x}-py3.11.json").write_text(json.dumps(document))
    return tmp_path


def test_histories_and_their_steps(results):
    histories, problems = read_asv(results)
    assert problems == []
    assert [(one.name, len(one.values)) for one in histories] == [
        ("broken", 20), ("mem_all", 20), ("time_sort('a')", 20), ("time_sort('b')", 20)
    ]  # fmt: skip
    by_name = {one.name: one for one in histories}
    assert by_name["time_sort('b')"].unit == "seconds"
    assert by_name["time_sort('a')"].steps() == by_name["mem_all"].steps() == by_name["broken"].steps() == []
    (step,) = by_name["time_sort('b')"].steps()
    assert step.ratio == pytest.approx(1.5, rel=0.02)
    assert int(by_name["time_sort('b')"].commit_of(step.at), 16) == 12


def test_steps_are_said(results, capsys):
    assert show_asv(results, Console(width=200)) == 0
    said = capsys.readouterr().out
    assert "1 steps" in said
    assert "node-a  time_sort('b'): 1." in said and "times in 000000" in said


def test_the_first_version_of_results(tmp_path):
    (tmp_path / "m").mkdir()
    document = {
        "commit_hash": "a" * 40,
        "date": 1,
        "results": {"t": 0.5, "u": {"result": [1.0], "params": []}},
    }
    (tmp_path / "m" / "a.json").write_text(json.dumps(document))
    assert [(one.name, one.values) for one in read_asv(tmp_path)[0]] == [("t", [0.5]), ("u", [1.0])]


def test_damaged_files_are_left_out_and_named(results):
    rng = random.Random(7)
    path = results / "node-a" / f"{3:08x}-py3.11.json"
    whole = path.read_bytes()
    for _ in range(30):
        damaged = bytearray(whole[: rng.randrange(1, len(whole))] if rng.random() < 0.5 else whole)
        for _ in range(rng.randrange(1, 6)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(bytes(damaged))
        histories, problems = read_asv(results)
        assert histories and len(problems) <= 1


def test_a_directory_without_results(tmp_path):
    with pytest.raises(CommandError, match="no results of asv"):
        read_asv(tmp_path)
