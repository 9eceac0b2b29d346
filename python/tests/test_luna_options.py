# SPDX-License-Identifier: BSD-3-Clause
"""The words of LuNA's launcher: each option, and what it refuses."""

import os
from pathlib import Path

import pytest

import command
from fragment_cache import common_cache
from tailrace.luna_options import DEFAULT_WORKERS, FLAGS, HELP, VALUES, parse_words

BODIES = "C++ sub say(string s) ${{ puts(s); $}}\nimport c_none(int) as none;\n"


@pytest.fixture(autouse=True)
def place(tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", common_cache(tmp_path_factory))
    monkeypatch.delenv("LUNA_NO_CLEANUP", raising=False)


WORDS = [
    (["p.fa"], {"program": Path("p.fa"), "arguments": [], "workers": DEFAULT_WORKERS}),
    (["p.fa", "-q", "-D"], {"arguments": ["-q", "-D"], "quiet": False}),
    (["-q", "p.fa"], {"quiet": True}),
    (["--quiet", "p.fa"], {"quiet": True}),
    (["--verbose", "p.fa"], {"verbose": True}),
    (["-g", "-b", "-t", "-u", "p.fa"], {"debug": True, "balance": True, "times": True, "usage": True}),
    (["-O0", "-O0", "p.fa"], {"optimisation": "-O0"}),
    (["-O", "p.fa"], {"optimisation": "-O"}),
    (["-D", "A", "-D", "B=1 + 1", "p.fa"], {"defines": ["A", "B=1 + 1"]}),
    (["--worker-threads-count=2", "p.fa"], {"workers": 2}),
    (["--build-dir=d", "--no-cleanup", "p.fa"], {"build_dir": Path("d"), "keeps": True}),
    (["--cpp-dir=a:b", "--cpp-source=c.cpp:d.cpp", "p.fa"], {"cpp_dir": "a:b", "cpp_source": "c.cpp:d.cpp"}),
    (["--compile-only", "p.fa"], {"only_compiles": True, "keeps": True, "output": None}),
    (["-c", "p.fa"], {"only_compiles": True, "output": Path("libucodes.so")}),
    (["-c", "--output-file=x.so", "p.fa"], {"output": Path("x.so")}),
    (["--disable-warning=1", "--x"], {"program": Path("--x"), "notes": []}),
    (["--x", "1"], {"notes": ["WARNING#1: suspicious program name: '--x' (mistyped a key?)"]}),
]  # fmt: skip


@pytest.mark.parametrize(("words", "fields"), WORDS, ids=range(len(WORDS)))
def test_words(words, fields):
    request = parse_words(words, {})
    assert {name: getattr(request, name) for name in fields} == fields


REFUSED = [
    ([], "no program specified"),
    (["-q"], "no program specified"),
    (["-D"], "no value provided for -D key"),
    (["-O", "-O0", "p.fa"], "conflicting optimization options: '-O' and '-O0'"),
    (["--output-file=x.so", "p.fa"], "--output-file supported only with -c before"),
    (["--worker-threads-count=0", "p.fa"], "a number above 0 is needed"),
    (["--disable-warning=x", "p.fa"], "'--disable-warning' requires numerical argument, got: x"),
    (["-q", "none.fa"], "failed to read 'none.fa'"),
    (["-q", "."], "failed to read '.'"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_what_is_refused(words, message):
    answer = command.tailrace("luna", *words)
    assert (answer.status, answer.out) == (1, "")
    assert answer.err.startswith("luna: fatal error: ") and message in answer.err


@pytest.mark.parametrize("words", [["--luna-home=/opt/luna"], ["--disable-warning=7"]])
def test_what_means_nothing_here_is_said_once(words):
    Path("p.fa").write_text("sub main() nope();\n")
    answer = command.tailrace("luna", *words, "p.fa")
    assert answer.err.count(words[0]) == 1


def test_the_environment():
    assert parse_words(["p.fa"], {"LUNA_NO_CLEANUP": ""}).keeps
    assert not parse_words(["p.fa"], {}).keeps


def test_help_names_every_option():
    for words in (["--help"], ["-q", "p.fa", "--help"]):
        answer = command.tailrace("luna", *words)
        assert (answer.status, answer.err) == (0, "")
        assert answer.out.strip() == HELP.strip()
        lines = answer.out.splitlines()
        assert {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT"} <= set(lines)
        assert all(option in answer.out for option in (*FLAGS, *VALUES, "--help", "-D "))


GENERATION = "fatal error: cpp-generation failed (see below):"
RECOMMENDATIONS = "fatal error: recom-generation failed (see below):"
PREPROCESSING = "fatal error: preprocessing failed (see error messages below):"
LATE_DF = "df is not at the start of its block, or is its second one"
# Programs with an error, and how LuNA's message of it begins; the place is behind the text.
ERRORS = [
    (
        'sub main() { if "1" >= "2" say("a"); }',
        GENERATION,
        "invalid operation on strings: >= [SYN1] at p.fa:3:21:",
    ),
    ("sub main() nope();", RECOMMENDATIONS, "unknown subroutine nope; there is none [SYN2] at p.fa:3:12:"),
    ("sub main() { say(x); }", RECOMMENDATIONS, "unknown name x [SYN9] at p.fa:3:18:"),
    ("sub main() { df x; df y; say(x); }", f"compile error: {LATE_DF} at p.fa:3", "at p.fa:3:20:"),
    ("sub main() { say( }", "compile error: unexpected } at p.fa:3", "unexpected } [SYN] at p.fa:3:19:"),
    ("sub main() say($A);", PREPROCESSING, "at p.fa:3:16:"),
    ("sub main() none(1);", GENERATION, "there is no C++ function c_none"),
]


@pytest.mark.parametrize(("text", "head", "line"), ERRORS)
def test_errors_begin_as_those_of_luna(text, head, line):
    Path("p.fa").write_text(BODIES + text + "\n")
    answer = command.tailrace("luna", "-q", "p.fa")
    assert (answer.status, answer.out) == (1, "")
    assert answer.err.splitlines()[0] == f"luna: {head}", answer.err
    assert any(line in one for one in answer.err.splitlines()), answer.err


def test_cxx_that_does_not_compile():
    Path("p.fa").write_text("C++ sub main() ${<%%%}\n{this won't compile\n}%%%\n")
    answer = command.tailrace("luna", "-q", "p.fa")
    assert answer.status == 1 and answer.err.startswith("luna: compile error: ") and "p.fa:2:" in answer.err


def test_of_several_imports_of_a_name_the_last_one_counts():
    Path("c.cpp").write_text(
        '#include <cstdio>\nextern "C" void a() { puts("a"); }\nextern "C" void b() { puts("b"); }\n'
    )
    Path("p.fa").write_text("import a() as b;\nimport b();\nsub main() b();\n")
    assert command.tailrace("luna", "-c", "-q", "p.fa").status == 0
    answer = command.tailrace("compile", "p.fa")
    assert answer.status == 2 and "[SYN6.1]" in answer.err


def test_a_function_with_other_parameters_is_called_as_the_import_says():
    Path("c.cpp").write_text('extern "C" void a(const char *, int n) { (void)n; }\n')
    Path("p.fa").write_text("import a(int, int);\nsub main() a(0, 7);\n")
    answer = command.tailrace("luna", "-c", "p.fa")
    assert answer.status == 0 and "p.fa:1:8: warning: the C++ function is a(" in answer.err, answer
    answer = command.tailrace("compile", "p.fa")
    assert answer.status == 2 and "[SYN12]" in answer.err


def test_compile_only_says_what_goes_behind_mpirun():
    Path("p.fa").write_text(BODIES + "sub main(string s) say(s);\n")
    answer = command.tailrace("luna", "--compile-only", "-b", "--build-dir=d", "p.fa", "a b")
    words = answer.out.split()
    assert answer.status == 0 and words[0].endswith("/luna/bin/rts") and os.access(words[0], os.X_OK)
    assert words[1:] == ["--worker-threads-count=4", "-b", str(Path("d/libucodes.so").absolute()), "'a", "b'"]
    assert Path("d/libucodes.so").is_file()
    assert {path.name for path in Path().iterdir()} - {"cache"} == {"d", "p.fa"}


def test_only_what_was_made_is_removed_from_the_build_directory():
    Path("d").mkdir()
    Path("d/mine").write_text("")
    Path("p.fa").write_text(BODIES + "sub main() nope();\n")
    command.tailrace("luna", "-q", "--build-dir=d", "p.fa")
    assert [path.name for path in Path("d").iterdir()] == ["mine"]
