# SPDX-License-Identifier: BSD-3-Clause
"""What the options of several benchmarks have in common."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tailrace.console import CommandError

Page = Annotated[Path, typer.Option("--html", metavar="FILE", help="The page to make.")]


def known_words(
    option: str, given: list[str] | None, known: tuple[str, ...], usual: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The words given, or the usual ones, or all. Errors: a word that is not known."""
    for word in given or ():
        if word not in known:
            raise CommandError(f"{option} {word}: unknown. Choose one of {', '.join(known)}.")
    return tuple(given or usual or known)


def refuse(given: dict[str, Any], where: str) -> None:
    """Options that have no meaning here must not be given."""
    for option, value in given.items():
        if value:
            raise CommandError(f"{option} has no meaning {where}. Fix: leave it out.")
