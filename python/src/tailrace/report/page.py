# SPDX-License-Identifier: BSD-3-Clause
"""Puts the page together."""

import functools
import json
import re
import shlex
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape
from plotly.offline import get_plotlyjs

from tailrace.data.directory import case_file_of
from tailrace.kwave import FileError
from tailrace.report.advice import advise
from tailrace.report.exchange_section import exchange_section
from tailrace.report.fragment_advice import fragment_advice
from tailrace.report.fragments_section import fragments_section
from tailrace.report.load import Run, load_run
from tailrace.report.messages_section import run_messages_section
from tailrace.report.output_section import output_section
from tailrace.report.parts import Advice, Listing, Number, Picture, Section, Table, TimelineView, packed
from tailrace.report.performance import performance_numbers, performance_section
from tailrace.report.plan_section import plan_section
from tailrace.report.program_section import is_program, program_command, program_numbers, program_section
from tailrace.report.program_text import source_texts
from tailrace.report.segments_section import segments_section
from tailrace.report.simulations import page_of
from tailrace.report.toml_text import toml_text

_HERE = Path(__file__).parent
SCRIPTS = "unpack.js", "timeline.js", "page.js"

STATUS_TEXT = {
    "finished": "finished",
    "stopped": "stopped early, in good order",
    "failed": "failed",
    "unaccounted": "no account: killed or still running",
}


def write_report(run_dir: Path, output: Path | None = None) -> Path:
    """Writes the report of a run directory and returns its path, `run_dir/report.html` unless given.

    Raises kwave.FileError when the directory is not a run directory, OSError when the page cannot be written.
    """
    target = Path(run_dir) / "report.html" if output is None else Path(output)
    if target.is_dir():
        raise FileError(f"{target}: a directory. Fix: name the file that the page shall be")
    page = render(load_run(Path(run_dir)))
    partial = target.with_name(target.name + ".part")
    partial.write_text(page, encoding="utf-8")
    partial.replace(target)
    return target


def render(run: Run) -> str:
    """The page as text."""
    if is_program(run):
        texts = source_texts(run)
        sections = [program_section(run, texts), fragments_section(run.fragments, texts)]
        return run_page(
            run, sections, program_numbers(run), fragment_advice(run) or None, program_command(run)
        )
    # Not above: a program's report need not wait for xarray.
    from tailrace.report.result import result_section

    result, result_numbers = result_section(run)
    numbers = result_numbers + performance_numbers(run) + _progress_number(run)
    sections = [
        result,
        performance_section(run),
        output_section(run),
        exchange_section(run),
        fragments_section(run.fragments),
        run_messages_section(run),
        plan_section(run),
        segments_section(run),
    ]
    return run_page(run, sections, numbers, advise(run), reproduce_command(run))


def run_page(
    run: Run, sections: list[Section], numbers: list[Number], advice: list[Advice] | None, command: str
) -> str:
    """The page of a run with these parts, between what all runs have."""
    return page_text(
        title=run.title,
        status=run.status,
        status_text=STATUS_TEXT.get(run.status, run.status),
        reason=run.account.get("reason", ""),
        error=str((run.account.get("error") or {}).get("message", "")),
        notes=run.notes,
        subtitle=_subtitle(run),
        numbers=numbers,
        sections=sections,
        advice=advice,
        config=toml_text(run.account.get("config") or {}),
        command=command,
        facts=_facts(run),
    )


def write_page(path: Path, title: str, subtitle: str, sections: list[Section], **more: Any) -> None:
    """Writes a page that is not of a run; `more`: further values of the template, such as facts."""
    partial = path.with_name(path.name + ".part")
    values = {"title": title, "subtitle": subtitle, "sections": sections, "advice": None, **more}
    partial.write_text(page_text(**values), encoding="utf-8")
    partial.replace(path)


def page_text(sections: list[Section], **values: Any) -> str:
    """The page with these sections; values that are not given are empty."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["code"] = _code
    empty = {"status": "", "status_text": "", "reason": "", "error": "", "config": "", "command": ""}
    return environment.get_template("page.html.j2").render(
        **empty | {"notes": [], "numbers": [], "facts": []} | values,
        sections=[_with_json(section) for section in sections if section.pictures or section.notes],
        style=(_HERE / "page.css").read_text(encoding="utf-8"),
        script="".join((_HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
        plotly=_plotly(),
    )


@functools.cache
def _plotly() -> str:
    """The library that draws pictures, packed in a tenth of a second: half of its size."""
    return packed(get_plotlyjs().encode(), level=1)


def _code(text: str) -> Markup:
    """Words between backticks become code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _with_json(section: Section) -> dict:
    """The section as the template takes it: data become JSON that can be inside a script element."""
    return {
        "key": section.key,
        "title": section.title,
        "lead": section.lead,
        "notes": section.notes,
        "pictures": [_part(part, f"{section.key}-{number}") for number, part in enumerate(section.pictures)],
    }


