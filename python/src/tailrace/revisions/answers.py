# SPDX-License-Identifier: BSD-3-Clause
"""The answers on the terminal, in Markdown and as JUnit; all from the document of a session."""

import json
from pathlib import Path
from textwrap import shorten
from typing import Any
from xml.etree import ElementTree

from rich.console import Console

from tailrace.bench.document import make_table
from tailrace.bench.stats import spread
from tailrace.console import EXIT_NO, EXIT_OK, CommandError
from tailrace.revisions.steps import find_steps
from tailrace.revisions.store import is_number
from tailrace.revisions.verdicts import KINDS, SLOWER, UNKNOWN, Verdict, judge_apart
from tailrace.units import significant

EXIT_CANNOT_JUDGE = 125  # what `git bisect run` passes over


def exit_status(document: dict[str, Any]) -> int:
    """1 if the last revision is slower than the first; 125 if it could not be built, run or judged."""
    last = document["revisions"][-1]
    kinds = {one["kind"] for one in document["verdicts"] if one["revision"] == last["id"]}
    if last["failed"]:
        return EXIT_CANNOT_JUDGE
    if SLOWER in kinds:
        return EXIT_NO
    return EXIT_CANNOT_JUDGE if UNKNOWN in kinds else EXIT_OK


def verdict_of(entry: dict[str, Any]) -> Verdict:
    return Verdict(**{name: entry[name] for name in Verdict.__dataclass_fields__})


def ratio_text(verdict: Verdict) -> str:
    if verdict.rounds == 0:
        return "-"
    if verdict.exact:
        return f"{verdict.ratio:.4g}"
    return f"{verdict.ratio:.3f} ({verdict.low:.3f} .. {verdict.high:.3f})"


MAX_REASON = 60  # characters in a table; the page and the log have all of them
COLUMNS = ("number", "revision", "median", "over the first", "rounds", "verdict", "subject")


def rows(document: dict[str, Any]) -> list[list[str]]:
    """A row for each number of each revision, and for each that has none."""
    verdicts = {(one["number"], one["revision"]): verdict_of(one) for one in document["verdicts"]}
    found = []
    for name in document["better"]:
        for one in document["revisions"]:
            samples = one["numbers"].get(name)
            if not samples or one["failed"]:
                continue
            verdict = verdicts.get((name, one["id"]))
            texts = (ratio_text(verdict), str(verdict.rounds), verdict.text) if verdict else ("", "", "")
            found.append([name, one["name"], significant(spread(samples).median, 5), *texts, one["subject"]])
    for one in document["revisions"]:
        if one["failed"]:
            why = shorten(one["failed"].splitlines()[0], MAX_REASON, placeholder=" ...")
            found.append(["", one["name"], "", "", "", f"left out: {why}", one["subject"]])
    return found


def steps_of(document: dict[str, Any]) -> list[tuple[str, dict, dict, float]]:
    """Number, the revisions before and at each step, and the factor; of histories of at least three
    revisions.
    """
    found = []
    revisions = document["revisions"]
    for name in document["better"] if len(revisions) > 2 else ():
        samples = [None if one["failed"] else one["numbers"].get(name) for one in revisions]
        values = [spread(some).median if some else None for some in samples]
        found += [
            (name, revisions[step.before], revisions[step.at], step.ratio) for step in find_steps(values)
        ]
    return found


def step_text(name: str, before: dict, at: dict, ratio: float) -> str:
    return f"{name}: times {ratio:.3g} between {before['name']} and {at['name']} ({at['subject']})"


def print_answer(document: dict[str, Any], console: Console) -> None:
    table = make_table(document["test"], *COLUMNS)
    for column in (1, 5, 6):
        table.columns[column].justify = "left"
    for row in rows(document):
        table.add_row(*row)
    console.print(table, markup=False)
    for step in steps_of(document):
        console.print(f"step: {step_text(*step)}", markup=False)


def write_markdown(document: dict[str, Any], path: Path) -> None:
    def line(cells: Any) -> str:
        return f"| {' | '.join(str(cell).replace('|', '/') for cell in cells)} |\n"

    text = f"## {document['test']}\n\n{line(COLUMNS)}{line('---' for _ in COLUMNS)}"
    text += "".join(line(row) for row in rows(document))
    steps = "".join(f"- {step_text(*step)}\n" for step in steps_of(document))
    path.write_text(text + (f"\nSteps:\n\n{steps}" if steps else ""), encoding="utf-8")


