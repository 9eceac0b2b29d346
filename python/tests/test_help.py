# SPDX-License-Identifier: BSD-3-Clause
"""The help of every command as a terminal shows it."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

import command
from tailrace.cli import COMMANDS, build_app


def leaves(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield name, command
    for part, below in getattr(command, "commands", {}).items():
        yield from leaves(below, f"{name} {part}")


EVERY = dict(leaves(typer.main.get_command(build_app([])), "tailrace"))


def test_every_command_is_looked_at():
    assert {f"tailrace {name}" for name in COMMANDS} <= set(EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_taken_for_markup(name):
    """Words in square brackets vanish from the terminal."""
    command = EVERY[name]
    assert "[" not in (command.help or "")
    texts = {parameter.name: getattr(parameter, "help", None) or "" for parameter in command.params}
    assert [name for name, text in texts.items() if "[" in text] == []
    assert [name for name, text in texts.items() if not text and name != "help"] == []


NUMBERS = [
    (name, parameter)
    for name, command in EVERY.items()
    for parameter in command.params
    if parameter.type.name.startswith("float")
]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(("name", "parameter"), NUMBERS, ids=lambda one: getattr(one, "name", one))
def test_numbers_are_finite(name, parameter, value):
    given = [value] if parameter.multiple else value
    with pytest.raises(Exception, match=r"not (a finite number|in the range)") as refused:
        parameter.process_value(typer.Context(EVERY[name]), given)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("words", [["-h"], ["run", "-h"], ["checkpoint", "list", "-h"]])
def test_the_short_option_for_help(words):
    short, long = command.tailrace(*words), command.tailrace(*words[:-1], "--help")
    assert (short.status, short.out) == (0, long.out)
