# SPDX-License-Identifier: BSD-3-Clause
"""The report of a fragment program: its messages whole, and its text with the lines that they are about."""

import hashlib
import json
import re
from pathlib import Path

from tailrace.report.page import write_report

TEXT = 'C++ sub f(string s) ${{ puts(s); $}}\nsub main() f("a < b");\n'
PROBLEM = {
    "file": "p.fa",
    "line": 2,
    "column": 12,
    "severity": "error",
    "code": "SEM3",
    "text": "it cannot finish",
}


def report(
    folder: Path,
    problems: list[dict],
    text: str = TEXT,
    fragments: dict | None = None,
    digests: dict | None = None,
) -> str:
    (folder / "p.fa").write_text(text)
    out = folder / "out"
    out.mkdir(exist_ok=True)
    (out / "start.json").write_text(json.dumps({"directory": str(folder), "digests": digests or {}}))
    program = {"file": "p.fa", "sha256": hashlib.sha256(TEXT.encode()).hexdigest(), "arguments": []}
    status = {"status": "failed" if problems else "finished", "exit_status": 3 if problems else 0}
    account = {
        "format": "tailrace-run",
        "format_version": 1,
        "simulation": "fragments",
        "title": "p.fa",
        "ranks": 1,
    }
    account |= status | {"config": {"program": program}, "problems": problems, "wall_s": 1.0}
    account |= {"fragments": fragments} if fragments else {}
    (out / "run.json").write_text(json.dumps(account))
    return write_report(out).read_text()


def test_messages_are_whole_and_their_lines_are_marked(tmp_path):
    page = report(tmp_path, [PROBLEM | {"notes": ["    f(x < 1)", "    ^ needs x[4]"]}])
    assert "p.fa:2:12: error: it cannot finish\n    f(x &lt; 1)\n    ^ needs x[4]" in page
    lines = re.findall(r'<tr id="line-\w+-\d+".*?</tr>', page)
    assert len(lines) == 2 and "Lines with messages are marked." in page
    assert 'class="marked"' in lines[1] and "a &lt; b" in lines[1] and 'class="marked"' not in lines[0]


def test_the_text_is_there_without_messages(tmp_path):
    page = report(tmp_path, [])
    assert (
        re.search(r'<tr id="line-\w+-2">', page) and "are marked" not in page and "What they say" not in page
    )


def test_a_program_that_was_changed_is_not_shown(tmp_path):
    assert '<tr id="line-' not in report(tmp_path, [PROBLEM], TEXT + "// later\n")
    (tmp_path / "out" / "start.json").unlink()
    assert write_report(tmp_path / "out").is_file()


def statement(line: int, executed: int, busy_s: float, file: str = "p.fa") -> dict:
    where = {"file": file, "line": line, "column": 12}
    return where | {"name": "f", "kind": "body", "executed": executed, "busy_s": busy_s}


def test_times_are_beside_their_lines(tmp_path):
    statements = [statement(2, 1000, 0.25), statement(2, 500, 0.25), statement(1, 7, 1.0, "gone.inc")]
    page = report(tmp_path, [], fragments={"executed": [1507], "statements": statements})
    line = re.search(r'<tr id="(line-\w+-2)"><td>2</td><td>1,500</td><td><span style="width:50.0%">', page)
    assert line and f'<a href="#{line[1]}">p.fa:2:12</a>' in page
    assert "<td>gone.inc:1:12</td>" in page  # there is no text to go to
    first = page.index("<td>gone.inc:1:12</td>")
    assert first < page.index("p.fa:2:12</a>") and "66.7 %" in page and "500 µs" in page


def test_what_is_included_is_shown_as_it_was(tmp_path):
    (tmp_path / "q.inc").write_text("sub q() { }\n")
    digests = {str(tmp_path / "q.inc"): hashlib.sha256(b"sub q() { }\n").hexdigest()}
    uses = {"executed": [1], "statements": [statement(1, 3, 0.5, "q.inc")]}
    page = report(tmp_path, [], fragments=uses, digests=digests)
    assert "<h3>q.inc</h3>" in page
    (tmp_path / "q.inc").write_text("sub r() { }\n")
    assert "<h3>q.inc</h3>" not in report(tmp_path, [], fragments=uses, digests=digests)
