# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace revisions`."""

import re
from pathlib import Path
from typing import Annotated

import typer

from tailrace.console import CommandError

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEST REV...",
        help="A test of revisions.toml, or a command in quotes; then ids, tags, ranges A..B, or . as it is.",
    ),
]
Repo = Annotated[Path, typer.Option("--repo", metavar="DIR", help="The git repository (default: here).")]
Build = Annotated[
    str, typer.Option("--build", metavar="COMMAND", help="Builds a revision, if TEST is a command.")
]
Numbers = Annotated[
    list[str] | None,
    typer.Option(
        "--number",
        metavar="NAME=REGEX",
        help="A number in the output of a command, or wall, cpu, memory, instructions, messages.",
    ),
]
Ends = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--bisect",
        metavar="GOOD BAD",
        help="Find, without REV, the one that made it slower.",
    ),
]
Pair = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        "--compare", metavar="A.json B.json", help="Compare results of two machines or builds instead."
    ),
]
Asv = Annotated[
    Path | None,
    typer.Option("--asv", metavar="DIR", help="Show the steps in a result directory of asv instead."),
]
Every = Annotated[int, typer.Option(min=1, metavar="N", help="Of a range every Nth revision.")]
Since = Annotated[str | None, typer.Option(metavar="DATE", help="Of a range what is newer.")]
Time = Annotated[str, typer.Option("--time", metavar="TIME", help="Time for measuring: 90s, 20m, 2h.")]
Rounds = Annotated[int, typer.Option(min=2, metavar="N", help="At most so many rounds.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Of the order in each round.")]
JsonFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write all results here.")]
Junit = Annotated[Path | None, typer.Option(metavar="FILE", help="Also write verdicts as JUnit.")]
Markdown = Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the table as Markdown.")]
Page = Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a page of plots and tables.")]
Clean = Annotated[
    bool, typer.Option("--clean", help="Remove the worktrees of the repository from the cache.")
]


def revisions(
    words: Words = None,
    repo: Repo = Path(),
    build: Build = "",
    number: Numbers = None,
    bisect: Ends = None,
    compare: Pair = None,
    asv: Asv = None,
    every: Every = 1,
    since: Since = None,
    time: Time = "20m",
    rounds: Rounds = 100,
    seed: Seed = 1,
    json: JsonFile = None,
    junit: Junit = None,
    markdown: Markdown = None,
    page: Page = None,
    clean: Clean = False,
) -> None:
    """Compare revisions of a git repository by a test: which made it slower?

    Exit status: 0 the last revision, or BAD, is not slower than the first, or GOOD; 1 it is; 125 it cannot be
    built, run or judged, which `git bisect run` passes over; 4 interrupted.
    """
    from tailrace.revisions.session import Budget
    from tailrace.revisions.start import Request, measure_revisions

    if asv:
        from tailrace.revisions.asv import show_asv
        from tailrace.units import wide_console

        raise typer.Exit(show_asv(asv, wide_console()))
    if clean or compare:
        raise typer.Exit(other_work(repo, compare))
    test, *wanted = words or [""]
    files = {"json": json, "junit": junit, "markdown": markdown, "page": page}
    budget = Budget(seconds(time), rounds, seed)
    request = Request(test, wanted, repo, build, number or [], bisect, every, since, budget, **files)
    raise typer.Exit(measure_revisions(request))


def other_work(repo: Path, compare: tuple[Path, Path] | None) -> int:
    """Comparing results that are there, or cleaning."""
    from tailrace.revisions.answers import compare_documents
    from tailrace.revisions.repository import Repository
    from tailrace.units import wide_console

    if compare:
        return compare_documents(*compare, wide_console())
    Repository.at(repo).clean()
    return 0


def seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|min|h)?", text)
    if not match:
        raise CommandError(f"--time {text}: write 90s, 20m or 2h.")
    return float(match[1]) * {"s": 1, "m": 60, "min": 60, "h": 3600, None: 1}[match[2]]


def register(app: typer.Typer) -> None:
    app.command()(revisions)
