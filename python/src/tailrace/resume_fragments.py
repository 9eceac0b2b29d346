# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace resume DIR` of a fragment program: everything that it takes is in its run directory."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace.console import CommandError
from tailrace.fragments.compile import Source
from tailrace.launch import check_bind
from tailrace.resume import START, START_FILE, check_unfinished
from tailrace.run_files import COUNT, TABLE, read_table
from tailrace.run_fragments import KEPT_PROGRAM, NATIVE, TRACES, ProgramRequest, run_file
from tailrace.run_lock import held

PROGRAM_START = START | {"threads": COUNT, "options": TABLE, "account": TABLE, "digests": TABLE}


@dataclass(frozen=True)
class ProgramResume:
    """What `tailrace resume` was asked; what is None stays as the run had it."""

    run_dir: Path
    ranks: int | None = None
    threads: int | None = None
    bind: str = "auto"
    launcher: str | None = None
    oversubscribe: bool = False
    as_started: bool = False
    """Goes on although the sources have changed since."""
    report: bool = True
    json: bool = False
    native_options: dict[str, str] = field(default_factory=dict)


def is_of_program(run_dir: Path) -> bool:
    return read_table(run_dir / START_FILE, START).table.get("program") == NATIVE


def resume_program(request: ProgramResume) -> int:
    """The whole command; returns the exit status."""
    check_bind(request.bind)
    with held(request.run_dir) as lock:
        check_unfinished(request.run_dir)
        return resume_held(request, lock)


def resume_held(request: ProgramResume, lock: int) -> int:
    start = read_start(request.run_dir)
    ranks, threads = request.ranks or start["ranks"], request.threads or start["threads"]
    program = program_in(request.run_dir)
    check_unchanged(program, start["digests"], request)
    again = ProgramRequest(
        Source(program),
        start["arguments"],
        ranks,
        threads,
        request.bind,
        request.launcher,
        request.oversubscribe,
        request.run_dir,
        report=request.report,
        json=request.json,
        trace=(request.run_dir / TRACES).is_dir(),
        resumes=True,
        lock=lock,
        native_options=start["options"] | request.native_options,
    )
    return run_file(again, program, start["account"] | {"ranks": ranks, "threads": threads}, [])


def check_unchanged(program: Path, digests: dict[str, Any], request: ProgramResume) -> None:
    """Refuses a program that is not the one that was started, and names what has changed. Sources that are
    gone say nothing: the run directory holds what was made of them.
    """
    files = {Path(name): digest for name, digest in digests.items() if Path(name).is_file()}
    changed = [path for path, digest in files.items() if digest_of(path) != digest]
    if program.absolute() in changed:
        raise CommandError(f"{program}: is not the program that was started. Fix: put it back")
    if changed and not request.as_started:
        verb = "has" if len(changed) == 1 else "have"
        raise CommandError(
            f"{', '.join(map(str, changed))} {verb} changed since the run was started, and its checkpoint is "
            "of the program as it was.\n  Fix: put back what has changed, start anew with tailrace run, or "
            "continue as it was with --as-started"
        )


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_start(run_dir: Path) -> dict[str, Any]:
    found = read_table(run_dir / START_FILE, PROGRAM_START)
    missing = [f"{run_dir / START_FILE}: {key} is missing" for key in PROGRAM_START if key not in found.table]
    if problems := found.problems or missing:
        raise CommandError(
            f"{problems[0]}. It says how the run was started. Fix: start {NATIVE} with --resume, "
            "--checkpoints and the program with its arguments"
        )
    return found.table


def program_in(run_dir: Path) -> Path:
    found = [run_dir / f"{KEPT_PROGRAM}{suffix}" for suffix in (".so", ".json")]
    program = next((path for path in found if path.is_file()), None)
    if program is None:
        raise CommandError(f"{found[0]}: is missing. It is the program that was run. Fix: copy it there")
    return program
