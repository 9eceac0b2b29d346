# SPDX-License-Identifier: BSD-3-Clause
"""A language server for the fragment language, on standard input and output.

It speaks the Language Server Protocol 3.17 of https://microsoft.github.io/language-server-protocol.
"""

import re
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

import tailrace
from tailrace.console import CommandError
from tailrace.fragments.check import check_source
from tailrace.fragments.layout import formatted
from tailrace.fragments.lookup import KEYWORDS, Lookup, Occurrence, signature
from tailrace.fragments.names import PROPERTIES
from tailrace.fragments.problems import Problem
from tailrace.fragments.source import CONTROL, Place, SourceFile

WORD = re.compile(r"\w+")
SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}


class Programs:
    """The programs that are open, as they were checked last."""

    def __init__(self) -> None:
        self.lookups: dict[str, Lookup] = {}
        # The files that have messages of a program.
        self.named: dict[str, set[str]] = {}

    def check(self, uri: str, text: str) -> dict[str, list[lsp.Diagnostic]]:
        """Checks a program; returns the messages of each file that has some, or had some before."""
        source = source_of_text(uri, text)
        found: dict[str, list[lsp.Diagnostic]] = {uri: []}
        found |= {other: [] for other in self.named.get(uri, ())}
        if control := CONTROL.search(source.text):
            found[uri].append(message(Problem(Place(source, control.start()), "control character", "SYN")))
        else:
            bound, problems = check_source(source)
            self.lookups[uri] = Lookup(bound)
            for problem in problems.shown():
                file = problem.place.file
                target = uri if file is source else from_fs_path(str(file.path.absolute())) or uri
                found.setdefault(target, []).append(message(problem))
        self.named[uri] = set(found)
        return found


def source_of_text(uri: str, text: str) -> SourceFile:
    """The text of a file as an editor has it."""
    path = Path(to_fs_path(uri) or uri)
    return SourceFile(str(path), path, text.replace("\r\n", "\n"))


def message(problem: Problem) -> lsp.Diagnostic:
    lines = [problem.text, *problem.notes, *problem.place.context]
    return lsp.Diagnostic(
        range_of(problem.place, length_of_word(problem.place)),
        "\n".join([*lines, f"Fix: {problem.fix}"] if problem.fix else lines),
        severity=SEVERITIES[problem.severity],
        code=problem.code,
        source="tailrace",
    )


def length_of_word(place: Place) -> int:
    found = WORD.match(place.file.text, place.offset)
    return len(found[0]) if found else 1


def units(text: str) -> int:
    """The length of a text in units of UTF-16, in which the protocol counts."""
    return len(text.encode("utf-16-le")) // 2


def range_of(place: Place, length: int) -> lsp.Range:
    line, column = place.line_and_column
    text = place.file.line_text(line)
    first, last = units(text[: column - 1]), units(text[: column - 1 + length])
    return lsp.Range(lsp.Position(line - 1, first), lsp.Position(line - 1, max(last, first + 1)))


def offset_of(file: SourceFile, position: lsp.Position) -> int:
    """The offset of a place in a file; the end of the file for one behind it."""
    if position.line >= len(file.line_starts):
        return len(file.text)
    start, text = file.line_starts[position.line], file.line_text(position.line + 1)
    raw = text.encode("utf-16-le")[: 2 * position.character]
    return start + len(raw.decode("utf-16-le", errors="ignore"))


def whole(text: str) -> lsp.Range:
    return lsp.Range(lsp.Position(0, 0), lsp.Position(text.count("\n") + 1, 0))


def completions(lookup: Lookup, offset: int) -> list[lsp.CompletionItem]:
    """Subroutines, names of the subroutine around, recommendations and keywords."""
    kind = lsp.CompletionItemKind
    subs = [(name, kind.Function, signature(item)) for name, item in lookup.bound.subs.items()]
    names = {symbol.name: lookup.meaning(symbol) for symbol in lookup.known_at(offset)}
    items = subs + [(name, kind.Variable, text) for name, text in names.items()]
    items += [(name, kind.Property, "recommendation") for name in PROPERTIES]
    items += [(name, kind.Keyword, "keyword") for name in KEYWORDS]
    return [lsp.CompletionItem(label, kind=of, detail=detail) for label, of, detail in items]


def build_server() -> LanguageServer:
    server = LanguageServer(
        "tailrace", tailrace.__version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full
    )
    programs = Programs()
    add_checks(server, programs)
    add_answers(server, programs)
    return server


def add_checks(server: LanguageServer, programs: Programs) -> None:
    def check(uri: str) -> None:
        text = server.workspace.get_text_document(uri).source
        for target, messages in programs.check(uri, text).items():
            server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(target, messages))

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        programs.lookups.pop(params.text_document.uri, None)
        for target in programs.named.pop(params.text_document.uri, ()):
            server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(target, []))


def add_answers(server: LanguageServer, programs: Programs) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        lookup = programs.lookups.get(params.text_document.uri)
        if lookup is None or (one := find(lookup, params.position)) is None:
            return None
        place = lookup.declaration(one.target)
        own = place.file is lookup.bound.expanded.main
        uri = params.text_document.uri if own else from_fs_path(str(place.file.path.absolute()))
        return lsp.Location(uri or "", range_of(place, length_of_word(place)))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        lookup = programs.lookups.get(params.text_document.uri)
        if lookup is None or (one := find(lookup, params.position)) is None:
            return None
        text = "\n".join(["```fragments", *lookup.about(one), "```"])
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), range_of(one.place, one.length))

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION)
    def completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        lookup = programs.lookups.get(params.text_document.uri)
        if lookup is None:
            return []
        return completions(lookup, offset_of(lookup.bound.expanded.main, params.position))

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        uri = params.text_document.uri
        text = server.workspace.get_text_document(uri).source
        try:
            new = formatted(source_of_text(uri, text))
        except CommandError:  # it cannot be read, which a message says already
            return []
        return [lsp.TextEdit(whole(text), new)] if new != text else []


def find(lookup: Lookup, position: lsp.Position) -> Occurrence | None:
    main = lookup.bound.expanded.main
    return lookup.at(main, offset_of(main, position))


def serve() -> None:
    """Answers an editor until it ends."""
    build_server().start_io()
