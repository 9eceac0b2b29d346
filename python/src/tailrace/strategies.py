# SPDX-License-Identifier: BSD-3-Clause
"""The strategies of `--write` as texts: a name, perhaps a number, perhaps more, such as "ranks:2,send". What
is wrong with one, the native programs say.
"""

import re

# The numbers of those that are named without one, as the native programs have them (`--list`).
USUAL_NUMBERS = {"threads": 2, "uring": 2, "ranks": 1, "spawn": 1, "spawn-each": 2}


def name_of(text: str) -> str:
    """The name of a strategy or sink in a text or a form, such as "threads[:BUFFERS]"."""
    return re.split(r"[:\[]", text, maxsplit=1)[0]


def number_of(strategy: str) -> int | None:
    """Buffers, ranks or processes; None for strategies that count none of these."""
    name = name_of(strategy)
    found = re.match(r":(\d+)(?:,|$)", strategy[len(name) :])
    return int(found[1]) if found and name in USUAL_NUMBERS else USUAL_NUMBERS.get(name)


def dedicated_ranks(strategy: str | None) -> int:
    """Ranks of the job that only write; they come on top of those that compute."""
    return number_of(strategy) or 0 if strategy and name_of(strategy) == "ranks" else 0


def spawned_processes(strategy: str | None) -> int:
    """Processes that the ranks start to write, for which the launcher must have places."""
    return number_of(strategy) or 0 if strategy and name_of(strategy) in ("spawn", "spawn-each") else 0
