# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of tests: the whole of one runs with the marker `full`, every pair of values always."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

Row = tuple[Any, ...]
# A value of one axis, or of two together: the number of the axis and the value, each.
Places = tuple[tuple[int, Any], ...]


def places(row: Row, strength: int) -> set[Places]:
    """Returns the values of a row, for a strength of one, or its pairs of values, for a strength of two."""
    return set(itertools.combinations(enumerate(row), min(strength, len(row))))


def cover(rows: list[Row], strength: int = 2, seen: set[Places] | None = None) -> list[Row]:
    """Chooses rows that hold every pair of values (or every value, for a strength of one) that is in any row.

    The row that adds the most comes first; among equals the one that adds the most pairs to `seen`, which is
    brought up to date, and then the first of the list.
    """
    seen = set() if seen is None else seen
    covers = {row: places(row, strength) for row in rows}
    pairs = {row: places(row, 2) for row in rows}
    missing = set().union(*covers.values())
    chosen = []
    while missing:
        best = max(rows, key=lambda row: (len(covers[row] & missing), len(pairs[row] - seen)))
        chosen.append(best)
        missing -= covers[best]
        seen |= pairs[best]
    return chosen


def product(*axes: Sequence[Any]) -> list[Row]:
    """Returns every combination of the values."""
    return list(itertools.product(*axes))


def parametrized(names: Sequence[str], rows: list[Row], chosen: list[Row]) -> pytest.MarkDecorator:
    """Gives a test all rows; those that were not chosen have the marker `full`."""
    left = [pytest.param(*row, marks=pytest.mark.full) for row in rows if row not in chosen]
    return pytest.mark.parametrize(names, [pytest.param(*row) for row in rows if row in chosen] + left)


def matrix(names: str, axes: Sequence[Sequence[Any]], allowed: Callable[..., bool] | None, strength: int):
    rows = [row for row in product(*axes) if allowed is None or allowed(*row)]
    return parametrized([name.strip() for name in names.split(",")], rows, cover(rows, strength))


def pairwise(
    names: str, *axes: Sequence[Any], allowed: Callable[..., bool] | None = None
) -> pytest.MarkDecorator:
    """Parametrizes a test with every combination of the values of its axes that is allowed, one axis for each
    comma-separated name. A cover of all pairs runs always, the rest with the marker `full`.
    """
    return matrix(names, axes, allowed, 2)


def each_value(
    names: str, *axes: Sequence[Any], allowed: Callable[..., bool] | None = None
) -> pytest.MarkDecorator:
    """Does the same with a cover of all values, for axes whose pairs another test has."""
    return matrix(names, axes, allowed, 1)


class Family:
    """Tests that all have the same matrix of two axes: with the tests themselves as the third axis, every
    pair of values runs always.

    Each test has each value of both axes at least once, and prefers the combinations that no test before it
    had; what no test has had in the end, the last one has (`complete`).
    """

    def __init__(self, names: str, rows: list[Row]) -> None:
        self.names = [name.strip() for name in names.split(",")]
        self.rows = rows
        self.seen: set[Places] = set()
        self.chosen: set[Row] = set()

    def case(self, rows: list[Row] | None = None) -> pytest.MarkDecorator:
        """Parametrizes one of the tests, with some of the rows if not with all."""
        rows = self.rows if rows is None else rows
        chosen = cover(rows, 1, self.seen)
        self.chosen |= set(chosen)
        return parametrized(self.names, rows, chosen)

    def complete(self) -> pytest.MarkDecorator:
        """Parametrizes the last of the tests, which has every combination that none had before."""
        chosen = cover(self.rows, 1, self.seen) + [row for row in self.rows if row not in self.chosen]
        self.chosen |= set(self.rows)
        return parametrized(self.names, self.rows, chosen)
