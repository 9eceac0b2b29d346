# SPDX-License-Identifier: BSD-3-Clause
"""Options that choose among known words."""

from tailrace.console import CommandError


def known_words(
    option: str, given: list[str] | None, known: tuple[str, ...], usual: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The words given, or the usual ones, or all. Errors: a word that is not known."""
    for word in given or ():
        if word not in known:
            raise CommandError(f"{option} {word}: unknown. Choose one of {', '.join(known)}.")
    return tuple(given or usual or known)
