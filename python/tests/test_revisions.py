# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace revisions` on a small repository whose numbers the program prints, so that nothing is timed;
and its statistics on synthetic numbers.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from command import TAILRACE, Answer, environment, process
from tailrace.bench.stats import spread
from tailrace.console import CommandError
from tailrace.revisions import store
from tailrace.revisions.bisection import search
from tailrace.revisions.definition import Definition, Number, find_test
from tailrace.revisions.numbers import RunFailedError, counts_by_perf, numbers_in, run_once
from tailrace.revisions.repository import Revision, check_date
from tailrace.revisions.session import Budget, Session
from tailrace.revisions.steps import find_steps
from tailrace.revisions.verdicts import FASTER, SAME, SLOWER, UNKNOWN, judge, judge_apart

SLOW_SINCE, BROKEN = 8, 5
DEFINITION = """
[work]
build = "cp work.txt built.txt"
run = "cat built.txt"
[[work.numbers]]
name = "steps"
pattern = 'steps: (\\d+)'
[[work.numbers]]
name = "rate"
pattern = 'rate: (\\d+)'
better = "more"
"""


def git(repository: Path, *words: str) -> str:
    identity = ["-c", "user.name=somebody", "-c", "user.email=some@body"]
    done = subprocess.run(
        ["git", *identity, "-C", repository, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """12 commits, v1 to v12: one does not build, and from one on there are more steps, at a lower rate."""
    path = tmp_path_factory.mktemp("repository")
    git(path, "init", "-q", "-b", "main")
    for number in range(1, 13):
        slow = number >= SLOW_SINCE
        text = f"commit {number}\nsteps: {110 if slow else 100}\nrate: {50 if slow else 55}\n"
        (path / "work.txt").write_text(text)
        build = DEFINITION.replace("cp work", "cp missing") if number == BROKEN else DEFINITION
        (path / "build.sh").write_text(
            "cp missing.txt built.txt\n" if number == BROKEN else "cp work.txt built.txt\n"
        )
        (path / "revisions.toml").write_text(build.replace("cp work.txt built.txt", "sh build.sh"))
        git(path, "add", ".")
        git(path, "commit", "-q", "-m", f"change {number}")
        git(path, "tag", f"v{number}")
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def revisions(repository: Path, *words: object) -> Answer:
    return process("revisions", *words, "--repo", repository)


def test_a_range_with_a_slow_down_and_a_commit_that_does_not_build(repository, tmp_path):
    (repository / "work.txt").write_text("steps: 999\nrate: 1\n")  # a change that nobody has committed
    before = git(repository, "status", "--porcelain")
    files = [
        option for kind in ("json", "junit", "markdown", "page") for option in (f"--{kind}", tmp_path / kind)
    ]
    answer = revisions(repository, "work", "v1..v12", *files)
    assert git(repository, "status", "--porcelain") == before != ""
    git(repository, "checkout", "-q", "--", "work.txt")
    assert answer.status == 1, answer
    document = json.loads((tmp_path / "json").read_text())
    entries = document["revisions"]
    assert [one["subject"] for one in entries] == [f"change {number}" for number in range(1, 13)]
    assert [bool(one["failed"]) for one in entries].index(True) == BROKEN - 1
    assert "cp: cannot stat 'missing.txt'" in entries[BROKEN - 1]["failed"]
    names = {one["id"]: one["subject"] for one in entries}
    kinds = {(names[one["revision"]], one["number"]): one["kind"] for one in document["verdicts"]}
    for number in set(range(2, 13)) - {BROKEN}:
        expected = SLOWER if number >= SLOW_SINCE else SAME
        assert kinds[f"change {number}", "steps"] == kinds[f"change {number}", "rate"] == expected
    assert document["rounds"] == 2  # numbers that do not vary need no more
    steps = [line for line in answer.out.splitlines() if line.startswith("step:")]
    assert len(steps) == 2 and all(f"change {SLOW_SINCE})" in line for line in steps)
    assert "steps: times 1.1 between" in steps[0]
    suite = ElementTree.parse(tmp_path / "junit").getroot()
    assert suite.get("failures") == "10" and len(suite.findall("testcase/skipped")) == 1
    assert "| slower |" in (tmp_path / "markdown").read_text()
    page = (tmp_path / "page").read_text()
    assert "missing.txt" in page and "http" not in page.split("</script>")[-1]


def test_bisection_names_the_commit_and_skips_what_does_not_build(repository):
    answer = revisions(repository, "work", "--bisect", "v1", "v12")
    assert answer.status == 1, answer
    last = answer.out.splitlines()[-1]
    assert last.startswith("steps: slower since") and f"(change {SLOW_SINCE});" in last
    assert int(last.split("asked ")[1].split()[0]) <= 5
    answer = revisions(repository, "work", "--bisect", "v1", "v4")
    assert answer.status == 0 and "not slower" in answer.err
    answer = revisions(repository, "work", "--bisect", "v1", f"v{BROKEN}")
    assert answer.status == 125 and "missing.txt" in answer.err
    answer = revisions(repository, "work", "--bisect", "v1", "v1")
    assert answer.status == 2 and "one revision. Name a good and a bad one" in answer.err


def test_the_log_and_the_table_of_a_bisection_say_the_same(monkeypatch, capsys):
    """With noise, for which verdicts depend on how many of them there are."""
    monkeypatch.setattr(Session, "add", lambda *_: None)
    monkeypatch.setattr(Session, "measure", lambda *_: None)
    history = [Revision(f"id{number}", f"v{number}") for number in range(17)]
    for seed in range(20):
        noise = random.Random(seed)
        test = Definition("work", "run", numbers=(Number("t"),))
        session = Session(None, test, Budget(), revisions=history)
        for number, one in enumerate(history):
            level = 1.03 if number >= SLOW_SINCE else 1.0
            session.values[one.id] = {"t": {("", at): level + noise.uniform(0, 0.04) for at in range(9)}}
        session.planned = 1 + 4
        found = search(session, history[0], history[1:], "t")
        said = dict(re.findall(r"^(\w+): (\w+) against v0;", capsys.readouterr().err, re.MULTILINE))
        verdicts = session.verdicts([history[0], *found.asked, history[-1]])
        table = {other.name: verdict.kind for _, _, other, verdict in verdicts}
        assert len(said) > 2 and {name: table[name] for name in said} == said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["v5", "nowhere", "--bisect", "v1", "v12"], "v5 nowhere: not with --bisect"),
        (["--every", "2", "--bisect", "v1", "v12"], "--every: not with --bisect"),
        (["v1..v12", "--since", "bogus"], "--since bogus: is no date"),
        (["v1..v12", "--since", "--"], "--since --: is no date"),
    ],
)
def test_words_without_a_meaning_are_refused(words, message, repository):
    answer = revisions(repository, "work", *words)
    assert answer.status == 2 and message in answer.err, answer


