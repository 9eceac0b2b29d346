# SPDX-License-Identifier: BSD-3-Clause
"""`luna` and `rts` of share/tailrace/luna/bin, and the script that runs LuNA's own tests with them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import jobs
from fragment_cache import common_cache
from native import needs
from tailrace.launch import Layout, find_launcher, launch_command, root_permission
from tailrace.programs import find_program, launch_info

pytestmark = needs("tailrace-fragments")

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "share" / "tailrace" / "luna"
BINARIES = Path(find_program("tailrace-fragments") or ".").parent
LIMIT_S = 300

PROGRAM = """#!/usr/bin/luna
import c_say(string, int) as say;
C++ sub one(name r) ${{ r = 1; fprintf(stderr, "at work\\n"); $}}
sub main(string what, int n) { df x; one(x); for i = 1..n say(what, x + i) @ { locator_cyclic: i; }; }
"""
SOURCE = (
    '#include <cstdio>\nextern "C" void c_say(const char *what, int v) { printf("%s %d\\n", what, v); }\n'
)
WAITS = 'C++ sub show(int a) ${{ printf("%d\\n", a); $}}\nsub main() { df x; show(x); show(1); }\n'
CHANGES = """C++ sub one(name r) ${{ r.create<int>(2, 5); $}}
C++ sub spoil(value v) ${{ ((int *)v.getData<int>())[1] = 6; $}}
sub main() { df x; one(x); spoil(x); }
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("luna")
    (folder / "cache").symlink_to(common_cache(tmp_path_factory))
    (folder / "say").mkdir()
    (folder / "say" / "p.fa").write_text(PROGRAM)
    (folder / "say" / "say.cpp").write_text(SOURCE)
    (folder / "waits.fa").write_text(WAITS)
    (folder / "changes.fa").write_text(CHANGES)
    return folder


def start(place: Path, *words: object) -> jobs.Ended:
    """Runs a command with LuNA's programs on PATH."""
    environment = os.environ | root_permission() | {"PATH": f"{HOME / 'bin'}:{os.environ['PATH']}"}
    environment |= {"XDG_CACHE_HOME": str(place / "cache"), "TAILRACE_BIN_DIR": str(BINARIES)}
    done = subprocess.run(
        [*map(str, words)],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return jobs.Ended(done.returncode, done.stdout, done.stderr, 0.0)


def test_a_program_runs_as_luna_runs_it(place):
    ended = start(place, "luna", "-q", "-O0", "say/p.fa", "it is", 3)
    assert (ended.status, ended.err) == (0, ""), ended
    assert sorted(ended.out.splitlines()) == ["it is 2", "it is 3", "it is 4"]
    timed = start(place, "luna", "-O0", "-t", "-u", "--worker-threads-count=2", "say/p.fa", "it is", 1)
    assert timed.status == 0 and "at work" in timed.err, timed
    said, time = timed.out.splitlines()
    assert said == "it is 2" and time.startswith("TIME: ") and time.endswith(" sec.")
    assert "of 2 workers" in timed.err


def test_compiled_once_and_run_on_ranks_by_mpirun(place):
    made = start(place, "luna", "-c", "-O0", "say/p.fa")
    assert made.status == 0 and made.out.split()[-1] == str(place / "libucodes.so"), made
    words = ["rts", "--worker-threads-count=1", "-b", "-u", "libucodes.so", "-n", 4]
    launcher = find_launcher(launch_info(find_program("tailrace-fragments")), None, 2)
    ended = start(
        place, *launch_command(launcher, Layout(2, 1, "none", oversubscribe=True), list(map(str, words)))
    )
    assert ended.status == 0, ended
    assert sorted(ended.out.splitlines()) == ["-n 2", "-n 3", "-n 4", "-n 5"]
    assert ended.err.count("rts: -u: ") == 1


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--help"], 0, "Usage: mpirun -np N rts"),
        (["--version"], 0, "tailrace "),
        ([], 1, "rts: no program is given"),
        (["--nonsense", "p.so"], 1, "rts: --nonsense: unknown option"),
        (
            ["--worker-threads-count=x", "p.so"],
            1,
            "rts: --worker-threads-count=x: a number above 0 is needed",
        ),
        (["none.so"], 2, "none.so cannot be loaded"),
    ],
)
def test_words_of_rts(place, words, status, said):
    ended = start(place, "rts", *words)
    assert ended.status == status and said in ended.out + ended.err, ended


def test_programs_that_fail(place):
    waits = start(place, "luna", "-q", "-g", "-O0", "waits.fa")
    assert (waits.status, waits.out) == (1, "1\n"), waits
    assert "System is idle, but unfinished CFs (1) exist." in waits.err
    assert "Nobody writes x" in waits.err and waits.err.endswith(
        "luna: fatal error: run-time error: errcode=3\n"
    )
    changes = start(place, "luna", "-q", "-g", "-O0", "changes.fa")
    assert changes.status == 1, changes
    assert "changes.fa:3:28: error: spoil failed: it has changed x, an input of type value" in changes.err
    wrong = start(place, "luna", "-q", "say/p.fa", "a", "12x")
    assert wrong.status == 1 and "n: '12x' is no int" in wrong.err and "argv" in wrong.err, wrong


SUITE = {
    "tests/good/conf": "# a test\nRUN=luna -q -O0 p.fa\nRETCODE=0\nSTDOUT=out.txt\nSTDERR_EMPTY\n",
    "tests/good/p.fa": 'C++ sub say(int i) ${{ printf("%d\\n", i); $}}\nsub main() for i = 1..3 say(i);\n',
    "tests/good/out.txt": "3\n2\n1\n",
    "tests/refused/conf": "RUN=luna -q p.fa\nRETCODE=1\nSTDERR_MATCH=p.fa:1:12:$\nSTDOUT_EMPTY\n",
    "tests/refused/p.fa": "sub main() nope();\n",
    "tests/other/conf": "RUN=luna -q p.fa\nRETCODE=0\nSTDOUT_MATCH=never\n",
    "tests/other/p.fa": "sub main() nope();\n",
    "examples/one/p.fa": "C++ sub say(string s) ${{ puts(s); $}}\nsub main(string a, string b) say(a + b);\n",
    "examples/one/part.fa": "sub no_main() no_main();\n",
}


def test_the_suite_of_a_directory_laid_out_as_that_of_luna(tmp_path, place):
    for name, text in SUITE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    words = [sys.executable, ROOT / "scripts" / "luna_suite.py", tmp_path, "--ranks", "2"]
    ended = start(place, *words, "--json", place / "outcomes.json")
    assert ended.status == 1, ended
    found = {one["name"]: one["differences"] for one in json.loads((place / "outcomes.json").read_text())}
    assert found.keys() == {"tests/good", "tests/refused", "tests/other", "examples/one/p.fa"}
    assert [name for name in found if found[name]] == ["tests/other"], ended.out
    assert "exit status 1, not 0" in found["tests/other"]
    assert {path.name for path in (tmp_path / "tests/good").iterdir()} == {"conf", "p.fa", "out.txt"}
