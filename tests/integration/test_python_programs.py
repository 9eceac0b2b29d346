# SPDX-License-Identifier: BSD-3-Clause
"""Fragment programs in Python on ranks: what they print, how they end, and whose memory their arrays are."""

import json
import signal
import sys
from functools import partial
from pathlib import Path

import pytest

import jobs
from native import cannot, needs
from tailrace.programs import find_library

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "fragments"
RANKS = [1, 2] if jobs.waits_spin() else [1, 2, 3]
LIBRARY = f"tailrace_python-{sys.version_info.major}.{sys.version_info.minor}"

pytestmark = needs("tailrace-fragments")

POWERS = """from tailrace.fragments import Name, Program, df, home, loop, repeat, when

program = Program()


@program.body
def one(r: Name):
    r.set(1)


@program.body
def double_it(a: int, r: Name):
    r.set(2 * a)


@program.body
def show(what: str, v: int):
    print(what, v)


@program.sub
def powers(x: Name, n: int):
    one(x[0])
    with loop("i", 1, n) as i:
        double_it(x[i - 1], x[i]).on(i)


@program.main
def main(n: int):
    x, big = df("x", "big")
    home(x, lambda i: i)
    powers(x, n)
    with repeat("k", 0, lambda k: x[k] < 100, out=big) as k:
        with when((k + 1) % 2 == 0):
            show("even", x[k])
    show("first over 100:", x[big])
"""


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory):
    """Where run directories are made."""
    if find_library(LIBRARY, "tailrace_python") is None:
        cannot("run programs in Python: the library of bodies in Python was not built")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("place"))
        yield Path.cwd()


def line_of(text: str) -> int:
    return POWERS[: POWERS.index(text)].count("\n") + 1


def written(text: str, name: str = "p.py") -> Path:
    path = Path(name)
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def powers(place) -> dict[tuple[int, int], jobs.Ended]:
    """How the program of powers ends, by ranks and argument; with reports for the larger one."""
    source = written(POWERS, "powers.py")
    cases = [(ranks, n) for ranks in RANKS for n in (10, 3)]
    silent = {3: ["--no-report"], 10: []}
    runs = [
        partial(jobs.tailrace, "run", source, "-n", ranks, "--out", f"runs/{ranks}-{n}", *silent[n], n)
        for ranks, n in cases
    ]
    return dict(zip(cases, jobs.in_parallel(runs), strict=True))


@pytest.mark.parametrize("ranks", RANKS)
def test_powers(ranks, powers):
    ended = powers[ranks, 10]
    assert ended.status == 0, ended
    assert sorted(ended.out.splitlines()) == ["even 2", "even 32", "even 8", "first over 100: 128"]
    assert f"report: runs/{ranks}-10/report.html" in ended.err
    account = json.loads(Path(f"runs/{ranks}-10/run.json").read_text())
    counts = {one["name"]: one["executed"] for one in account["fragments"]["statements"]}
    assert (counts["double_it"], counts["one"], counts["show"]) == (10, 1, 1)


@pytest.mark.parametrize("ranks", RANKS)
def test_one_that_cannot_finish(ranks, powers):
    ended = powers[ranks, 3]
    assert ended.status == 3, ended
    assert sorted(ended.out.splitlines()) == ["even 2", "even 8"]
    assert ended.err.startswith(
        f"powers.py:{line_of('with repeat')}:5: error: the program cannot finish: 2 fragments wait. "
        "Nobody writes x[4]. [SEM3]\n"
        '    with repeat("k", 0, lambda k: x[k] < 100, out=big) as k:\n    ^ needs x[4] at k = 4\n'
    )
    assert f"called from powers.py:{line_of('    powers(x, n)')}:5 as powers(x, 3)" in ended.err


def test_the_report_shows_the_text(powers):
    page = Path(f"runs/{RANKS[-1]}-10/report.html").read_text()
    assert (
        "double_it" in page
        and '<tr id="line-' in page
        and f"powers.py:{line_of('        double_it(')}:9" in page
    )


@pytest.mark.parametrize("ranks", [1, RANKS[-1]])
def test_the_example(ranks):
    ended = jobs.tailrace("run", EXAMPLES / "stencil1d.py", "-n", ranks, "--no-report", 4, 100, 50)
    assert (ended.status, ended.out) == (0, "400 cells, 50 steps: off by rounding\n"), ended


HEAD = """import numpy as np
from tailrace.fragments import Changeable, Name, Program, Value, df, loop
program = Program()
@program.body
def make(r: Name):
    {make}
@program.body
def see(v: {type}, r: Name):
    {see}
@program.body
def show(v: {shown}):
    print(v)
@program.main
def main():
    x, y = df("x", "y")
    make(x).uses(x, 1)
    see(x, y)
    show(y)
"""


def run(make: str, see: str, shown: str = "Value", takes: str = "Value") -> jobs.Ended:
    text = HEAD.format(make=make, see=see, shown=shown, type=takes)
    return jobs.tailrace("run", written(text), "--no-report")


