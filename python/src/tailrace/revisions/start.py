# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace revisions` as the command asks for it."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.bench.document import check_writable
from tailrace.console import EXIT_NO, EXIT_STOPPED, CommandError
from tailrace.revisions.answers import exit_status, print_answer, write_junit, write_markdown
from tailrace.revisions.bisection import bisect
from tailrace.revisions.definition import Definition, find_test
from tailrace.revisions.repository import Repository, check_date
from tailrace.revisions.session import Budget, Session, session_document
from tailrace.units import wide_console


@dataclass(frozen=True)
class Request:
    """What was asked; `ends`: the good and the bad revision of a bisection."""

    test: str
    revisions: list[str]
    repository: Path
    build: str = ""
    numbers: list[str] = field(default_factory=list)
    ends: tuple[str, str] | None = None
    every: int = 1
    since: str | None = None
    budget: Budget = field(default_factory=Budget)
    json: Path | None = None
    junit: Path | None = None
    markdown: Path | None = None
    page: Path | None = None


def measure_revisions(request: Request) -> int:
    """The whole command; returns the exit status."""
    if not request.test:
        raise CommandError("no test. Give one of revisions.toml, or a command in quotes, then revisions.")
    for option in ("json", "junit", "markdown", "page"):
        check_writable(getattr(request, option), f"--{option}")
    if request.since:
        check_date(request.since)
    repository = Repository.at(request.repository)
    test = find_test(request.test, repository.path, request.build, request.numbers)
    return bisected(request, repository, test) if request.ends else compared(request, repository, test)


def compared(request: Request, repository: Repository, test: Definition) -> int:
    if not request.revisions:
        raise CommandError("no revisions. Give ids, tags, ranges such as v1..main, or . for the work tree.")
    session = Session(repository, test, request.budget)
    try:
        session.add(repository.revisions(request.revisions, request.every, request.since))
    except KeyboardInterrupt:
        session.interrupted = True
    session.measure(session.revisions)
    publish(session, request)
    if session.interrupted:
        return EXIT_STOPPED
    return exit_status(session_document(session))


def bisected(request: Request, repository: Repository, test: Definition) -> int:
    assert request.ends is not None
    if request.revisions or request.every != 1 or request.since:
        more = " ".join(request.revisions) or ("--since" if request.since else "--every")
        raise CommandError(f"{more}: not with --bisect, which asks what it needs. Fix: leave it out")
    session = Session(repository, test, request.budget)
    ends = repository.revisions(list(request.ends))
    if len(ends) != 2:
        raise CommandError(f"--bisect {' '.join(request.ends)}: one revision. Name a good and a bad one.")
    good, bad = ends
    found = bisect(session, good, bad)
    session.revisions.sort(key=lambda one: [good.id, *repository.between(good.id, bad.id)].index(one.id))
    publish(session, request)
    console = wide_console()
    names = ", ".join(f"{one.name} ({one.subject})" for one in found.suspects)
    console.print(f"{found.number}: slower since {names}; asked {len(found.asked)} revisions", markup=False)
    if session.interrupted:
        return EXIT_STOPPED
    return EXIT_NO


def publish(session: Session, request: Request) -> None:
    document = session_document(session)
    print_answer(document, wide_console())
    if request.json:
        request.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if request.junit:
        write_junit(document, request.junit)
    if request.markdown:
        write_markdown(document, request.markdown)
    if request.page:
        from tailrace.revisions.page import write_revisions_page

        write_revisions_page(document, request.page)
