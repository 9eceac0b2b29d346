# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace profile fragments`: what the traces in a run directory say of a fragment program."""

import json as json_module
import sys
from pathlib import Path

from tailrace.console import EXIT_OK, EXIT_RUN_FAILED, CommandError
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
            f"{directory}: {error}. Fix: the directory of a run of a fragment program, or of poisson, that "
            "was started with --out DIR and without --trace off"
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