VALUES = {
    "an int": ("r.set(True + 2)", "r.set(v)", "3"),
    "an int of NumPy": ("r.set(np.int64(-7))", "r.set(v + 1)", "-6"),
    "a real": ("r.set(np.float32(0.5))", "r.set(v)", "0.5"),
    "a text": ("r.set('a é b')", "r.set(v + '!')", "a é b!"),
    "an array": ("r.set(np.arange(6, dtype='i2').reshape(2, 3))", "r.set(f'{v.dtype} {v.shape} {v.sum()}')",
                 "int16 (2, 3) 15"),
    "an array on": ("r.create((1, 2), complex)[0, 1] = 1j", "r.set(v)", "[[0.+0.j 0.+1.j]]"),
    "an empty array": ("r.create(0)", "r.set(v.size)", "0"),
    "the last one": ("r.set(1); r.set('two')", "r.set(v)", "two"),
    "a name": ("r.set(r.name)", "r.set(v + r.name)", "xy"),
}  # fmt: skip


@pytest.mark.parametrize("what", VALUES)
def test_values(what):
    make, see, printed = VALUES[what]
    ended = run(make, see)
    assert (ended.status, ended.out) == (0, printed + "\n"), ended


def test_arrays_are_the_memory_of_values():
    """Address and content, from body to body without a copy; what is kept of an array stays."""
    at = "__array_interface__['data'][0]"
    ended = run(
        f"a = r.create(1000); a[:] = 7; program.kept = a.{at}",
        f"program.v = v; r.set(int(v.{at} == program.kept and not v.flags.writeable and v.sum() == 7000))",
    )
    assert (ended.status, ended.out) == (0, "1\n"), ended
    changed = run(
        f"a = r.create(3); program.kept = a.{at}; del a",
        f"v += 1; program.v = v; r.set(int(v.sum()) + 100 * int(v.{at} == program.kept))",
        takes="Changeable",
    )
    assert (changed.status, changed.out) == (0, "103\n"), changed


FAULTS = {
    "r.set(1 // 0)": "make failed: ZeroDivisionError: integer division or modulo by zero (p.py:6, in make)",
    "pass": "make has not set its output x",
    "r.set(2**31)": "make failed: OverflowError: x is set to 2147483648, which is no int of 32 bits",
    "r.set([1])": "make failed: TypeError: x is set to a list. Fix: an int, a float, a str or a NumPy array",
    "r.set(None)": "make failed: TypeError: x is set to a NoneType. Fix: an int, a float, a str or a NumPy",
    "r.create((-1,), 'f8')": "make failed: ValueError: x: there is no array of the shape (-1,). Fix: extents",
    "r.create(2, object)": "make failed: TypeError: x: an array of object is no value",
    "r.set(1); return 2": "make failed: TypeError: make returns a value. Fix: set outputs",
    "r.set('a\\0b')": "make failed: ValueError: a string of the language has no 0 in it",
    "import sys; sys.exit(5)": "make failed: SystemExit: 5",
    "r.set('no number')": "y has type string",
}


@pytest.mark.parametrize("make", FAULTS)
def test_faults_of_bodies(make):
    ended = run(make, "r.set(v)", shown="int")
    assert ended.status == 3 and FAULTS[make] in ended.err, ended
    line = 18 if make == "r.set('no number')" else 16
    assert f"p.py:{line}:5: error: " in ended.err, ended


def test_inputs_may_not_be_changed():
    ended = run("r.create(3)", "v[0] = 1; r.set(1)")
    assert ended.status == 3 and "see failed: ValueError: assignment destination is read-only" in ended.err


SLOW = """import time
from tailrace.fragments import Program, loop
program = Program()
@program.body
def slow(i: int):
    print("at work", i)
    time.sleep(0.02)
@program.main
def main():
    with loop("i", 1, 150) as i:
        slow(i).on(i)
"""


def test_stopped_and_resumed_although_the_module_has_changed():
    source = written(SLOW, "slow.py")
    job = jobs.Job(["run", source, "-n", 2, "--out", "stopped", "--no-report"], command=jobs.TAILRACE)
    job.wait_for(lambda: "at work" in job.texts()[0], "output")
    source.write_text("nonsense\n")
    job.send(signal.SIGTERM)
    stopped = job.wait()
    assert stopped.status == 4, stopped
    refused = jobs.tailrace("resume", "stopped")
    assert refused.status == 2 and f"{source.absolute()} has changed since" in refused.err, refused
    resumed = jobs.tailrace("resume", "stopped", "-n", RANKS[-1], "--as-started", "--no-report")
    assert resumed.status == 0, resumed
    expected = sorted(f"at work {i}" for i in range(1, 151))
    assert sorted((stopped.out + resumed.out).splitlines()) == expected


def test_one_worker_per_rank():
    ended = jobs.tailrace("run", written(SLOW), "-t", 2)
    assert (
        ended.status == 2 and "bodies in Python run one at a time on each rank. Fix: more ranks" in ended.err
    )
