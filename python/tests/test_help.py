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


@pytest.mark.parametrize("words", [["-h"], ["run", "-h"], ["checkpoint", "list", "-h"]])
def test_the_short_option_for_help(words):
    short, long = command.tailrace(*words), command.tailrace(*words[:-1], "--help")
    assert (short.status, short.out) == (0, long.out)
