# SPDX-License-Identifier: BSD-3-Clause
"""Bad C++, bad directories and a full disk: one message with place and fix, status 2, nothing half-built."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import command
from fragment_cache import own_cache

PROGRAM = (
    "import c_one(name r) as one;\nC++ sub show(int a) ${{ BODY $}}\nsub main() { df x; one(x); show(x); }\n"
)
ONE = '#include <ucenv.h>\nextern "C" void c_one(OutputDF &r) { r = 1; }\n'
PRINTS = 'printf("%d\\n", a);'


@pytest.fixture(autouse=True)
def place(tmp_path, tmp_path_factory, monkeypatch) -> Path:
    own_cache(tmp_path_factory, monkeypatch, tmp_path / "cache")
    monkeypatch.setenv("CXX_FLAGS", "-O0")
    monkeypatch.chdir(tmp_path)
    write(PRINTS)
    return tmp_path


def write(body: str, **sources: str) -> None:
    Path("p.fa").write_text(PROGRAM.replace("BODY", body))
    for name, text in {"one": ONE, **sources}.items():
        Path(f"{name}.cpp").write_text(text)


def refused(message: str, *words: str) -> None:
    """The command says this, and leaves nothing but what there was."""
    before = {path for path in Path().rglob("*") if "cache" not in path.parts}
    answer = command.tailrace("compile", "p.fa", *words)
    assert (answer.status, answer.out) == (2, ""), answer
    assert message in answer.err and "Traceback" not in answer.err, answer.err
    assert {path for path in Path().rglob("*") if "cache" not in path.parts} == before
    left = [path for path in Path("cache").rglob("*") if path.is_dir() and path.name.startswith("tmp")]
    assert left == []


def places_of(*words: str) -> list[str]:
    """The places of errors in C++, as editors get them; nothing is left."""
    before = sorted(Path().rglob("*.so"))
    answer = command.tailrace("compile", "p.fa", "--json", *words)
    assert answer.status == 2 and sorted(Path().rglob("*.so")) == before, answer
    found = json.loads(answer.out)["problems"]
    assert all(one["fix"] for one in found), found
    return [f"{one['file']}:{one['line']}:{one['column']}" for one in found if one["code"] == "CXX"]


def test_bodies_and_sources_that_do_not_compile():
    write(
        '/* \u00fc */\tint b = a +;\n  printf("%d", undeclared);\n',
        other='#include "other.h"\nint f() { return twice(1); }\n',
    )
    Path("other.h").write_text("template <class T> int twice(T t) { return t.times(2); }\n")
    refused(
        "p.fa:2:44: error: expected primary-expression before ';' token [CXX]\n"
        "C++ sub show(int a) ${{ /* \u00fc */\tint b = a +;\n"
        "                               \t           ^\n  Fix: mend the C++ of show\n"
    )
    assert places_of() == ["other.h:1:46", "p.fa:2:44", "p.fa:3:16"]


def test_what_cannot_be_linked():
    write("extern void nowhere(); nowhere();", other=ONE)
    refused(
        "p.fa:2:37: error: nowhere() is used here, but defined nowhere: "
        "undefined reference to `nowhere()' [CXX]"
    )
    refused("other.cpp:2:17: error: multiple definition of `c_one', first defined at one.cpp:2:17 [CXX]")
    assert places_of() == ["other.cpp:2:17", "p.fa:2:37"]


def test_a_library_that_is_not_there(monkeypatch):
    monkeypatch.setenv("LDFLAGS", "-L. -lnot_there_at_all")
    refused(
        "LDFLAGS:1:5: error: cannot find -lnot_there_at_all [CXX]\n-L. -lnot_there_at_all\n    ^\n  Fix: "
    )
    monkeypatch.setenv("LDFLAGS", "-Wl,--no-such-option")
    refused("LDFLAGS:1:1: error: p.so cannot be linked [CXX]")


def test_flags_that_the_compiler_does_not_know(monkeypatch):
    monkeypatch.setenv("CXX_FLAGS", "-O0 -fno-such-option-at-all")
    assert places_of() == ["CXX_FLAGS:1:5"]
    refused("  Fix: mend CXX_FLAGS")


def test_a_compiler_that_says_nothing(monkeypatch):
    script = Path("dies").absolute()
    script.write_text(
        '#!/bin/sh\nif [ "$1" = --version ]; then echo dies 1; exit 0; fi\necho killed >&2\nexit 1\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    refused("p.fa:2:24: error: the C++ compiler failed [CXX]")
    refused("\n  killed\n  Fix: see what it said; CXX names the compiler")


def test_the_compiler_is_no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "false")
    refused("the C++ compiler false cannot be started\n  Fix: install g++, or set CXX")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "none/p.so"], "there is no directory none. Fix: make it"),
        (["--cpp-dir", "none"], "none: there is no such file or directory"),
        (["--cpp-source", "none.cpp"], "none.cpp: there is no such file or directory"),
        (["--build-dir", "one.cpp"], "one.cpp/objects: Not a directory"),
        (["-o", "/proc/p.so"], "/proc"),
    ],
)
def test_directories_that_are_none(words, message):
    refused(message, *words)


def test_a_cache_that_cannot_be_made(monkeypatch):
    Path("file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", "file")
    refused(
        "objects: the cache for objects cannot be made or written\n"
        "  Fix: set XDG_CACHE_HOME to a directory of yours"
    )


def test_a_program_that_is_a_directory():
    Path("p.fa").unlink()
    Path("p.fa").mkdir()
    refused("p.fa: Is a directory")


def test_ten_thousand_brackets():
    Path("p.fa").write_text(f"sub main() {{ show({'(' * 10_000}1{')' * 10_000}); }}\n")
    refused("nested more than 1000 levels deep")


def test_a_thousand_terms():
    Path("p.fa").write_text(f"sub main(int n) {{ df x; show(n{' + 1' * 1500}); }}\n")
    refused("divide it; each operator of a formula counts, too")


def test_a_full_disk(place):
    """A disk of 64 KiB for the cache, where the system lets us make one; nothing of an object stays."""
    Path("cache").mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "cache"], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        write('static const char text[200000] = {1}; printf("%d\\n", a + text[a]);')
        refused("No space left on device")
        assert all(path.with_suffix("").is_file() for path in Path("cache").rglob("*.o.json"))
    finally:
        os.sync()
        subprocess.run(["umount", "cache"], check=True)


def test_a_compiler_that_finds_the_disk_full(monkeypatch):
    script = Path("full").absolute()
    script.write_text(
        '#!/bin/sh\nif [ "$1" = --version ]; then echo full 1; exit 0; fi\n'
        'echo "/tmp/x.s: No space left on device" >&2\nexit 1\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    refused("Fix: make room, or --build-dir or XDG_CACHE_HOME with a directory on another disk")
