#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/reference/collectives.md from the tags of installed headers: collectives.py [--check] [ROOT].

The tags @local, @collective{WHO}, @neighbour and @one_sided are in the comment of a function. A function
that sees a communicator, as a parameter or through its object, has exactly one, unless it is an accessor
without a comment; what has none or several is printed, and the exit status is 1. So it is with --check if the
page is not what the headers say.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = "docs/reference/collectives.md"
TAG = re.compile(r"@(local|collective|neighbour|one_sided)\b(?:\{([^}]*)\})?")
COMMUNICATOR = re.compile(r"\b(CommView|MPI_Comm)\b")
VIEW = "mpi::CommView"  # is a communicator, and communicates nothing
SCOPE = re.compile(r"^\s*(?:template <.*> )?(class|struct|namespace) ([\w:]+)[^;]*\{$")
NAME = re.compile(r"(~?\w+|operator\S+) ?\((.*)", re.DOTALL)
NO_FUNCTIONS = ("using", "friend", "template <class T> concept", "static_assert", "std::function<")
HEAD = """# Who calls what together

Every function of the installed headers that sees a communicator, belongs to an object that does, or talks
to other ranks.
Made by `scripts/collectives.py` from the headers; do not edit.

- *local*: each rank by itself, no rank waits for another.
- *collective*: all ranks of the communicator, in the same order; it may wait for them.
- *neighbour*: each rank by itself; it may wait for the ranks with which it exchanges values, for no others.

"""


@dataclass
class Function:
    """A declaration with the comment above it."""

    header: str
    scope: str
    name: str
    parameters: str
    comment: str

    @property
    def qualified(self) -> str:
        return f"{self.scope}::{self.name}" if self.scope else self.name

    @property
    def tags(self) -> list[str]:
        if not self.comment and "const noexcept" in self.parameters:
            return ["local"]
        return [f"{kind} ({who})" if who else kind for kind, who in TAG.findall(self.comment)]


def statements(text: str) -> Iterator[tuple[str, bool, str]]:
    """(comment, whether it is above an earlier one, code): declarations, and lines of scopes."""
    comment, code, depth, used = [], "", 0, False
    for line in text.splitlines():
        bare = line.strip()
        if depth == 0 and not code:
            if bare.startswith("///"):
                comment = [] if used else comment
                used = False
                comment.append(bare.removeprefix("///").strip())
                continue
            if not bare:
                comment = []
                continue
        bare = bare.split("//")[0].strip()
        code = f"{code} {bare}".strip()
        depth += bare.count("(") - bare.count(")")
        if depth == 0 and (code.endswith((";", "{", "}", ":")) or code.startswith("#")):
            yield " ".join(comment), used, code
            code, used = "", True


def functions(header: str, text: str) -> Iterator[Function]:
    """The functions that programs may call, in the order of the header."""
    scopes: list[tuple[str, str]] = []  # (kind, name); "" for a body
    public = [True]
    for above, shared, code in statements(text):
        scope = SCOPE.match(code)
        if scope:
            scopes.append((scope[1], scope[2]))
            public.append(scope[1] != "class")
            continue
        if code in ("public:", "private:", "protected:"):
            public[-1] = code == "public:"
            continue
        in_body = any(kind == "" for kind, _ in scopes)
        found = None if in_body or not all(public) or code.startswith("#") else NAME.search(code)
        if found and not code.startswith(NO_FUNCTIONS):
            owner = "::".join(name for _, name in scopes).removeprefix("tailrace::")
            accessor = shared and "const noexcept" in found[2]  # the comment is of the function before
            comment = "" if accessor else above
            yield Function(header, owner, found[1], found[2], comment)
        opened = code.count("{") - code.count("}")
        for _ in range(opened):
            scopes.append(("", ""))
            public.append(True)
        for _ in range(-opened):
            if scopes:
                scopes.pop()
                public.pop()


def concerned(found: list[Function]) -> list[Function]:
    """Those that see a communicator, themselves or through their object, or talk to other ranks; without what
    the language adds.
    """
    owners = {
        f.scope for f in found if f.name == f.scope.split("::")[-1] and COMMUNICATOR.search(f.parameters)
    }

    def is_plain(f: Function) -> bool:
        moves = f.name == f.scope.split("::")[-1] and (f.parameters.startswith(")") or "&&" in f.parameters)
        return not (moves or f.name.startswith(("~", "operator")) or "= delete" in f.parameters)

    plain = [f for f in found if is_plain(f) and f.scope != VIEW]
    talking = {f.qualified for f in plain if set(f.tags) - {"local"}}  # and whatever has the same name
    return [
        f for f in plain if COMMUNICATOR.search(f.parameters) or f.scope in owners or f.qualified in talking
    ]


def page(found: list[Function]) -> str:
    lines = []
    for header in dict.fromkeys(f.header for f in found):
        lines += [f"## `{header}`", "", "| function | who |", "|---|---|"]
        rows = dict.fromkeys(
            f"| `{f.qualified}` | {f.tags[0]} |" for f in found if f.header == header and f.tags
        )
        lines += [*rows, ""]
    return HEAD + "\n".join(lines)


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--check"]
    root = Path(words[0] if words else Path(__file__).parent.parent).resolve()
    include = root / "include"
    found: list[Function] = []
    for path in sorted(include.rglob("*.hpp")):
        found += concerned(list(functions(str(path.relative_to(include)), path.read_text(encoding="utf-8"))))
    wrong = [
        f"{f.header}: {f.qualified} has {len(f.tags)} tags instead of one" for f in found if len(f.tags) != 1
    ]
    text = page(found)
    target = root / PAGE
    if "--check" not in sys.argv:
        target.write_text(text, encoding="utf-8")
    elif not target.is_file() or target.read_text(encoding="utf-8") != text:
        wrong.append(f"{PAGE} is not what the headers say (scripts/collectives.py writes it)")
    print("\n".join([*wrong, f"collectives: {len(found)} functions, {len(wrong)} problems"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
