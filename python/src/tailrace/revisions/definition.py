# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: a test of `revisions.toml`, or a command."""

import hashlib
import json
import re
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tailrace.console import CommandError

FILE = "revisions.toml"
SOURCES = {
    "wall": "wall time of the run",
    "cpu": "processor time of the run and of what it started",
    "memory": "largest resident memory of one of its processes",
    "regex": "the first group of `pattern` in the output",
    "instructions": "instructions in user mode, counted by perf or valgrind",
    "messages": "messages sent between ranks, counted by the message profiler",
    "google-benchmark": "the benchmarks of a JSON",
    "hyperfine": "the commands of a JSON",
    "pytest-benchmark": "the benchmarks of a JSON",
    "tailrace": "the medians of a JSON of `tailrace bench`",
}
COUNTED = ("instructions", "messages")
BETTER = ("less", "more")


@dataclass(frozen=True)
class Number:
    """A number of the test, or a family of them where a JSON has several, of which `pattern` keeps those
    whose name matches. `file`: where the text is, if not on standard output. `better`: less or more.
    """

    name: str
    source: str = "wall"
    pattern: str = ""
    file: str = ""
    unit: str = ""
    better: str = "less"


@dataclass(frozen=True)
class Definition:
    """A test: shell commands, started in `directory` of the checked-out revision."""

    name: str
    run: str
    build: str = ""
    setup: str = ""
    directory: str = "."
    environment: dict[str, str] = field(default_factory=dict)
    warmup: int = 1
    limit_s: float = 3600.0
    numbers: tuple[Number, ...] = (Number("wall time", "wall", unit="s"),)

    @property
    def identity(self) -> str:
        """The same for tests whose numbers can be compared."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def find_test(word: str, repository: Path, build: str, patterns: list[str]) -> Definition:
    """The test of that name in the repository's file, as it is now; else the word is a command."""
    path = repository / FILE
    tables = read_tables(path) if path.is_file() else {}
    if word in tables:
        return test_of(word, tables[word], path)
    if " " not in word and not build and not patterns and tables:
        raise CommandError(
            f"{word}: no test of {path}, which has {', '.join(tables)}. A command may have spaces."
        )
    numbers = tuple(number_of_option(text) for text in patterns)
    return Definition(word, word, build=build, **({"numbers": numbers} if numbers else {}))


def number_of_option(text: str) -> Number:
    """NAME=REGEX, NAME=SOURCE, or a source alone."""
    name, equals, pattern = text.partition("=")
    if not equals:
        name, pattern = text, text
    if pattern in SOURCES and pattern != "regex":
        return check_number(Number(name, pattern), f"--number {text}")
    return check_number(Number(name, "regex", pattern), f"--number {text}")


def read_tables(path: Path) -> dict[str, Any]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path}: {error}") from None
    if wrong := [name for name, table in tables.items() if not isinstance(table, dict)]:
        raise CommandError(f"{path}: {wrong[0]}: not a table. A test is a table, such as [{wrong[0]}]")
    return tables


def test_of(name: str, table: dict[str, Any], path: Path) -> Definition:
    where = f"{path}: {name}"
    types = {"run": str, "build": str, "setup": str, "directory": str, "environment": dict, "warmup": int,
             "limit_s": (int, float), "numbers": list}  # fmt: skip
    for key, value in table.items():
        if key not in types:
            raise CommandError(f"{where}.{key}: unknown. Known: {', '.join(types)}")
        if not isinstance(value, types[key]):
            raise CommandError(f"{where}.{key} = {value!r}: of the wrong type")
    if not table.get("run"):
        raise CommandError(f"{where}.run: missing. Give the command that is measured")
    given = {key: value for key, value in table.items() if key != "numbers"}
    if "numbers" in table:
        given["numbers"] = tuple(number_of(one, where) for one in table["numbers"])
        if len({one.name for one in given["numbers"]}) != len(given["numbers"]) or not given["numbers"]:
            raise CommandError(f"{where}.numbers: none, or two of the same name")
    return Definition(name, **given)


def number_of(table: Any, where: str) -> Number:
    keys = {"name", "source", "pattern", "file", "unit", "better"}
    if not isinstance(table, dict) or set(table) - keys or "name" not in table:
        raise CommandError(
            f"{where}.numbers: {table!r}: a table with name, and some of {', '.join(sorted(keys))}"
        )
    return check_number(Number(**{"source": "regex" if "pattern" in table else "wall"} | table), where)


def check_number(number: Number, where: str) -> Number:
    if number.source not in SOURCES:
        raise CommandError(f"{where}: source = {number.source!r}: unknown. Known: {', '.join(SOURCES)}")
    if number.better not in BETTER:
        raise CommandError(f"{where}: better = {number.better!r}: it is less or more")
    try:
        groups = re.compile(number.pattern).groups
    except re.error as error:
        raise CommandError(f"{where}: pattern = {number.pattern!r}: {error}") from None
    if number.source == "regex" and groups != 1:
        raise CommandError(f"{where}: pattern = {number.pattern!r}: it must have one group, (...)")
    return number
