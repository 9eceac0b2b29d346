# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace profile fragments`: what the traces in a run directory say of a fragment program."""

import json as json_module
import sys
from pathlib import Path

from rich.table import Table

from tailrace.console import EXIT_OK, EXIT_RUN_FAILED, CommandError
from tailrace.fragment_profile.compare import Comparison, compare
from tailrace.fragment_profile.profile import NoRecordsError, Profile, read_profile
from tailrace.fragment_profile.rules import RULES, explain, findings
from tailrace.fragment_profile.text import print_findings, print_profile
from tailrace.units import wide_console


def read(directory: Path) -> Profile:
    """The profile of a run directory, or an error that says what to do."""
    if not directory.is_dir():
        raise CommandError(f"{directory}: there is no such run directory.")
    try:
        return read_profile(directory)
    except NoRecordsError as error:
        raise CommandError(
            f"{directory}: {error}. Fix: the directory of a run of a fragment program that was started with "
            "--trace on, or of poisson, without --trace off"
        ) from None


def show_run(directory: Path, info: Path | None, rule: str | None, json: bool) -> int:
    """Returns the exit status."""
    if rule is not None and rule not in (names := [one.name for one in RULES]):
        raise CommandError(f"--explain {rule}: there is no such rule. Give one of {', '.join(names)}.")
    profile = read(directory)
    if rule is not None:
        print(explain(rule, profile))
        return EXIT_OK
    if json:
        advice = [one.as_dict() for one in findings(profile)]
        print(json_module.dumps(profile.as_dict() | {"advice": advice}, indent=2))
    else:
        console = wide_console()
        print_profile(profile, console)
        print_findings(profile, console)
    if info is not None:
        from tailrace.fragment_profile.pictures import write_pictures

        written = write_pictures(profile.recorded, info)
        print(f"tailrace: {len(written)} pictures in {info}", file=sys.stderr)
    for error in profile.errors:
        print(f"tailrace: error: {error}", file=sys.stderr)
    return EXIT_RUN_FAILED if profile.errors else EXIT_OK


COLUMNS = ("", "first", "second", "ratio")


def compare_runs(first: Path, second: Path, page: Path | None, json: bool) -> None:
    """Says what changed from the first run to the second."""
    profiles = [read(first), read(second)]
    found = compare(*profiles)
    if json:
        print(json_module.dumps(found.as_dict(), indent=2))
    else:
        print_comparison(found)
    if page is not None:
        write_comparison(page, found, [first, second], profiles)
        print(f"tailrace: {page}", file=sys.stderr)


def print_comparison(found: Comparison) -> None:
    console = wide_console()
    for sentence in found.sentences:
        console.print(sentence, markup=False, soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, justify="right" if column else "left")
    for row in found.rows:
        table.add_row(*row.cells())
    console.print()
    console.print(table)


def write_comparison(path: Path, found: Comparison, runs: list[Path], profiles: list[Profile]) -> None:
    """A page with the sentences, the table, and the sections of both runs."""
    from tailrace.report.fragments_section import fragments_section
    from tailrace.report.page import write_page
    from tailrace.report.parts import Section
    from tailrace.report.parts import Table as PageTable

    rows = [row.cells() for row in found.rows]
    table = PageTable(list(COLUMNS), rows, heading="Numbers", numeric=(1, 2, 3))
    sections = [Section("changes", "What changed", notes=found.sentences, pictures=[table])]
    for name, profile, directory in zip(("first", "second"), profiles, runs, strict=True):
        section = fragments_section(profile)
        section.key, section.title = name, f"The {name}: {directory}"
        sections.append(section)
    write_page(path, "Two runs beside each other", " and ".join(map(str, runs)), sections)
