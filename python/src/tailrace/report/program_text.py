# SPDX-License-Identifier: BSD-3-Clause
"""The text of a fragment program on a page: in colours, with what each line took and what was said of it."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from tailrace.casefile import PYTHON_PROGRAM
from tailrace.fragments.highlight import FragmentLexer
from tailrace.report.load import Run
from tailrace.report.parts import Listing, Table
from tailrace.units import duration_text

STATEMENTS_SHOWN = 20
MAX_TEXT_BYTES = 1 << 20
"""A longer file is not shown: the page would be too heavy."""


@dataclass
class Use:
    """What the statements of a line came to, on all ranks."""

    executed: int = 0
    busy_s: float = 0.0


def statements_of(run: Run) -> list[dict[str, Any]]:
    """What the fragments of each statement came to, as run.json has it; those that took longest first."""
    found = (run.account.get("fragments") or {}).get("statements") or []
    return sorted(found, key=lambda one: -one["busy_s"])


def anchor(file: str, line: int) -> str:
    """The name of a line on the page."""
    return f"line-{hashlib.sha256(file.encode()).hexdigest()[:8]}-{line}"


def linked(text: str, file: str, line: int, shown: Container[str]) -> str:
    """The text; as a link, if the page shows the file."""
    return Markup(f'<a href="#{anchor(file, line)}">{escape(text)}</a>') if file in shown else text


def statements_table(run: Run, shown: Container[str]) -> list[Table]:
    """Where the time went, by statement; nothing if that was not counted."""
    found = statements_of(run)
    whole = sum(one["busy_s"] for one in found)
    rows = [
        [
            one["name"],
            f"{one['executed']:,}",
            duration_text(one["busy_s"]),
            f"{100 * one['busy_s'] / whole:.1f} %" if whole else "",
            duration_text(one["busy_s"] / one["executed"]) if one["executed"] else "",
            linked(f"{one['file']}:{one['line']}:{one['column']}", one["file"], one["line"], shown),
        ]
        for one in found[:STATEMENTS_SHOWN]
    ]
    left = len(found) - len(rows)
    caption = "Time inside bodies; of loops, conditions and calls, in creating what they hold."
    caption += f" {left} more took less." if left else ""
    columns = ["statement", "fragments", "time", "share", "each", "place"]
    return [Table(columns, rows, caption, "Where the time went", (1, 2, 3, 4))] if rows else []


def program_texts(run: Run, texts: dict[str, str], problems: list[dict[str, Any]]) -> list[Listing]:
    """The files of the program, with what their lines took."""
    uses: dict[str, dict[int, Use]] = defaultdict(lambda: defaultdict(Use))
    for one in statements_of(run):
        use = uses[one["file"]][one["line"]]
        use.executed += one["executed"]
        use.busy_s += one["busy_s"]
    longest = max((use.busy_s for lines in uses.values() for use in lines.values()), default=0.0)
    return [
        Listing(
            listing(name, text, uses[name], marked_lines(name, problems), longest),
            caption=caption_of(bool(uses[name]), bool(marked_lines(name, problems))),
            heading=name,
        )
        for name, text in texts.items()
    ]


def marked_lines(name: str, problems: list[dict[str, Any]]) -> set[int]:
    return {one["line"] for one in problems if one.get("file") == name and one.get("line")}


def caption_of(has_times: bool, has_marks: bool) -> str:
    times = "Beside each line: its fragments on all ranks, and their time." if has_times else ""
    marks = "Lines with messages are marked." if has_marks else ""
    return " ".join(part for part in (times, marks) if part)


def listing(name: str, text: str, uses: dict[int, Use], marked: set[int], longest_s: float) -> str:
    """The lines of a file as a table: number, fragments, time with a bar, text."""
    formatter = HtmlFormatter(nowrap=True, noclasses=True)
    lexer = PythonLexer if name.endswith(PYTHON_PROGRAM) else FragmentLexer
    lines = highlight(text, lexer(stripnl=False), formatter).split("\n")
    rows = []
    for number, line in enumerate(lines[: text.count("\n") + (not text.endswith("\n"))], 1):
        use = uses.get(number)
        share = 100 * use.busy_s / longest_s if use and longest_s else 0
        executed = f"{use.executed:,}" if use else ""
        busy = duration_text(use.busy_s) if use else ""
        classes = ' class="marked"' if number in marked else ""
        rows.append(
            f'<tr id="{anchor(name, number)}"{classes}><td>{number}</td><td>{executed}</td>'
            f'<td><span style="width:{share:.1f}%"></span>{busy}</td><td>{line}</td></tr>'
        )
    return f'<table class="source">{"".join(rows)}</table>'


def source_texts(run: Run) -> dict[str, str]:
    """The texts of the program and of what it includes and has run, by the names that messages have for them,
    as far as they are what they were when it ran.
    """
    program = (run.account.get("config") or {}).get("program") or {}
    main = str(program.get("file", ""))
    place, digests = start_of(run.directory)
    expected = {str(place / main): program.get("sha256"), **digests}
    names = dict.fromkeys([main, *(one["file"] for one in statements_of(run))])
    found = {name: text_of(place / name, expected.get(str(place / name))) for name in names}
    return {name: text for name, text in found.items() if text is not None}


def text_of(path: Path, sha256: str | None) -> str | None:
    """The text of a source that has this digest; None: there is none, or it is no source."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    is_text = path.suffix not in (".so", ".json") and len(raw) <= MAX_TEXT_BYTES
    if not is_text or hashlib.sha256(raw).hexdigest() != sha256:
        return None
    return raw.decode("utf-8", errors="replace")


def start_of(directory: Path) -> tuple[Path, dict[str, str]]:
    """Where the command was when it started the run, the current directory if that is not known, and the
    digests of the program's files.
    """
    try:
        start = json.loads((directory / "start.json").read_text())
        return Path(start["directory"]), dict(start["digests"])
    except (OSError, ValueError, KeyError, TypeError):
        return Path(), {}
