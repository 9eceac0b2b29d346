# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501
"""Files and directories that may not be read or written: one message with place and fix, status 2, and nothing that
is half made.

Root may do everything, and is nobody for as long as the command runs.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

import command

NOBODY = 65534
PROGRAM = '#include "part.fa"\nimport c_one(name r) as one;\nsub main() { df x; one(x); say(x); }\n'
PART = 'C++ sub say(int a) ${{ printf("%d\\n", a); $}}\n'
ONE = '#include <ucenv.h>\n#include "one.h"\nextern "C" void c_one(OutputDF &r) { r = 1; }\n'
FILES = {"p.fa": PROGRAM, "part.fa": PART, "one.cpp": ONE, "one.h": "#define ONE 1\n", "q.json": "{}"}
FOLDERS = ("shut", "shut/objects", "cache")


@pytest.fixture(autouse=True)
def place(monkeypatch) -> Iterator[Path]:
    """A directory of nobody's; those of pytest are shut to it."""
    with tempfile.TemporaryDirectory() as name:
        for folder in FOLDERS:
            (Path(name) / folder).mkdir()
        for file, text in FILES.items():
            (Path(name) / file).write_text(text)
        for path in [Path(name), *Path(name).rglob("*")]:
            if os.getuid() == 0:
                os.chown(path, NOBODY, NOBODY)
        monkeypatch.setenv("XDG_CACHE_HOME", f"{name}/cache")
        monkeypatch.chdir(name)
        yield Path(name)
        for path in [Path(name), *Path(name).rglob("*")]:
            path.chmod(0o755)


@cache
def load_modules() -> None:
    """Nobody may have no access to Python's own directories: what commands import is imported before."""
    Path("load.fa").write_text("sub main() main();\n")
    for words in ("--graph load.dot", "-o load.json", "--format"):
        assert command.tailrace("compile", "load.fa", *words.split()).status == 0
    for name in ("run", "luna"):
        command.tailrace(name, "none.fa")
    command.tailrace("run", "load.json", "--out", "cache")
    for path in Path().glob("load.*"):
        path.unlink()


@contextmanager
def nobody() -> Iterator[None]:
    """Gives up what root may do, and takes it back."""
    if os.getuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def answer_of(words: str) -> command.Answer:
    load_modules()
    with nobody():
        return command.tailrace(*words.split())


# What is shut and how, the words of the command, and what it says.
PLACES = [
    ("p.fa", 0o200, "compile --check p.fa", "p.fa: Permission denied\n  Fix: permission for it"),
    ("p.fa", 0o200, "run p.fa", "p.fa: Permission denied\n  Fix: permission for it"),
    ("p.fa", 0o200, "luna p.fa", "luna: fatal error: failed to read 'p.fa': Permission denied"),
    ("part.fa", 0o200, "compile --check p.fa", "part.fa: Permission denied\n  Fix: permission for it"),
    ("one.cpp", 0o200, "compile p.fa", "one.cpp: Permission denied\n  Fix: permission for it"),
    ("one.cpp", 0o200, "luna p.fa", "luna: fatal error: one.cpp: Permission denied\n  Fix: permission for it"),
    ("one.h", 0o200, "compile p.fa", "one.h: Permission denied\n  Fix: permission for it"),
    ("shut", 0o300, "compile p.fa --cpp-dir shut", "shut: Permission denied\n  Fix: permission for it"),
    ("shut", 0o500, "compile p.fa -o shut/p.so", "shut/p.so: shut cannot be written\n  Fix: -o FILE elsewhere"),
    ("shut", 0o500, "compile p.fa -o shut/p.json", "shut/p.json: shut cannot be written\n  Fix: -o FILE"),
    ("shut", 0o700, "compile p.fa -o shut", "shut: is a directory\n  Fix: -o FILE"),
    (".", 0o500, "compile p.fa", "p.so: . cannot be written\n  Fix: -o FILE elsewhere"),
    (".", 0o500, "run q.json", "runs: the run directory cannot be made: Permission denied. Fix: --out DIR"),
    ("shut", 0o500, "run q.json --out shut/d", "shut/d: the run directory cannot be made: Permission denied. Fix: --out"),
    ("shut", 0o500, "run q.json --overwrite --out shut", "shut: the run directory cannot be made: Permission denied. Fix: --out"),
    ("q.json", 0o200, "run q.json", "q.json: Permission denied\n  Fix: permission for it"),
    ("shut/objects", 0o500, "compile p.fa --build-dir shut", "shut/objects: cannot be written\n  Fix: --build"),
    ("shut", 0o500, "compile p.fa --build-dir shut/b", "shut/b/objects: Permission denied\n  Fix: --build-dir"),
    ("cache", 0o500, "compile p.fa", "the cache for objects cannot be made or written\n  Fix: set XDG_CACHE"),
    ("cache", 0o500, "run p.fa", "the cache for programs cannot be made or written\n  Fix: set XDG_CACHE_HOME"),
    ("p.fa", 0o400, "compile --format p.fa", "p.fa: Permission denied\n  Fix: permission for it"),
    ("shut", 0o500, "compile p.fa --graph shut/p.dot", "shut/p.dot: Permission denied\n  Fix: permission for it"),
]  # fmt: skip


@pytest.mark.parametrize(("shut", "mode", "words", "said"), PLACES, ids=range(len(PLACES)))
def test_places_that_are_shut(shut, mode, words, said):
    load_modules()
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    Path(shut).chmod(mode)
    answer = answer_of(words)
    Path(shut).chmod(0o755)
    status = 1 if words.startswith("luna") else 2
    assert (answer.status, answer.out) == (status, ""), answer
    assert said in answer.err and "Traceback" not in answer.err, answer
    assert answer.err.count("Fix: ") == said.count("Fix: ") or "luna" in words, answer
    after = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    made = {path for path in after.keys() - before.keys() if "grammar" not in path.parts}
    assert not made and all(after[path] == text for path, text in before.items()), made


def test_a_cache_that_is_shut_is_done_without_where_nothing_is_compiled():
    Path("cache").chmod(0o500)
    assert answer_of("compile p.fa --check") == command.Answer(0, "", "")
    assert answer_of("compile p.fa -o p.json") == command.Answer(0, "", "")
    assert Path("p.json").stat().st_mode & 0o777 == 0o666 & ~umask()


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
