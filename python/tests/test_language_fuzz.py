# SPDX-License-Identifier: BSD-3-Clause
"""Changed programs end in messages: no traceback and no hang in any pass of the front end of the language."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import pytest

from fragment_texts import Programs, mutated
from tailrace.console import CommandError
from tailrace.fragments.check import check_source
from tailrace.fragments.source import source_of

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


@pytest.fixture(scope="module", autouse=True)
def included(tmp_path_factory) -> Iterator[None]:
    """What programs may include: a part, and one that includes itself."""
    place = tmp_path_factory.mktemp("included")
    (place / "part.fa").write_text("#define B $A + 1\nC++ sub part(name r) ${{ r = 1; $}}\n")
    (place / "loop.fa").write_text('#include "loop.fa"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        yield


def look(text: str) -> int:
    """The number of errors; each has a place within its file, and all can be shown."""
    try:
        with alarm():
            problems = check_source(source_of(text.encode(), Path("p.fa"), "p.fa"))[1]
    except CommandError as error:
        assert "Fix: " in str(error)
        return 1
    problems.as_text()
    for problem in problems.shown():
        line, column = problem.place.line_and_column
        assert 1 <= line <= problem.place.file.text.count("\n") + 1 and column >= 1 and problem.as_dict()
    return len(problems.errors)


@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_well_formed_programs_are_accepted(seed):
    for number in range(seed, seed + 20):
        assert look(program(number)) == 0, program(number)


@lru_cache(maxsize=1)
def program(seed: int) -> str:
    """Of which the next ones are changes."""
    return Programs(seed).program()


def changed(first: int, count: int) -> int:
    refused = 0
    for number in range(first, first + count):
        text = mutated(program(number // 10), number)
        try:
            refused += look(text) > 0
        except Exception as error:
            raise AssertionError(f"seed {number}:\n{text}") from error
    return refused


@pytest.mark.parametrize("first", range(0, 3_000, 1000))
def test_changed_programs_end_in_messages(first):
    assert changed(first, 1000) > 500


@pytest.mark.full
@pytest.mark.parametrize("first", range(100_000, 1_100_000, 10_000))
def test_many_changed_programs_end_in_messages(first):
    assert changed(first, 10_000) > 5_000
