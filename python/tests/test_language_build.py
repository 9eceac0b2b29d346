# SPDX-License-Identifier: BSD-3-Clause
"""What is compiled again after each kind of change, and what becomes of a cache that is damaged."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import command
from fragment_cache import own_cache
from tailrace.fragments import build
from tailrace.fragments.build import Builder
from tailrace.fragments.compile import Source, compile_with_builder
from tailrace.fragments.compilers import find_compiler
from tailrace.fragments.folders import needed_folder

PROGRAM = """C++ head ${{
#include "head.h"
$}}
import c_two(name r) as two;
C++ sub one(name r) ${{ r = 1; $}}
C++ sub checked(int a, name r) ${{ assert(a); r = a; $}}
C++ sub show(int a) ${{ printf("%d\\n", a + HEAD); $}}
sub main() { df x, y, z; one(x); two(y); checked(x + y, z); show(z); }
"""
SOURCE = '#include "own.h"\nextern "C" void c_two(OutputDF &r) { r = TWO; }\n'
FILES = {
    "p.fa": PROGRAM,
    "two.cpp": SOURCE,
    "own.h": "#include <ucenv.h>\n#define TWO 2\n",
    "head.h": "#define HEAD 0\n",
}
ALL = ["checked", "one", "program", "show", "two.cpp"]
BODIES = ["checked", "one", "show"]


@pytest.fixture(autouse=True)
def place(tmp_path, tmp_path_factory, monkeypatch) -> Path:
    own_cache(tmp_path_factory, monkeypatch, tmp_path / "cache")
    monkeypatch.setenv("CXX_FLAGS", "-O0 -I.")
    monkeypatch.chdir(tmp_path)
    write_program()
    return tmp_path


def compiled(**options: bool) -> list[str]:
    """Makes p.so; the names of the units that had to be compiled."""
    builder = Builder(needed_folder("objects"), find_compiler(**options))
    problems, _ = compile_with_builder(Source(Path("p.fa")), Path("p.so"), lambda: builder)
    assert problems.errors == [], problems.as_text()
    return sorted(builder.compiled)


def replace(file: str, old: str, new: str) -> Callable[[], object]:
    def change() -> None:
        text = Path(file).read_text()
        assert old in text
        Path(file).write_text(text.replace(old, new))

    return change


# What is changed, and what has to be compiled then.
CHANGES = [
    ("nothing", lambda: None, []),
    ("a body", replace("p.fa", "r = 1;", "r = 3;"), ["one", "program"]),
    ("lines above bodies: only where assert knows its line", lambda: Path("p.fa").write_text("\n" + PROGRAM),
     ["checked", "program"]),
    ("a statement", replace("p.fa", "show(z);", "show(z + 1);"), ["program"]),
    ("a source", replace("two.cpp", "TWO;", "TWO + 1;"), ["two.cpp"]),
    ("a header of a source", replace("own.h", "TWO 2", "TWO 4"), ["two.cpp"]),
    ("a header of all bodies", replace("head.h", "HEAD 0", "HEAD 7"), BODIES),
    ("a file touched", lambda: os.utime("own.h"), []),
    ("flags", lambda: os.environ.update(CXX_FLAGS="-O1 -I."), ALL),
    ("another compiler", lambda: os.environ.update(CXX=other_compiler()), ALL),
    ("one more source", lambda: Path("more.cpp").write_text("void more() {}\n"), ["more.cpp"]),
    ("a damaged object", lambda: damage(newest(kept_objects(), 1)), 1),
    ("all objects damaged", lambda: damage(kept_objects()), ALL),
    ("a damaged record", lambda: damage(newest(kept_records(), 1)), 1),
    ("a record of something else", lambda: newest(kept_records(), 1)[0].write_text("[1]"), 1),
    ("objects gone", lambda: [path.unlink() for path in newest(kept_objects(), 2)], 2),
]  # fmt: skip


def kept_objects() -> list[Path]:
    return sorted(Path("cache").rglob("*.o"))


def kept_records() -> list[Path]:
    return sorted(Path("cache").rglob("*.o.json"))


def newest(files: list[Path], count: int) -> list[Path]:
    """Those that were compiled or used last: others may be of earlier flags or sources."""
    return sorted(files, key=lambda one: one.stat().st_mtime_ns)[-count:]


def damage(files) -> None:
    for path in files:
        path.write_bytes(path.read_bytes()[:-40])


def other_compiler() -> str:
    """The same compiler that calls itself otherwise."""
    script = Path("other").absolute()
    script.write_text('#!/bin/sh\nif [ "$1" = --version ]; then echo other 1.0; else exec g++ "$@"; fi\n')
    script.chmod(0o755)
    return str(script)


def write_program() -> None:
    for name, text in FILES.items():
        Path(name).write_text(text)
    Path("more.cpp").unlink(missing_ok=True)


def test_what_is_compiled_again(monkeypatch):
    for what, change, expected in CHANGES:
        with monkeypatch.context() as patch:
            patch.setenv("CXX", "g++")
            patch.setenv("CXX_FLAGS", "-O0 -I.")
            write_program()
            compiled()
            assert compiled() == [], what
            change()
            again = compiled()
            fits = len(again) == expected if isinstance(expected, int) else again == expected
            assert fits, (what, again)
            assert compiled() == [], what


def test_debug_information_has_places():
    assert compiled() == ALL
    assert compiled(debug=True) == ALL
    Path("p.fa").write_text("\n" + PROGRAM)
    assert compiled(debug=True) == [*BODIES[:2], "program", "show"]


@pytest.fixture
def own_header(place):
    """No header that other tests use, too."""
    Path("cache/tailrace/fragments/objects/headers").unlink()


def test_the_header_of_all_is_compiled_once_and_not_trusted_when_damaged(own_header):
    compiled()
    (header,) = Path("cache").rglob("*.gch")
    made = header.stat().st_mtime_ns
    Path("own.h").write_text("#include <ucenv.h>\n#define TWO 3\n")
    compiled()
    assert header.stat().st_size > 0 and header.stat().st_mtime_ns >= made
    header.write_bytes(b"gpch nonsense")
    Path("own.h").write_text("#include <ucenv.h>\n#define TWO 5\n")
    assert compiled() == ["two.cpp"]
    assert header.stat().st_size > 1_000_000


def test_a_source_that_changes_while_it_is_compiled_is_compiled_again():
    script = Path("slow").absolute()
    script.write_text(
        '#!/bin/sh\nif [ "$1" = --version ]; then exec g++ --version; fi\ng++ "$@"; status=$?\n'
        'case "$*" in *unit.cpp*) echo "#define TWO 9" > own.h; echo "#include <ucenv.h>" >> own.h;; esac\n'
        "exit $status\n"
    )
    script.chmod(0o755)
    os.environ["CXX"] = str(script)
    try:
        compiled()
        assert "two.cpp" in compiled()
    finally:
        del os.environ["CXX"]


def test_two_at_once_do_not_disturb_each_other():
    words = [sys.executable, "-m", "tailrace", "compile", "p.fa", "-o"]
    environment = command.environment()
    runs = [
        subprocess.Popen([*words, f"{name}.so"], env=environment, stderr=subprocess.PIPE, text=True)
        for name in "abc"
    ]
    said = [run.communicate()[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], said
    assert all(Path(f"{name}.so").stat().st_size > 1000 for name in "abc")
    assert compiled() == []


def test_what_was_used_longest_ago_goes_when_there_is_too_much(own_header, monkeypatch):
    compiled()
    objects = kept_objects()
    for age, path in enumerate(objects):
        os.utime(path, (1e9 + age, 1e9 + age))
    monkeypatch.setattr(build, "MAX_KEPT", 2)
    Builder(needed_folder("objects"), find_compiler()).prune()
    # The precompiled header is newer, and one of the two.
    assert kept_objects() == objects[-1:]
    assert len(list(Path("cache").rglob("*.o.json"))) == 1


def test_objects_elsewhere():
    answer = command.tailrace("compile", "p.fa", "--build-dir", "built")
    assert answer.status == 0, answer
    assert len(list(Path("built/objects").glob("*.o"))) == len(ALL)
    assert kept_objects() == []
