# SPDX-License-Identifier: BSD-3-Clause
"""Changed programs end in messages: no traceback and no hang in any pass of the front end of the language."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fragment_texts import Programs, mutated
from tailrace.console import CommandError
from tailrace.fragments.check import check_program

LIMIT_S = 20


@contextmanager
def alarm() -> Iterator[None]:
    """Ends what takes longer than any of these programs may, whatever else the machine does."""

    def end(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def look(path: Path, text: str) -> int:
    """The number of errors; each has a place within the text, and all can be shown."""
    path.write_text(text)
    try:
        with alarm():
            problems = check_program(path)[1]
    except CommandError as error:
        assert "Fix: " in str(error)
        return 1
    problems.as_text()
    for problem in problems.shown():
        line, column = problem.place.line_and_column
        assert 1 <= line <= text.count("\n") + 1 and column >= 1 and problem.as_dict()
    return len(problems.errors)


@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_well_formed_programs_are_accepted(tmp_path, seed):
    for number in range(seed, seed + 20):
        assert look(tmp_path / "p.fa", Programs(number).program()) == 0, Programs(number).program()


def changed(tmp_path: Path, first: int, count: int) -> int:
    refused = 0
    for number in range(first, first + count):
        text = mutated(Programs(number // 10).program(), number)
        try:
            refused += look(tmp_path / "p.fa", text) > 0
        except Exception as error:
            raise AssertionError(f"seed {number}:\n{text}") from error
    return refused


@pytest.mark.parametrize("first", range(0, 20_000, 1000))
def test_changed_programs_end_in_messages(tmp_path, first):
    assert changed(tmp_path, first, 1000) > 500


@pytest.mark.full
@pytest.mark.parametrize("first", range(100_000, 1_100_000, 10_000))
def test_many_changed_programs_end_in_messages(tmp_path, first):
    assert changed(tmp_path, first, 10_000) > 5_000
