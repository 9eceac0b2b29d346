# SPDX-License-Identifier: BSD-3-Clause
"""tailrace-fragments: serialised programs with bodies in a shared object, under mpirun."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import jobs
from fragment_cache import common_cache
from native import needs
from tailrace.programs import find_program

pytestmark = needs("tailrace-fragments")

INCLUDE = Path(__file__).resolve().parents[2] / "include"
RANKS = [1, 2] if jobs.waits_spin() else [1, 3]

SOURCE = """one.fa
one(x[0])
for i=1..n double_it(x[i-1], x[i])
show(x[n])
"""
BODIES = r"""
#include <cstdio>
#include <stdexcept>
#include <tailrace/fragments/body.h>
using Tailrace = const tailrace_body_interface*;
extern "C" void body_one(Tailrace t, tailrace_call* call) { t->set_int(call, 0, 1); }
extern "C" void body_double(Tailrace t, tailrace_call* call) {
  const int value = t->get_int(call, 0);
  std::printf("%s = ", t->name(call, 0));
  std::printf("%d\n", value);
  if (value > 1000000) throw std::runtime_error("too large");
  t->set_int(call, 1, 2 * value);
}
extern "C" void body_show(Tailrace t, tailrace_call* call) { std::printf("result %d", t->get_int(call, 0)); }
"""


def call(code: str, line: int, *args: list) -> dict:
    return {"type": "exec", "code": code, "args": list(args), "at": [0, line, 1]}


def program(last: str = "n") -> dict:
    """The document of SOURCE; `last` is the name whose value is the last index that is shown."""
    i, x = {"id": "i"}, {"id": "x", "n": 1}
    chain = call("double_it", 3, [i, 1, {"op": "-"}, x], [i, x])
    chain["at"] = [0, 3, 12]
    chain["rules"] = [{"ruletype": "expr", "property": "locator_cyclic", "expr": [i]}]
    show = call("show", 4, [{"id": "n"}, 1 if last == "n + 1" else 0, {"op": "+"}, x])
    loop = {"type": "for", "var": "i", "first": [1], "last": [{"id": "n"}], "body": [chain], "at": [0, 3, 1]}
    body = [{"type": "dfs", "names": [{"id": "x"}]}, call("one", 2, [0, x]), loop, show]
    extern = {
        name: {"type": "extern", "code": code, "args": [{"type": kind, "id": "v"} for kind in kinds]}
        for name, code, kinds in (
            ("one", "body_one", ["name"]),
            ("double_it", "body_double", ["int", "name"]),
            ("show", "body_show", ["int"]),
        )
    }
    main = {"type": "struct", "args": [{"type": "int", "id": "n"}], "body": body, "at": [0, 1, 1]}
    files = [{"name": "one.fa", "text": SOURCE}]
    return {"tailrace_fragments": 1, "name": "one", "files": files, "subs": {**extern, "main": main}}


def build(directory: Path, document: dict) -> Path:
    """A shared object with the document and the bodies."""
    text = json.dumps(document)
    symbols = f'extern "C" const char tailrace_fragments_program[] = R"~({text})~";\n'
    symbols += f'extern "C" const unsigned long long tailrace_fragments_program_size = {len(text)};\n'
    exported = symbols.replace('extern "C" ', "extern ")
    (directory / "one.cpp").write_text(BODIES + 'extern "C" {\n' + exported + "}\n")
    target = directory / "one.so"
    subprocess.run(
        ["c++", "-std=c++17", "-shared", "-fPIC", "-w", f"-I{INCLUDE}", directory / "one.cpp", "-o", target],
        check=True,
    )
    return target


@pytest.fixture(scope="module")
def shared_object(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("one"), program())


def start(*words, ranks: int) -> jobs.Ended:
    return jobs.Job(list(words), ranks, command=[str(find_program("tailrace-fragments"))]).wait()


@pytest.mark.parametrize("ranks", RANKS)
def test_lines_of_all_ranks_come_whole_to_standard_output(ranks, shared_object):
    ended = start("-t", ranks, shared_object, 12, ranks=ranks)
    assert ended.status == 0, ended
    assert ended.err == ""
    lines = ended.out.split("\n")
    expected = [f"x[{i}] = {2**i}" for i in range(12)]
    assert sorted(line for line in lines if line.startswith("x[")) == sorted(expected)
    assert "result 4096" in ended.out


@pytest.mark.parametrize("ranks", RANKS)
def test_a_program_that_cannot_finish_says_why_after_the_rest_has_run(ranks, tmp_path, shared_object):
    (tmp_path / "one.json").write_text(json.dumps(program("n + 1")))
    ended = start("--bodies", shared_object, tmp_path / "one.json", 2, ranks=ranks)
    assert ended.status == 3, ended
    assert sorted(ended.out.split()) == ["1", "2", "=", "=", "x[0]", "x[1]"]
    assert ended.err.startswith(
        "one.fa:4:1: error: the program cannot finish: 1 fragment waits. Nobody writes x[3]. [SEM3]\n"
        "show(x[n])\n^ needs x[3]\n"
        "  x[0] is written at one.fa:2:1, x[1..2] at one.fa:3:12\n"
    )


def test_a_body_that_throws_ends_the_program_with_its_text(shared_object):
    ended = start(shared_object, 25, ranks=2)
    assert ended.status == 3, ended
    assert ended.err.startswith("one.fa:3:12: error: double_it failed: too large\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{so}"], "main takes 1 argument (int n), got 0"),
        (["{so}", "12x"], "n: '12x' is no int"),
        (["missing.so", "1"], "missing.so cannot be loaded"),
        (["missing.json", "1"], "missing.json cannot be read"),
        (["--transport", "carrier", "{so}", "1"], "transport 'carrier' is not known"),
        (["-t", "0", "{so}", "1"], "--threads: Value 0 not in range"),
        (
            ["--checkpoints", "d", "--checkpoint-every-s", "0", "{so}"],
            "--checkpoint-every-s: 0 is not above 0.",
        ),
        (["--bogus", "{so}"], "there is no option --bogus."),
        ([], "no program is given"),
    ],
)
def test_what_cannot_start_is_one_message_and_status_2(words, message, shared_object):
    ended = start(*[word.format(so=shared_object) for word in words], ranks=2)
    assert ended.status == 2, ended
    assert ended.err.count(message) == 1, ended


def test_a_program_whose_library_is_gone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gone.cpp").write_text("int gone() { return 7; }\n")
    Path("p.cpp").write_text("int gone();\nint needs() { return gone(); }\n")
    library = ["g++", "-shared", "-fPIC", "-Wl,--no-as-needed"]
    subprocess.run([*library, "gone.cpp", "-o", "libgone.so"], check=True)
    subprocess.run([*library, "p.cpp", "-L.", "-lgone", "-o", "p.so"], check=True)
    Path("libgone.so").unlink()
    ended = start(Path("p.so").absolute(), ranks=2)
    assert ended.status == 2 and ended.err.count("p.so cannot be loaded: libgone.so: ") == 1, ended
    assert ended.out == ""


def test_ranks_as_threads_of_one_process(shared_object):
    ended = start("--transport", "local:3", shared_object, 12, ranks=1)
    assert ended.status == 0, ended
    assert "result 4096" in ended.out


POWERS = Path(__file__).resolve().parents[2] / "examples" / "fragments" / "powers.fa"


@pytest.mark.parametrize("ranks", RANKS)
def test_a_source_is_compiled_by_rank_0(ranks, tmp_path, tmp_path_factory, monkeypatch):
    commands = tmp_path / "tailrace"
    commands.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nexec {" ".join(jobs.TAILRACE)} "$@"\n')
    commands.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", common_cache(tmp_path_factory))
    ended = jobs.Job([POWERS, 10], ranks, command=[str(find_program("tailrace-fragments"))]).wait()
    assert ended.status == 0, ended
    assert sorted(ended.out.splitlines()) == ["even 2", "even 32", "even 8", "first over 100: 128"]
    assert len((tmp_path / "calls").read_text().splitlines()) == 1


def test_a_source_that_cannot_be_compiled(tmp_path, monkeypatch):
    native = [str(find_program("tailrace-fragments"))]
    launcher_folder = Path(jobs.launcher().path).parent if jobs.launcher().path else tmp_path
    monkeypatch.setenv("PATH", f"{tmp_path}:{launcher_folder}")
    if not (launcher_folder / "tailrace").exists():
        ended = jobs.Job([POWERS, 10], 2, command=native).wait()
        assert ended.status == 2 and "tailrace cannot be started: No such file" in ended.err, ended
        assert f"`tailrace compile {POWERS}` where it is" in ended.err
    (tmp_path / "tailrace").write_text("#!/bin/sh\nexit 2\n")
    (tmp_path / "tailrace").chmod(0o755)
    ended = jobs.Job([POWERS, 10], 2, command=native).wait()
    assert ended.status == 2 and f"{POWERS} does not compile" in ended.err, ended
