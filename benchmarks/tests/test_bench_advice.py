# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of advice: its program is sound, its verdicts are arithmetic; all of it under `full`."""

import json

import pytest

from command import SOURCE as PACKAGE
from command import tailrace
from native import needs
from tailrace.fragment_profile.rules import RULES
from tailrace.fragments.check import check_source
from tailrace.fragments.source import source_of
from tailrace_bench.advice import PLANTED, PROGRAM, SOURCE, said_s, verdict


def test_the_program_has_no_errors_and_each_rule_has_a_fault():
    text = SOURCE.read_text(encoding="utf-8")
    assert check_source(source_of(text.encode(), SOURCE, SOURCE.name))[1].errors == []
    assert {one.rule for one in PLANTED} == {rule.name for rule in RULES}
    assert all(f'fault == "{one.rule}"' in text for one in PLANTED)


@pytest.mark.parametrize(
    ("predicted", "gained", "holds", "share"),
    [
        ((1.4, 1.5, 1.6), 1.5, True, 1.0),
        ((1.4, 1.5, 1.6), 1.25, True, 0.5),
        ((1.4, 1.5, 1.6), 1.2, False, 0.4),  # less than half
        ((1.4, 1.5, 1.6), 1.7, False, 1.4),  # more than was possible
        ((2.0, 3.0, 4.0), 4.0, True, 1.5),  # what is counted may be just what was possible
        (None, 1.1, False, None),  # a rule that does not speak promises nothing
    ],
)
def test_what_holds(predicted, gained, holds, share):
    found = verdict("x", ["x", "y"], ["y"], predicted, gained)
    assert found["is_named"] and found["is_quiet"] and found["holds"] == holds
    assert found["share"] == (pytest.approx(share) if share is not None else None)
    found = verdict("x", ["y", "x"], ["x"], predicted, gained)
    assert not found["is_named"] and not found["is_quiet"]


def test_the_time_that_a_program_says():
    assert said_s("0 at 12.5\nother words\n1 at 14.25\n") == 1.75


def test_a_fault_that_there_is_not_is_said():
    answer = tailrace("bench", "advice", "--rule", "bad-luck")
    assert answer.status == 2 and "Choose one of imbalance" in answer.err


@pytest.mark.full
@needs(PROGRAM)
def test_all_faults_are_measured(tmp_path, monkeypatch):
    """Times are those of the machine: what holds there is not asserted, but that most faults are named."""
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))
    path = tmp_path / "advice.json"
    answer = tailrace("bench", "advice", "--pairs", 1, "--json", path)
    assert answer.status == 0, answer
    rows = json.loads(path.read_text())["rows"]
    assert [row["rule"] for row in rows] == [one.rule for one in PLANTED]
    assert sum(row["is_named"] for row in rows) > len(rows) / 2
