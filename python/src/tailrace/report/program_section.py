# SPDX-License-Identifier: BSD-3-Clause
"""What the page of a fragment program has: how it ended, its messages, and how to run it again."""

import shlex
from html import escape

from tailrace.fragments.record import SIMULATION
from tailrace.report.load import Run
from tailrace.report.parts import Listing, Number, Section, Table
from tailrace.report.program_text import linked, program_texts, statements_table
from tailrace.units import duration_text


def is_program(run: Run) -> bool:
    return run.simulation == SIMULATION


def program_section(run: Run, texts: dict[str, str]) -> Section:
    """How the program ended, a table of its messages with their places, where its time went, and its text."""
    problems = run.account.get("problems") or []
    failed = run.status != "finished"
    ended = "Not all fragments have run." if failed else "All fragments have run."
    rows = [
        [
            linked(place(one), one.get("file", ""), one.get("line", 0), texts),
            one.get("code", ""),
            one.get("severity", ""),
            one.get("text", ""),
        ]
        for one in problems
    ]
    table = Table(["place", "code", "", "message"], rows, heading="Messages of the program")
    notes = [ended, *([work] if (work := work_of_ranks(run)) else [])]
    pictures = [table, messages_whole(problems)] if rows else []
    pictures += [*statements_table(run, texts), *program_texts(run, texts, problems)]
    return Section("program", "Program", notes=notes, pictures=pictures)


def messages_whole(problems: list[dict]) -> Listing:
    """The messages with all that belongs to them, as the command said them."""
    lines = [
        line
        for one in problems
        for line in (f"{place(one)}: {one.get('severity', '')}: {one.get('text', '')}", *one.get("notes", []))
    ]
    return Listing(f'<pre class="said">{escape(chr(10).join(lines))}</pre>', heading="What they say")


def work_of_ranks(run: Run) -> str:
    """How many fragments each rank has executed, in a sentence; empty if it is not known."""
    executed = (run.account.get("fragments") or {}).get("executed") or []
    if not executed:
        return ""
    busy = sum(count > 0 for count in executed)
    mean = sum(executed) / len(executed)
    before = (run.account.get("fragments") or {}).get("executed_before") or 0
    earlier = f" {before:,} more were executed before it was resumed." if before else ""
    return (
        f"{busy} of {len(executed)} ranks executed {sum(executed):,} fragments: "
        f"{min(executed):,} to {max(executed):,} each, {mean:,.1f} on average.{earlier}"
    )


def place(problem: dict) -> str:
    return ":".join(str(problem.get(name, "")) for name in ("file", "line", "column"))


def program_numbers(run: Run) -> list[Number]:
    return [Number(duration_text(run.wall_s), "wall time", "without compilation")]


def program_command(run: Run) -> str:
    """A command line that runs the program again."""
    program = (run.account.get("config") or {}).get("program") or {}
    words = ["tailrace", "run", program.get("file", "PROGRAM.fa"), "-n", str(run.account.get("ranks", 1))]
    if run.account.get("threads", 1) != 1:
        words += ["-t", str(run.account["threads"])]
    for definition in program.get("defines") or []:
        words += ["-D", definition]
    arguments = program.get("arguments") or []
    return shlex.join([*words, *(["--", *arguments] if arguments else [])])
