# SPDX-License-Identifier: BSD-3-Clause
"""The language server as an editor has it: messages of the protocol through its standard input and output."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import command

TEXT = """#include "other.inc"
C++ sub one(name r) ${{ r = 1; $}}
sub powers(name x, int n) {
    one(x[0]);
    for i = 1..n
        cf step[i]: double_it(x[i - 1], x[i]) @ { locator_cyclic: i + 1; };
} @ { locator_cyclic step[i] => i; }
sub main(int n) {
    df x, y;  // \u00fc\U0001f600
    powers(x, n);
    one(y);
    double_it("\U0001f600", y[n]); nope(x);
} @ { locator_cyclic x[i] => i; }
"""
OTHER = "C++ sub double_it(int a, name r) ${{ r = 2 * a; $}}\n"
LIMIT_S = 60


class Editor:
    """Speaks the protocol to a server; answers and notices are kept in their order."""

    def __init__(self, folder: Path) -> None:
        words = [*command.TAILRACE, "compile", "--serve"]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=command.environment(), cwd=folder
        )
        self.count = 0
        self.notices: list[dict[str, Any]] = []

    def send(self, body: dict[str, Any]) -> None:
        raw = json.dumps({"jsonrpc": "2.0"} | body).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(raw) + raw)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            assert line, "the server ended"
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return json.loads(self.process.stdout.read(length))

    def notify(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, **params: Any) -> Any:
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        while (got := self.receive()).get("id") != self.count:
            self.notices.append(got)
        assert "error" not in got, got
        return got["result"]

    def diagnostics(self) -> dict[str, Any]:
        while (got := self.receive()).get("method") != "textDocument/publishDiagnostics":
            pass
        return got["params"]


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "p.fa").write_text(TEXT)
    (tmp_path / "other.inc").write_text(OTHER)
    return tmp_path


@pytest.fixture
def editor(folder) -> Iterator[Editor]:
    pytest.importorskip("pygls")
    editor = Editor(folder)
    answer = editor.ask("initialize", processId=None, rootUri=None, capabilities={})
    assert {"definitionProvider", "hoverProvider", "completionProvider"} <= answer["capabilities"].keys()
    editor.notify("initialized")
    yield editor
    editor.ask("shutdown")
    editor.notify("exit")
    assert editor.process.wait(LIMIT_S) == 0


def place(text: str, word: str, count: int = 0) -> dict[str, int]:
    """The position of the nth occurrence of a word, in units of UTF-16."""
    index = -1
    for _ in range(count + 1):
        index = text.index(word, index + 1)
    start = text.rfind("\n", 0, index) + 1
    return {"line": text.count("\n", 0, index), "character": len(text[start:index].encode("utf-16-le")) // 2}


def test_an_editor_is_served(editor, folder):
    uri = (folder / "p.fa").as_uri()
    this = {"textDocument": {"uri": uri}}
    document = {"uri": uri, "languageId": "fragments", "version": 1, "text": TEXT}
    editor.notify("textDocument/didOpen", textDocument=document)
    shown = editor.diagnostics()
    errors = [one for one in shown["diagnostics"] if one["severity"] == 1]
    assert shown["uri"] == uri and {one["code"] for one in errors} == {"SYN1", "SYN2"}
    unknown = next(one for one in errors if one["code"] == "SYN2")
    start = place(TEXT, "nope")
    assert unknown["range"] == {"start": start, "end": start | {"character": start["character"] + 4}}
    assert "unknown subroutine nope" in unknown["message"]

    def asked(what: str, word: str, count: int = 0) -> Any:
        return editor.ask(f"textDocument/{what}", **this, position=place(TEXT, word, count))

    found = asked("definition", "powers(x, n);")
    assert (found["uri"], found["range"]["start"]) == (uri, place(TEXT, "powers"))
    found = asked("definition", "double_it", 1)
    assert found["uri"] == (folder / "other.inc").as_uri()
    assert found["range"]["start"] == place(OTHER, "double_it")
    assert asked("definition", "y[n]")["range"]["start"] == place(TEXT, "y;")
    assert asked("definition", "r = 1") is None
    assert "sub powers(name x, int n)" in asked("hover", "powers(x, n);")["contents"]["value"]
    hover = asked("hover", "double_it(x")["contents"]["value"]
    assert "C++ sub double_it(int a, name r)" in hover and "locator_cyclic: i + 1" in hover
    assert "locator_cyclic step[i] => i" in asked("hover", "step[i]:")["contents"]["value"]
    assert "locator_cyclic x[i] => i" in asked("hover", "x, n);")["contents"]["value"]
    assert "its last index" in asked("hover", "y[n]")["contents"]["value"]
    offered = {one["label"]: one.get("detail") for one in asked("completion", "one(y)")}
    assert offered["double_it"] == "C++ sub double_it(int a, name r)" and "y" in offered and "i" in offered
    assert {"while", "req_count"} <= offered.keys() and "step" not in offered

    good = TEXT.replace('"\U0001f600"', "1").replace(" nope(x);", "").replace("one(y);", "one( y );")
    changes = [{"text": good}]
    editor.notify("textDocument/didChange", textDocument={"uri": uri, "version": 2}, contentChanges=changes)
    assert [one for one in editor.diagnostics()["diagnostics"] if one["severity"] == 1] == []
    options = {"tabSize": 4, "insertSpaces": True}
    (edit,) = editor.ask("textDocument/formatting", **this, options=options)
    assert "    one(y);\n" in edit["newText"] and edit["range"]["start"] == {"line": 0, "character": 0}
    editor.notify("textDocument/didClose", **this)
    assert editor.diagnostics() == {"uri": uri, "diagnostics": []}


@pytest.mark.parametrize("text", ["", "sub main( {", '"', "${{", "\x00", '#include "none"\n', "sub main() {"])
def test_unfinished_text_is_answered(text, editor, folder):
    uri = (folder / "p.fa").as_uri()
    document = {"uri": uri, "languageId": "fragments", "version": 1, "text": text}
    editor.notify("textDocument/didOpen", textDocument=document)
    assert editor.diagnostics()["diagnostics"]
    position = {"line": 7, "character": 99}
    this = {"textDocument": {"uri": uri}}
    assert editor.ask("textDocument/hover", **this, position=position) is None
    assert isinstance(editor.ask("textDocument/completion", **this, position=position), list)
    options = {"tabSize": 4, "insertSpaces": True}
    assert isinstance(editor.ask("textDocument/formatting", **this, options=options), list)


def test_it_takes_no_program():
    answer = command.tailrace("compile", "--serve", "p.fa")
    assert answer.status == 2 and "--serve" in answer.err
    answer = command.tailrace("compile")
    assert answer.status == 2 and "PROGRAM" in answer.err
