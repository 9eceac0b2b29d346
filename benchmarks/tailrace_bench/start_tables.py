# SPDX-License-Identifier: BSD-3-Clause
"""The tables of `tailrace bench start`."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import coverage_text, make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict

MILLI = 1e3
# A set-up takes at most so many steps.
SETUP_AIM = 2


def print_document(document: dict[str, Any], console: Console) -> None:
    rows = document["rows"]
    console.print(coverage_text(rows[0]["step_s"]))
    print_starts(rows, console)
    commands = [row for row in rows if "command" in row]
    if commands:
        print_commands(commands, console)
    for line in verdicts(rows):
        console.print(line)
    console.print(watch_text(document["conditions"]))


def print_starts(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Before the first step and after the last, ms",
        "case, ranks x threads",
        "launch",
        "set-up",
        "its memory alone",
        "step",
        "set-up in steps",
        "end",
    )
    for row in rows:
        table.add_row(
            name_of(row),
            *(
                with_interval(from_dict(row[key]), MILLI)
                for key in ("launch_s", "setup_s", "memory_s", "step_s")
            ),
            with_interval(from_dict(row["setup_steps"])),
            with_interval(from_dict(row["end_s"]), MILLI),
        )
    console.print(table)
    console.print()


def print_commands(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "What `tailrace run` adds to the native program, ms",
        "case, ranks x threads",
        "to the first step",
        "of the native program",
        "from the last step to the prompt",
        "of the native program",
    )
    for row in rows:
        command = row["command"]
        before = MILLI * (row["launch_s"]["median"] + row["setup_s"]["median"])
        table.add_row(
            name_of(row),
            with_interval(from_dict(command["before_s"]), MILLI),
            f"{before:.1f}",
            with_interval(from_dict(command["after_s"]), MILLI),
            f"{MILLI * row['end_s']['median']:.1f}",
        )
    console.print(table)
    console.print()


def name_of(row: dict[str, Any]) -> str:
    return f"{row['simulation']} {row['case']}, {row['ranks']} x {row['threads']}"


def verdicts(rows: list[dict[str, Any]]) -> list[str]:
    """How many rows meet the aim, and those that do not."""
    missed = [row for row in rows if row["setup_steps"]["median"] > SETUP_AIM]
    lines = [
        f"aim: a set-up of at most {SETUP_AIM} steps: met in {len(rows) - len(missed)} of {len(rows)} rows"
    ]
    return lines + [f"  missed: {name_of(row)}, {row['setup_steps']['median']:.1f} steps" for row in missed]
