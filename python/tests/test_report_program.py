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


def report(folder: Path, problems: list[dict], text: str = TEXT) -> str:
    (folder / "p.fa").write_text(text)
    out = folder / "out"
    out.mkdir(exist_ok=True)
    (out / "start.json").write_text(json.dumps({"directory": str(folder)}))
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
    (out / "run.json").write_text(json.dumps(account))
    return write_report(out).read_text()


def test_messages_are_whole_and_their_lines_are_marked(tmp_path):
    page = report(tmp_path, [PROBLEM | {"notes": ["    f(x < 1)", "    ^ needs x[4]"]}])
    assert "p.fa:2:12: error: it cannot finish\n    f(x &lt; 1)\n    ^ needs x[4]" in page
    lines = [line for line in page.splitlines() if 'name="line-' in line]
    assert len(lines) == 2 and "Lines with messages are marked." in page
    assert re.search(r"background-color", lines[1]) and "a &lt; b" in lines[1]


def test_the_text_is_there_without_messages(tmp_path):
    page = report(tmp_path, [])
    assert 'name="line-2"' in page and "are marked" not in page and "What they say" not in page


def test_a_program_that_was_changed_is_not_shown(tmp_path):
    assert 'name="line-' not in report(tmp_path, [PROBLEM], TEXT + "// later\n")
    (tmp_path / "out" / "start.json").unlink()
    assert write_report(tmp_path / "out").is_file()
