# SPDX-License-Identifier: BSD-3-Clause
"""Interleaved rounds of a test over revisions, until the answers are clear or the time is spent."""

import os
import random
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tailrace.bench.document import say
from tailrace.bench.host import describe_machine
from tailrace.revisions import store
from tailrace.revisions.definition import Definition
from tailrace.revisions.numbers import RunFailedError, run_once
from tailrace.revisions.repository import BuildFailedError, Repository, Revision
from tailrace.revisions.verdicts import UNKNOWN, Verdict, judge

Values = dict[str, dict[tuple[str, int], float]]


@dataclass(frozen=True)
class Budget:
    """Rounds are measured until no verdict is open, but not longer than this. Two rounds are always
    measured.
    """

    seconds: float = 1200.0
    rounds: int = 100
    seed: int = 1


@dataclass
class Session:
    """Revisions with what was measured of them. `values`: by revision and number, of each round; `failed`:
    why revisions were left out.
    """

    repository: Repository
    test: Definition
    budget: Budget
    revisions: list[Revision] = field(default_factory=list)
    values: dict[str, Values] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    directories: dict[str, Path] = field(default_factory=dict)
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    rounds: int = 0
    interrupted: bool = False
    planned: int = 0
    """How many revisions are compared with the first, where it is known before they are chosen."""
    started: float = field(default_factory=time.monotonic)

    @property
    def results(self) -> Path:
        return self.repository.cache / "results.jsonl"

    def add(self, revisions: list[Revision]) -> None:
        """Builds revisions and warms them up; old results of the same test on this machine count on."""
        for revision in revisions:
            if revision.id in self.values or revision.id in self.failed:
                continue
            self.revisions.append(revision)
            self.prepare(revision)
        self.recall()

    def prepare(self, revision: Revision) -> None:
        say(f"building {revision.name} {revision.subject}")
        try:
            directory = self.repository.checked_out(revision, self.test)
            for _ in range(self.test.warmup):
                run_once(self.test, directory)
        except (BuildFailedError, RunFailedError) as error:
            self.leave_out(revision, str(error))
        else:
            self.directories[revision.id] = directory
            self.values[revision.id] = {}

    def leave_out(self, revision: Revision, why: str) -> None:
        say(f"{revision.name} is left out: {why}")
        self.failed[revision.id] = why
        self.directories.pop(revision.id, None)

    def recall(self) -> None:
        machine = describe_machine()
        for entry in store.entries(self.results):
            known = self.values.get(str(entry.get("revision")))
            if known is None or entry.get("test") != self.test.identity or entry.get("machine") != machine:
                continue
            for name, value in entry["numbers"].items():
                known.setdefault(name, {})[str(entry.get("session")), entry["round"]] = float(value)

    def measure(self, revisions: list[Revision]) -> None:
        """Rounds over these until their verdicts are clear. Ctrl-C ends them; what was measured counts."""
        begin = self.rounds
        try:
            while self.open(revisions, self.rounds - begin):
                self.round(revisions)
        except KeyboardInterrupt:
            self.interrupted = True
            say(f"interrupted: results so far are in {self.results}, worktrees in {self.repository.cache}")

    def open(self, revisions: list[Revision], rounds: int) -> bool:
        if not any(one.id in self.directories for one in revisions) or self.interrupted:
            return False
        if rounds < 2:
            return True
        spent = time.monotonic() - self.started >= self.budget.seconds or rounds >= self.budget.rounds
        return not spent and any(verdict.kind == UNKNOWN for *_, verdict in self.verdicts(revisions))

    def round(self, revisions: list[Revision]) -> None:
        """Each revision once, in an order that only the seed and the number of the round determine."""
        self.rounds += 1
        order = [one for one in revisions if one.id in self.directories]
        random.Random(f"{self.budget.seed} {self.rounds}").shuffle(order)
        say(f"round {self.rounds}: {' '.join(one.name for one in order)}")
        for revision in order:
            try:
                numbers = run_once(self.test, self.directories[revision.id])
            except RunFailedError as error:
                self.leave_out(revision, str(error))
            else:
                self.keep(revision, numbers)

    def keep(self, revision: Revision, numbers: dict[str, float]) -> None:
        for name, value in numbers.items():
            self.values[revision.id].setdefault(name, {})[self.name, self.rounds] = value
        entry = {
            "session": self.name, "round": self.rounds, "seed": self.budget.seed, "revision": revision.id,
            "test": self.test.identity, "test_name": self.test.name, "run": self.test.run,
            "machine": describe_machine(), "load": os.getloadavg()[0], "numbers": numbers,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        }  # fmt: skip
        store.append(self.results, entry)

    def numbers(self) -> list[str]:
        return list(dict.fromkeys(name for values in self.values.values() for name in values))

    def better(self, name: str) -> str:
        """Entries of a JSON have the name of their family before theirs."""
        of_family = (one for one in self.test.numbers if name == one.name or name.startswith(f"{one.name} "))
        return next(of_family).better

    def samples(self, revision: Revision, name: str) -> list[float]:
        return list(self.values.get(revision.id, {}).get(name, {}).values())

    def comparisons(self, measured: int) -> int:
        """Of how many verdicts at once none is to be a false alarm."""
        return max(1, len(self.numbers()) * (self.planned or measured - 1))

    def compare(self, base: Revision, other: Revision, name: str, comparisons: int) -> Verdict:
        a, b = (self.values.get(one.id, {}).get(name, {}) for one in (base, other))
        both = sorted(a.keys() & b.keys())
        return judge([a[key] for key in both], [b[key] for key in both], comparisons, self.better(name))

    def verdicts(self, revisions: list[Revision]) -> Iterator[tuple[str, Revision, Revision, Verdict]]:
        """Of each number, each revision with the first one that could be measured."""
        measured = [one for one in revisions if one.id not in self.failed]
        comparisons = self.comparisons(len(measured))
        for name in self.numbers():
            for other in measured[1:]:
                yield name, measured[0], other, self.compare(measured[0], other, name, comparisons)


def session_document(session: Session) -> dict[str, Any]:
    """Everything that was found, for --json, pages and comparisons."""
    verdicts = [
        {"number": name, "base": base.id, "revision": other.id, **verdict.as_dict()}
        for name, base, other, verdict in session.verdicts(session.revisions)
    ]
    return {
        "format": "tailrace-revisions-result", "format_version": 1,
        "test": session.test.name, "run": session.test.run, "identity": session.test.identity,
        "machine": describe_machine(), "seed": session.budget.seed, "rounds": session.rounds,
        "interrupted": session.interrupted,
        "revisions": [
            {
                "id": one.id, "name": one.name, "subject": one.subject, "date": one.date,
                "failed": session.failed.get(one.id),
                "numbers": {name: session.samples(one, name) for name in session.values.get(one.id, {})},
            }
            for one in session.revisions
        ],
        "better": {name: session.better(name) for name in session.numbers()},
        "verdicts": verdicts,
    }  # fmt: skip