@pytest.mark.parametrize("text", ["2026-11-29", "2 weeks ago", "yesterday", "Nov 3rd, 2025", "last friday"])
def test_what_git_reads_as_a_date_is_one(text):
    check_date(text)


def test_git_bisect_run_ends_at_the_commit(repository, tmp_path):
    clone = tmp_path / "clone"
    git(repository, "clone", "-q", str(repository), str(clone))
    command = " ".join([*TAILRACE, "revisions", "work", "v1", "HEAD", "--repo", str(clone)])
    git(clone, "bisect", "start", "v12", "v1")
    done = subprocess.run(
        ["git", "-C", clone, "bisect", "run", "sh", "-c", command],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert f"change {SLOW_SINCE}" in done.stdout.split("is the first bad commit")[1], (
        done.stdout + done.stderr
    )


def test_exit_statuses_and_the_work_tree_as_it_is(repository, tmp_path):
    assert revisions(repository, "work", "v2", "v3").status == 0
    assert revisions(repository, "work", "v2", f"v{BROKEN}").status == 125
    clone = tmp_path / "clone"
    git(repository, "clone", "-q", str(repository), str(clone))
    (clone / "work.txt").write_text("steps: 120\nrate: 55\n")
    answer = revisions(clone, "cat work.txt", "v12", ".", "--number", "steps=steps: (.*)")
    assert answer.status == 1 and "1.091" in answer.out, answer
    assert git(clone, "status", "--porcelain") == "M work.txt"


def test_a_shallow_repository_is_named(repository, tmp_path):
    clone = tmp_path / "clone"
    git(repository, "clone", "-q", "--depth", "1", f"file://{repository}", str(clone))
    answer = revisions(clone, "work", "v1", "HEAD")
    assert answer.status == 2 and "shallow" in answer.err and "--unshallow" in answer.err


def test_interrupted_rounds_keep_their_results(repository, tmp_path, cache):
    command = "cat work.txt; touch $STARTED; sleep 30"
    started = tmp_path / "started"
    words = [*TAILRACE, "revisions", command, "v1", "v2", "--repo", str(repository)]
    process_ = subprocess.Popen(
        words,
        env=environment() | {"STARTED": str(started)},
        stderr=subprocess.PIPE,
        text=True,
        stdout=subprocess.PIPE,
        # A suite that was started in the background ignores the signal, and so would its children.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    until = time.monotonic() + 60
    while not started.exists() and time.monotonic() < until:
        time.sleep(0.05)
    process_.send_signal(signal.SIGINT)
    _, err = process_.communicate(timeout=60)
    assert process_.returncode == 4 and "Traceback" not in err
    assert list(cache.rglob("work.txt"))  # the worktrees stay, and --clean removes them
    assert revisions(repository, "--clean").status == 0
    assert not list(cache.rglob("work.txt"))


def test_results_of_two_machines_are_compared(repository, tmp_path):
    for name, revision in (("a", "v1"), ("b", "v12")):
        revisions(repository, "work", revision, "--json", tmp_path / f"{name}.json")
    document = json.loads((tmp_path / "b.json").read_text())
    document["machine"]["processor"] = "another"
    (tmp_path / "b.json").write_text(json.dumps(document))
    answer = process("revisions", "--compare", tmp_path / "a.json", tmp_path / "b.json")
    assert answer.status == 1 and "machines differ: processor" in answer.out
    assert answer.out.count("slower") == 2


def noisy(seed: int, rounds: int, factor: float) -> tuple[list[float], list[float]]:
    """Times of two revisions in the same rounds: 20 % of noise that a round has for both, 3 % for each."""
    draw = random.Random(seed)
    load = [draw.lognormvariate(0, 0.2) for _ in range(rounds)]
    return tuple([at * scale * draw.lognormvariate(0, 0.03) for at in load] for scale in (1.0, factor))


def test_false_alarms_are_rarer_than_1_in_100():
    kinds = [judge(*noisy(seed, 20, 1.0), comparisons=1).kind for seed in range(2000)]
    assert sum(kind in (SLOWER, FASTER) for kind in kinds) < 20
    many = [judge(*noisy(seed, 40, 1.0), comparisons=20).kind for seed in range(2000)]
    assert sum(kind in (SLOWER, FASTER) for kind in many) < 4


def test_five_per_cent_are_found_in_40_rounds():
    found = [judge(*noisy(seed, 40, 1.05), comparisons=1) for seed in range(200)]
    assert sum(one.kind == SLOWER for one in found) >= 190
    covered = sum(one.low <= 1.05 <= one.high for one in found)
    assert covered >= 195
    assert judge(*noisy(1, 40, 1.05), comparisons=1, better="more").kind == FASTER
    assert judge(*noisy(1, 3, 1.05), comparisons=1).kind == UNKNOWN  # three rounds show nothing


def test_numbers_that_do_not_vary_are_compared_exactly():
    assert judge([100, 100], [101, 101], 50).kind == SLOWER
    assert judge([100, 100], [100, 100], 50).kind == SAME
    assert judge([100], [101], 1).kind == UNKNOWN
    assert judge([], [1.0], 1).kind == UNKNOWN
    assert judge([0, 0], [1, 1], 1).ratio == float("inf")
    assert judge_apart([100.0] * 3, [90.0] * 2, 1).kind == FASTER


def test_results_measured_apart_are_compared_with_care():
    alarms = 0
    for seed in range(300):
        draw = random.Random(seed)
        a, b = ([draw.lognormvariate(0, 0.05) for _ in range(20)] for _ in range(2))
        alarms += judge_apart(a, b, 1).kind in (SLOWER, FASTER)
    assert alarms <= 3
    a = [1 + 0.001 * number for number in range(20)]
    assert judge_apart(a, [1.2 * one for one in a], 1).kind == SLOWER


def history(seed: int, levels: list[tuple[int, float]], noise: float) -> list[float]:
    draw = random.Random(seed)
    return [level * draw.lognormvariate(0, noise) for count, level in levels for _ in range(count)]


def test_steps_of_a_history():
    found = find_steps(history(1, [(15, 1.0), (12, 1.1), (20, 0.95)], 0.01))
    assert [(step.before, step.at) for step in found] == [(14, 15), (26, 27)]
    assert found[0].ratio == pytest.approx(1.1, rel=0.02)
    exact = [100.0] * 3 + [None] + [100.0] * 2 + [101.0] * 2
    assert [(step.before, step.at) for step in find_steps(exact)] == [(5, 6)]
    assert find_steps([]) == find_steps([1.0, None]) == []
    alarms = sum(bool(find_steps(history(seed, [(30, 1.0)], 0.03))) for seed in range(100))
    assert alarms <= 5


def append_many(path: str) -> None:
    for number in range(200):
        entry = {"writer": os.getpid(), "round": number, "numbers": {"n": number}, "long": "x" * 3000}
        store.append(Path(path), entry)


def test_two_writers_of_the_store_lose_nothing(tmp_path):
    path = tmp_path / "results.jsonl"
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(append_many, [str(path)] * 2))
    with path.open("a") as file:
        file.write('{"format": "tailrace-rev')  # a writer that was killed
    store.append(path, {"writer": 0, "round": 1, "numbers": {"n": 1}})
    found = list(store.entries(path))
    assert len(found) == 401 and found[-1]["writer"] == 0


def test_numbers_from_other_programs():
    google = {"benchmarks": [{"name": "BM_a", "run_type": "iteration", "real_time": 2.5, "time_unit": "us"}]}
    assert numbers_in(Number("g", "google-benchmark"), json.dumps(google)) == {
        "g BM_a": pytest.approx(2.5e-6)
    }
    fine = {"results": [{"command": "sleep", "median": 0.5}]}
    assert numbers_in(Number("h", "hyperfine"), json.dumps(fine)) == {"h sleep": 0.5}
    pytests = {"benchmarks": [{"fullname": "t.py::f", "stats": {"median": 0.25}}]}
    assert numbers_in(Number("p", "pytest-benchmark"), json.dumps(pytests)) == {"p t.py::f": 0.25}
    ours = {
        "settings": {"grids": [8, 16]},
        "rows": [
            {"grid": 8, "ranks": ranks, "records": 7, "ratio": spread([1.0 + ranks, 3.0]).as_dict()}
            for ranks in (1, 2)
        ],
        "equal": [{"s": spread([place]).as_dict()} for place in (0.5, 0.75)],
        "only": [{"size": 4, "s": spread([0.25]).as_dict()}],
    }
    names = {
        "t rows grid=8 ranks=1 ratio": 2.5, "t rows grid=8 ranks=2 ratio": 3.0,
        "t equal 0 s": 0.5, "t equal 1 s": 0.75, "t only s": 0.25,
    }  # fmt: skip
    assert numbers_in(Number("t", "tailrace"), json.dumps(ours)) == names
    chosen = numbers_in(Number("t", "tailrace", r"ranks=\d ratio$"), json.dumps(ours))
    assert chosen == {name: value for name, value in names.items() if "ratio" in name}
    with pytest.raises(RunFailedError, match="no entries, of 5, whose name has 'nothing'"):
        numbers_in(Number("t", "tailrace", "nothing"), json.dumps(ours))
    for wrong in ("", "[]", '{"benchmarks": 3}', '{"benchmarks": []}'):
        with pytest.raises(RunFailedError):
            numbers_in(Number("g", "google-benchmark"), wrong)


@pytest.mark.skipif(
    not counts_by_perf() and not shutil.which("valgrind"), reason="no tool counts instructions"
)
def test_instructions_are_counted_beside_what_is_printed(tmp_path):
    numbers = (Number("work", "instructions"), Number("n", "regex", "n=(.)"), Number("memory", "memory"))
    found = run_once(Definition("t", "echo n=3", numbers=numbers), tmp_path)
    assert found["work"] > 1000 and found["n"] == 3 and found["memory"] > 100_000


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo nothing", "is 0 times in the standard output"),
        ("echo n=1 n=2", "is 2 times in the standard output"),
        ("echo n=nan", "n is nan"),
        ("echo n=x", "'x' is no number"),
        ("echo broken; exit 3", "ended with status 3:\nbroken"),
        ("read answer && echo n=1", "ended with status 1"),
        ("sleep 20", "did not end within"),
    ],
)
def test_a_test_that_gives_no_number_says_why(command, said, tmp_path):
    test = Definition("t", command, limit_s=2.0, numbers=(Number("n", "regex", r"n=(\S+)"),))
    with pytest.raises(RunFailedError) as raised:
        run_once(test, tmp_path)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[t]\nbuild = 'make'", "run: missing"),
        ("[t]\nrun = 3", "of the wrong type"),
        ("[t]\nrun = 'a'\nspeed = 1", "speed: unknown"),
        ("[t]\nrun = 'a'\nnumbers = [{name = 'n', pattern = 'x'}]", "one group"),
        ("[t]\nrun = 'a'\nnumbers = [{name = 'n', source = 'stars'}]", "unknown"),
        ("[t]\nrun = 'a'\nnumbers = [{name = 'n', better = 'red'}]", "less or more"),
        ("t = 1", "not a table"),
        ("[t", "revisions.toml"),
    ],
)
def test_bad_definitions_are_named(text, said, tmp_path):
    (tmp_path / "revisions.toml").write_text(text)
    with pytest.raises(CommandError, match=said):
        find_test("t", tmp_path, "", [])