def write_junit(document: dict[str, Any], path: Path) -> None:
    """A case for each verdict: a confirmed slow-down fails, what cannot be judged is skipped."""
    names = {one["id"]: one["name"] for one in document["revisions"]}
    suite = ElementTree.Element("testsuite", name=document["test"])
    for entry in document["verdicts"]:
        verdict = verdict_of(entry)
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=document["test"],
            name=f"{entry['number']} at {names[entry['revision']]}",
        )
        text = f"{ratio_text(verdict)} over {names[entry['base']]}: {verdict.text}"
        if verdict.kind == SLOWER:
            ElementTree.SubElement(case, "failure", message=text)
        if verdict.kind == UNKNOWN:
            ElementTree.SubElement(case, "skipped", message=text)
    for one in document["revisions"]:
        if one["failed"]:
            case = ElementTree.SubElement(
                suite, "testcase", classname=document["test"], name=f"build {one['name']}"
            )
            ElementTree.SubElement(case, "skipped", message=one["failed"])
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def read_document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        check_document(document)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CommandError(f"{path}: no result of `tailrace revisions --json FILE`: {error}") from None
    return document


def is_bound(value: Any) -> bool:
    """Of an interval, which may have no end."""
    return is_number(value) or value == float("inf")


def check_document(document: Any) -> None:
    """Raises an error for what `session_document` does not make."""
    if document["format"] != "tailrace-revisions-result" or not document["revisions"]:
        raise ValueError("of another format")
    if not isinstance(document["machine"], dict) or not isinstance(document["test"], str):
        raise ValueError("machine or test are damaged")
    if any(one not in ("less", "more") for one in document["better"].values()):
        raise ValueError("better is neither less nor more")
    for one in document["revisions"]:
        texts = isinstance(one["failed"], str | None) and all(
            isinstance(one[key], str) for key in ("id", "name", "subject")
        )
        samples = list(one["numbers"].values())
        if not texts or not all(
            isinstance(some, list) and some and all(map(is_number, some)) for some in samples
        ):
            raise ValueError(f"revision {one['id']!r} is damaged")
    known = {one["id"] for one in document["revisions"]}
    for one in document["verdicts"]:
        if not {one["base"], one["revision"]} <= known or one["number"] not in document["better"]:
            raise ValueError("a verdict is of no revision that is there")
        if one["kind"] not in KINDS or not all(is_bound(one[key]) for key in ("ratio", "low", "high")):
            raise ValueError("a verdict is damaged")
        if (
            not isinstance(one["rounds"], int)
            or not is_number(one["share"])
            or one["exact"] not in (True, False)
        ):
            raise ValueError("a verdict is damaged")


def compare_documents(first: Path, second: Path, console: Console) -> int:
    """Results of two machines or builds, by their last revisions, like Google Benchmark's compare.py."""
    a, b = read_document(first), read_document(second)
    for key in sorted(a["machine"].keys() | b["machine"].keys()):
        if a["machine"].get(key) != b["machine"].get(key):
            console.print(
                f"machines differ: {key}: {a['machine'].get(key)} and {b['machine'].get(key)}", markup=False
            )
    old, new = a["revisions"][-1], b["revisions"][-1]
    common = [name for name in old["numbers"] if name in new["numbers"]]
    if not common:
        raise CommandError(f"{first} and {second} have no number in common")
    table = make_table(f"{old['name']} and {new['name']}", "number", "first", "second", "ratio", "verdict")
    kinds = set()
    for name in common:
        samples = old["numbers"][name], new["numbers"][name]
        verdict = judge_apart(*samples, len(common), a["better"].get(name, "less"))
        kinds.add(verdict.kind)
        medians = (significant(spread(some).median, 5) for some in samples)
        table.add_row(name, *medians, ratio_text(verdict), verdict.text)
    console.print(table, markup=False)
    return EXIT_NO if SLOWER in kinds else EXIT_OK
