# SPDX-License-Identifier: BSD-3-Clause
"""The helpers of the tests: matrices that are covered pairwise, and runs that are made once."""

import itertools
import subprocess
import sys

import pytest

import jobs
from matrix import Family, cover, pairwise, product
from shared import Shared


def pairs(rows: list[tuple]) -> set:
    """Every two values of two axes that are in one row."""
    return {pair for row in rows for pair in itertools.combinations(enumerate(row), 2)}


AXES = (["a", "b", "c", "d"], [1, 2, 3], [True, False], "xyz")


def test_a_cover_has_every_pair_in_few_rows():
    rows = product(*AXES)
    chosen = cover(rows)
    assert pairs(chosen) == pairs(rows)
    assert set(chosen) <= set(rows) and len(chosen) == len(set(chosen))
    assert 12 <= len(chosen) <= 15 < len(rows) == 72


def test_a_cover_has_no_pair_that_is_not_allowed():
    rows = [row for row in product(*AXES) if row[:2] != ("a", 3)]
    chosen = cover(rows)
    assert pairs(chosen) == pairs(rows) and ((0, "a"), (1, 3)) not in pairs(chosen)


def of(mark: pytest.MarkDecorator) -> tuple[list[tuple], list[tuple]]:
    """The rows of a parametrized test that always run, and the others."""
    parameters = mark.args[1]
    always = [parameter.values for parameter in parameters if not parameter.marks]
    assert {mark.name for parameter in parameters for mark in parameter.marks} <= {"full"}
    return always, [parameter.values for parameter in parameters if parameter.values not in always]


def test_what_is_left_out_is_marked():
    always, rest = of(pairwise("letter, number, answer, end", *AXES))
    assert always == [row for row in product(*AXES) if row in cover(product(*AXES))]
    assert sorted(always + rest) == sorted(product(*AXES)) and rest


def test_two_axes_lose_nothing():
    always, rest = of(pairwise("a, b", [1, 2, 3], [4, 5]))
    assert len(always) == 6 and not rest


def test_a_family_has_every_pair_of_test_and_value_and_of_values():
    rows = [(a, b) for a, b in product("abcde", [1, 2, 3, 4]) if b == 1 or a != "e"]
    family = Family("a, b", rows)
    cases = [of(mark) for mark in (family.case(), family.case(), family.complete())]
    for always, rest in cases:
        assert {a for a, _ in always} == set("abcde") and {b for _, b in always} == {1, 2, 3, 4}
        assert sorted(always + rest) == sorted(rows)
    assert set().union(*(always for always, _ in cases)) == set(rows)
    assert len(cases[0][0]) < len(rows)
    assert set(cases[0][0]) != set(cases[1][0])


def test_shared_runs_are_made_once(tmp_path):
    made = []

    def make(directory):
        made.append(directory)
        (directory / "file").touch()
        return {"place": directory}

    first = Shared(tmp_path / "runs")("of two, of one", make)
    again = Shared(tmp_path / "runs")("of two, of one", make)
    assert first == again == {"place": made[0]} and len(made) == 1 and (made[0] / "file").exists()


def test_a_run_that_failed_is_made_again(tmp_path):
    shared = Shared(tmp_path / "runs")
    with pytest.raises(ZeroDivisionError):
        shared("x", lambda _: 1 / 0)
    assert shared("x", lambda _: 3) == 3


def test_launches_are_counted():
    before = jobs.LAUNCHES.count
    subprocess.run([sys.executable, "-c", "", "tailrace"], check=True)
    assert jobs.LAUNCHES.count == before + 1
    subprocess.run([sys.executable, "-c", ""], check=True)
    assert jobs.LAUNCHES.count == before + 1