def _part(part: Picture | Table | Listing | TimelineView, name: str) -> dict:
    common = {"heading": part.heading, "caption": part.caption, "half": False}
    if isinstance(part, Listing):
        return common | {"type": "listing", "html": part.html}
    if isinstance(part, Table):
        return common | {"type": "table", "columns": part.columns, "rows": part.rows, "numeric": part.numeric}
    if isinstance(part, TimelineView):
        data = None if part.payload is None else _in_script(json.dumps(part.payload))
        return common | {"type": "timeline", "source": part.source, "json": data, "window": part.window}
    return common | {
        "type": "figure",
        "id": name,
        "half": part.half,
        "height": part.figure.layout.height,
        "packed": packed(part.figure.to_json().encode()),
    }


def _in_script(text: str) -> str:
    return text.replace("</", "<\\/")


def _subtitle(run: Run) -> str:
    account = run.account
    parts = [run.simulation]
    if account.get("grid"):
        sizes = account["grid"] if account["grid"][-1] > 1 else account["grid"][:-1]  # two dimensions: Nz = 1
        what = getattr(page_of(run.simulation), "COUNTED", "points")
        parts.append(
            " \u00d7 ".join(str(size) for size in sizes if size > 1 or what == "points") + f" {what}"
        )
    if account.get("steps") is not None:
        planned = account.get("steps_planned", account["steps"])
        parts.append(
            f"{account['steps']} steps"
            if account["steps"] == planned
            else f"{account['steps']} of {planned} steps"
        )
    if account.get("ranks"):
        parts.append(
            _count(account["ranks"], "rank") + " \u00d7 " + _count(account.get("threads", 1), "thread")
        )
    if account.get("started"):
        parts.append(str(account["started"]).replace("T", " ")[:16])
    return " \u00b7 ".join(part for part in parts if part)


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _progress_number(run: Run) -> list[Number]:
    if run.account or not run.progress.get("steps"):
        return []
    step, steps = run.progress.get("step", 0), run.progress["steps"]
    return [
        Number(f"{step} of {steps}", "steps at the last sign of life", str(run.progress.get("phase", "")))
    ]


# Options of a run's program that belong to that one start, and how many words each has.
_OF_ONE_START = {"--out": 2, "--overwrite": 1, "--quiet": 1, "--resume": 1, "--case": 2, "-t": 2, "--bind": 2}


def reproduce_command(run: Run) -> str:
    """A command line that does the same as this run, in a directory of its own."""
    account = run.account
    words = _words(account.get("command"))
    case = case_file_of(account)
    if words and "--case" not in words:
        ranks = ["mpirun", "-n", str(account["ranks"])] if account.get("ranks", 1) > 1 else []
        return shlex.join([*ranks, *words])
    if not account:
        return ""
    layout = ["-n", str(account.get("ranks", 1)), "-t", str(account.get("threads", 1))]
    if not words:  # a run that was killed: what its account says
        known = {"--write": account.get("strategy"), "--sink": account.get("sink")}
        words = ["", *(f"{option}={value}" for option, value in known.items() if value)]
    return shlex.join(["tailrace", "run", case or "case.toml", *layout, *_kept(words[1:])])


def _words(command: object) -> list[str]:
    try:
        return shlex.split(command) if isinstance(command, str) else [str(word) for word in command or []]
    except (ValueError, TypeError):
        return []


def _kept(words: list[str]) -> list[str]:
    """Without the options that name the place of that start."""
    kept, at = [], 0
    while at < len(words):
        length = _OF_ONE_START.get(words[at].partition("=")[0], 0)
        if not length:
            kept.append(words[at])
        at += 1 if not length or "=" in words[at] else length
    return kept


def _facts(run: Run) -> list[tuple[str, str]]:
    """Versions, hosts and other circumstances for the table at the end."""
    account = run.account
    facts = [
        ("program", " ".join(str(account.get(name, "")) for name in ("program", "version")).strip()),
        ("started", account.get("started", "")),
        ("ended", account.get("ended", "")),
        ("hosts", ", ".join(account.get("hosts") or [])),
        (
            "ranks, threads",
            f"{account['ranks']}, {account.get('threads', 1)} each" if account.get("ranks") else "",
        ),
        ("output strategy", account.get("strategy", "")),
        ("sink", account.get("sink", "")),
        *sorted((account.get("versions") or {}).items()),
        *((f"counter {name}", value) for name, value in sorted((account.get("counters") or {}).items())),
        ("run directory", str(run.directory.resolve())),
        ("input", str(run.input) if run.input else ""),
    ]
    return [(name, _plain(value)) for name, value in facts if value not in ("", None)]


def _plain(value) -> str:
    return value if isinstance(value, str) else json.dumps(value)
