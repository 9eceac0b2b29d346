# SPDX-License-Identifier: BSD-3-Clause
"""Finds the revision with which a test became slower."""

from dataclasses import dataclass, field
from math import ceil, log, log2
from statistics import median

from tailrace.bench.document import say
from tailrace.console import EXIT_OK, CommandError
from tailrace.revisions.answers import EXIT_CANNOT_JUDGE
from tailrace.revisions.repository import Revision
from tailrace.revisions.session import Session
from tailrace.revisions.verdicts import FASTER, SAME, SLOWER, UNKNOWN


@dataclass
class Found:
    """The first revisions that may be slow: one, or several where those between could not be judged."""

    good: Revision
    suspects: list[Revision]
    number: str
    asked: list[Revision] = field(default_factory=list)


def bisect(session: Session, good: Revision, bad: Revision) -> Found:
    """Halves the history, by first parents, until the revision is found. Each that is asked is measured in
    rounds together with both ends, and asked again when the answer is weak.
    """
    ids = session.repository.between(good.id, bad.id)
    if not ids or ids[-1] != bad.id:
        raise CommandError(
            f"--bisect: {bad.name} is not a descendant of {good.name}. {session.repository.hint()}"
        )
    history = [session.repository.describe(one, one[:10]) for one in ids[:-1]] + [bad]
    session.planned = 1 + ceil(log2(len(history)))
    session.add([good, bad])
    session.measure([good, bad])
    number = changed_number(session, good, bad)
    return search(session, good, history, number)


def changed_number(session: Session, good: Revision, bad: Revision) -> str:
    """The number by which the bad end is slower; raises CommandError, with the exit status, if none is."""
    for end in (good, bad):
        if end.id in session.failed:
            raise CommandError(f"--bisect: {end.name}: {session.failed[end.id]}", EXIT_CANNOT_JUDGE)
    verdicts = {name: verdict.kind for name, *_, verdict in session.verdicts([good, bad])}
    slower = [name for name, kind in verdicts.items() if kind == SLOWER]
    if slower:
        return slower[0]
    if UNKNOWN in verdicts.values():
        text = f"--bisect: whether {bad.name} is slower than {good.name} is undecided. Fix: more --time"
        raise CommandError(text, EXIT_CANNOT_JUDGE)
    raise CommandError(f"--bisect: {bad.name} is not slower than {good.name}. Fix: other ends", EXIT_OK)


def search(session: Session, good: Revision, history: list[Revision], number: str) -> Found:
    """`first`, the first that is known to be slow, and `last`, the last known to be fast, close in on each
    other; revisions that cannot be judged are passed over to their neighbours.
    """
    last, first, found = -1, len(history) - 1, Found(good, [], number)
    while candidates := [at for at in range(last + 1, first) if history[at].id not in session.failed]:
        middle = min(candidates, key=lambda at: abs(2 * at - last - first))
        revision = history[middle]
        found.asked.append(revision)
        session.add([revision])
        if revision.id in session.failed:
            continue
        if is_slow(session, good, revision, history[-1], number):
            first = middle
        else:
            last = middle
        if session.interrupted:
            break
    found.suspects = history[last + 1 : first + 1]
    return found


def is_slow(session: Session, good: Revision, revision: Revision, bad: Revision, number: str) -> bool:
    """Whether a revision belongs to the bad end. When verdicts leave it open, the nearer end decides."""
    session.measure([good, revision, bad])
    comparisons = session.comparisons(3)
    to_good = session.compare(good, revision, number, comparisons).kind
    to_bad = session.compare(revision, bad, number, comparisons).kind
    say(f"{revision.name}: {to_good} against {good.name}; {bad.name} is {to_bad} against it")
    if to_good in (SAME, FASTER) and to_bad == SLOWER:
        return False
    if to_good == SLOWER and to_bad in (SAME, FASTER):
        return True
    levels = [log(median(session.samples(one, number))) for one in (good, revision, bad)]
    return abs(levels[2] - levels[1]) < abs(levels[1] - levels[0])
