# SPDX-License-Identifier: BSD-3-Clause
"""The drawing of a program: its nodes by what they say, its edges by the labels of their ends."""

import os
import re
import shutil
from pathlib import Path

import pytest

import command

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples" / "fragments").glob("*.fa"))
PROGRAM = """C++ sub one(name r) ${{ r = 1; $}}
C++ sub use(value v) ${{ v; $}}
sub part(name x, int n) one(x[n]);
sub main(int n) {
    df x, y, big;
    part(x[y], n);
    one(y) >> (x[2]);
    for i = 1..n if x[i] < 3
        use(y + i);
    while x[k] < 3, k = 0..out big use(k);
    let z = x[9] { one(z); use(z); }
}
"""


def drawn(path: Path) -> tuple[dict[str, str], set[tuple[str, str, bool]], str]:
    """Nodes with their labels, edges between labels (are they in both directions), the text."""
    answer = command.tailrace("compile", path, "--graph", "p.dot", "--warnings", "off")
    assert (answer.status, answer.err) == (0, ""), answer
    text = Path("p.dot").read_text()
    nodes = dict(
        re.findall(r'^ *(\w+) \[shape = \w+, (?:URL = "#line-\d+", )?label = "(.*)"\];$', text, re.MULTILINE)
    )
    edges = re.findall(r"^ *(\w+) -> (\w+)( \[dir = both\])?;$", text, re.MULTILINE)
    return nodes, {(nodes[a], nodes[b], bool(both)) for a, b, both in edges}, text


def test_fragments_and_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("p.fa").write_text(PROGRAM)
    nodes, edges, text = drawn(Path("p.fa"))
    assert sorted(nodes.values()) == sorted(
        ["x", "one:3", "x", "y", "big", "part:6", "one:7", "for i:8", "if:8", "use:9", "while k:10", "use:10",
         "one:11", "use:11"]
    )  # fmt: skip
    assert edges == {
        ("one:3", "x", False), ("part:6", "x", True), ("one:7", "y", False), ("one:7", "x", False),
        ("x", "if:8", False), ("y", "use:9", False), ("x", "while k:10", False), ("while k:10", "big", False),
        ("one:11", "x", False), ("x", "use:11", False), ("y", "part:6", False),
    }  # fmt: skip
    assert re.findall(r'label = "((?:sub|for|if|while|let)[^:]*)";', text) == [
        "sub part", "sub main", "for i", "if", "while k", "let z"
    ]  # fmt: skip


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_are_drawn(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    nodes, edges, text = drawn(path)
    assert text.count("{") == text.count("}") and len(edges) > 4 and len(nodes) > 6


FAKE = """#!/bin/sh
grep -o 'URL = "[^"]*"' > edges
echo '<?xml version="1.0"?>'
echo "<svg>$(cat edges)</svg>"
"""


@pytest.mark.parametrize("real", [False, True])
def test_a_page_has_drawing_and_program(real, tmp_path, monkeypatch):
    """With a program in place of Graphviz where that is not there."""
    monkeypatch.chdir(tmp_path)
    if real and shutil.which("dot") is None:
        pytest.skip("there is no Graphviz")
    if not real:
        Path("dot").write_text(FAKE)
        Path("dot").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    Path("p.fa").write_text(PROGRAM)
    for name in ("p.html", "p.svg"):
        answer = command.tailrace("compile", "p.fa", "--graph", name, "--warnings", "off")
        assert (answer.status, answer.err) == (0, ""), answer
    page = Path("p.html").read_text()
    assert page.count("<svg") == page.count("</svg>") == 1 and "<?xml" not in page
    assert "#line-8" in page and 'name="line-8"' in page and "src=" not in page
    assert "<svg" in Path("p.svg").read_text()


def test_no_graphviz(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    Path("p.fa").write_text(PROGRAM)
    answer = command.tailrace("compile", "p.fa", "--graph", "p.html", "--warnings", "off")
    assert answer.status == 2 and "draw p.dot, which needs none" in answer.err
    assert not Path("p.html").exists()


def test_what_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("p.fa").write_text("sub main() nope();\n")
    answer = command.tailrace("compile", "p.fa", "--graph", "p.dot")
    assert answer.status == 2 and "[SYN2]" in answer.err and not Path("p.dot").exists()
    assert "it only draws" in command.tailrace("compile", "p.fa", "--graph", "p.dot", "--check").err
    assert "--graph none/p.dot" in command.tailrace("compile", "p.fa", "--graph", "none/p.dot").err
    assert "no form of a drawing" in command.tailrace("compile", "p.fa", "--graph", "p.png").err
