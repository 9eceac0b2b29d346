# SPDX-License-Identifier: BSD-3-Clause
"""Fragment programs that are stopped or killed, and resumed on other ranks: nothing is lost or said twice."""

import json
import random
import signal
from functools import cache, partial
from pathlib import Path

import pytest

import jobs
from fragment_cache import common_cache
from native import needs
from tailrace.programs import find_program

pytestmark = needs("tailrace-fragments")

RANKS = [1, 2, 3] if jobs.waits_spin() else [1, 2, 3, 4, 7]
PAIRS = [(first, second) for first in RANKS for second in RANKS]
FEW = [(1, 3), (3, 2), (2, 1)]
DEPTH = 9

# An unbalanced recursion whose bodies count themselves, each kind on its own: the process that has run CUT of
# a kind sends itself SIGNAL, if it is the rank ONLY or none is named.
SOURCE = r"""C++ head ${{
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>
static int number(const char* name) { const char* text = getenv(name); return text ? atoi(text) : -1; }
static void count() {
  static int bodies = 0;
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  const bool wanted = number("ONLY") < 0 || !rank || number("ONLY") == atoi(rank);
  if (++bodies == number("CUT") && wanted) raise(number("SIGNAL"));
}
$}}
C++ sub leaf(int n, int path, name r) ${{
  count();
  std::vector<int> values(n * 100 + 1, path);
  r = n + 1;
$}}
C++ sub add(int a, int b, name r) ${{ count(); r = a + b; $}}
C++ sub say(int path, int v) ${{ count(); printf("%d: ", path); printf("%d\n", v); $}}
C++ sub end(int v) ${{ printf("in the end %d\n", v); $}}
sub tree(int n, int seed, int path, name r) {
  df a, b;
  if n < 1 { leaf(seed, path, r); }
  if n > 0 {
    add(a, b, r) @ { req_count r = 2; };
    say(path, r);
    tree(n - 1, seed % 7, 2 * path, a) @ { stealable; };
    tree(n - 1 - seed % 3, (seed * 5 + 3) % 11, 2 * path + 1, b) @ { locator_cyclic: path; };
  }
}
sub main(int n) {
  df r;
  tree(n, 5, 1, r);
  end(r);
}
"""


@pytest.fixture(scope="module")
def program(once, tmp_path_factory) -> Path:
    def build(folder: Path) -> Path:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", common_cache(tmp_path_factory))
            source = folder / "tree.fa"
            source.write_text(SOURCE)
            ended = jobs.tailrace("compile", source, "-o", folder / "tree.so")
        assert ended.status == 0, ended
        return folder / "tree.so"

    return once("tree", build)


@cache
def lines_of(program: Path, depth: int) -> list[str]:
    ended = start(program, 1, depth=depth).wait()
    assert ended.status == 0, ended
    return sorted(ended.out.splitlines())


def start(program: Path, ranks: int, *options: object, depth: int = DEPTH, **settings: int) -> jobs.Job:
    prefix = ["env", *(f"{name}={int(value)}" for name, value in settings.items())]
    words = [*options, program, depth]
    return jobs.Job(words, ranks, command=[str(find_program("tailrace-fragments"))], prefix=prefix)


def stop_and_resume(program: Path, directory: Path, first: int, second: int, cut: int) -> None:
    """Cuts the program when a rank has run so many bodies, and compares what both runs print together."""
    place = directory / f"{first}-{second}-{cut}"
    account = directory / f"{first}-{second}-{cut}.json"
    stopped = start(program, first, "--checkpoints", place, CUT=cut, SIGNAL=signal.SIGTERM).wait()
    assert stopped.status == 4, stopped
    assert "stopped in good order (" in stopped.err
    words = [
        "--checkpoints",
        place,
        "--resume",
        "--account",
        account,
        "--balance",
        "steal",
        "-t",
        1 + cut % 2,
    ]
    resumed = start(program, second, *words, "--live-fragments", 50).wait()
    assert resumed.status == 0, resumed
    assert sorted((stopped.out + resumed.out).splitlines()) == lines_of(program, DEPTH)
    assert json.loads(account.read_text())["executed_before"] > 0


def cuts_of(first: int) -> list[int]:
    chance = random.Random(first)
    return [chance.randint(1, 30 // first) for _ in range(len(RANKS))]


def each(pairs: list[tuple[int, int]], program: Path, directory: Path) -> None:
    cuts = [cuts_of(first)[RANKS.index(second)] for first, second in pairs]
    jobs.in_parallel(
        [
            partial(stop_and_resume, program, directory, first, second, cut)
            for (first, second), cut in zip(pairs, cuts, strict=True)
        ]
    )


def test_stopped_and_resumed_on_other_ranks(program, tmp_path):
    each(FEW, program, tmp_path)


@pytest.mark.full
def test_stopped_and_resumed_on_each_number_of_ranks(program, tmp_path):
    each(PAIRS, program, tmp_path)


def kill_and_resume(program: Path, directory: Path, seed: int) -> None:
    """Kills one rank when it has run a random number of bodies, twice; the third run comes to the end. What
    a killed run had printed after its last checkpoint comes again, and nothing is missing.
    """
    chance, place, out = random.Random(seed), directory / f"{seed}", ""
    for attempt in range(3):
        ranks = chance.choice(RANKS)
        settings = {
            "CUT": chance.randint(1, 60 // ranks),
            "SIGNAL": signal.SIGKILL,
            "ONLY": chance.randrange(ranks),
        }
        resume = ["--resume"] if list(place.glob("step-*[0-9]")) else []
        words = ["--checkpoints", place, "--checkpoint-every", chance.choice([5, 20]), *resume]
        ended = start(program, ranks, *words, **(settings if attempt < 2 else {})).wait()
        assert ended.status == 0 or attempt < 2, ended
        out += ended.out
        if ended.status == 0:
            break
    whole = lines_of(program, DEPTH)
    assert set(whole) <= set(out.splitlines()) <= set(whole), out


@pytest.mark.parametrize("first", [0, 2, 4, 6])
def test_killed_and_resumed(first, program, tmp_path):
    jobs.in_parallel([partial(kill_and_resume, program, tmp_path, seed) for seed in (first, first + 1)])


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 200))
def test_killed_at_any_moment_and_resumed(seed, program, tmp_path):
    kill_and_resume(program, tmp_path, seed)


def stopped_in(place: Path, program: Path, *options: object) -> jobs.Ended:
    ended = start(program, 2, "--checkpoints", place, *options, CUT=20, SIGNAL=signal.SIGTERM).wait()
    assert ended.status == 4, ended
    return ended


def damage(checkpoint: Path) -> None:
    content = bytearray((checkpoint / "state.h5").read_bytes())
    content[len(content) // 2] ^= 1
    (checkpoint / "state.h5").write_bytes(content)


def test_what_cannot_be_resumed(program, tmp_path):
    place = tmp_path / "checkpoints"
    first = stopped_in(place, program, "--checkpoint-every", 5)
    newest, older = sorted(place.iterdir(), reverse=True)
    words = ["--checkpoints", place, "--resume"]
    other = start(program, 1, *words, depth=DEPTH + 1).wait()
    assert (other.status, other.out) == (2, ""), other
    assert len([line for line in other.err.splitlines() if "tailrace-fragments:" in line]) == 1
    assert "is of other arguments" in other.err
    damage(newest)
    skipped = start(program, 3, *words).wait()
    assert skipped.status == 0 and "warning: skipped a checkpoint" in skipped.err, skipped
    assert set(lines_of(program, DEPTH)) == set((first.out + skipped.out).splitlines())
    damage(older)
    refused = start(program, 1, *words).wait()
    assert (refused.status, refused.out) == (2, ""), refused
    assert f"{place}: no checkpoint to resume from" in refused.err and "damaged" in refused.err
    nothing = start(program, 1, "--checkpoints", tmp_path / "none", "--resume").wait()
    assert nothing.status == 2 and "no checkpoint to resume from: there is none" in nothing.err


WITHOUT_MEANING = [
    (["--resume"], "--resume requires --checkpoints"),
    (["--checkpoint-every", 5], "--checkpoint-every requires --checkpoints"),
    (["--checkpoints", "c", "--checkpoint-every", 0], "--checkpoint-every"),
    (["--checkpoints", "c", "--wall-limit", "soon"], "--wall-limit"),
    (["--checkpoints", "c", "--transport", "local:2"], "ranks that are processes"),
]


def test_options_that_mean_nothing(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tasks = [start(program, 1, *words).wait for words, _ in WITHOUT_MEANING]
    for (_, said), ended in zip(WITHOUT_MEANING, jobs.in_parallel(tasks), strict=True):
        assert (ended.status, ended.out) == (2, "") and said in ended.err, ended
    assert list(tmp_path.iterdir()) == []


def test_asked_for_one_and_the_time_limit(program, tmp_path):
    place, account = tmp_path / "c", tmp_path / "account.json"
    words = ["--checkpoints", place, "--checkpoint-keep", 1, "--checkpoint-compress", "none"]
    ended = start(program, 2, *words, "--account", account, CUT=10, SIGNAL=signal.SIGUSR1).wait()
    assert ended.status == 0 and sorted(ended.out.splitlines()) == lines_of(program, DEPTH), ended
    found = json.loads(account.read_text())["checkpoints"]
    assert 1 <= found["taken"] <= 6 and found["paused_s"] >= found["saved_s"] > 0
    assert len(list(place.iterdir())) == 1
    limited = start(program, 2, "--checkpoints", tmp_path / "d", "--wall-limit", "1e-9").wait()
    assert limited.status == 4 and "wall-clock limit" in limited.err, limited


@pytest.fixture
def source(tmp_path, tmp_path_factory, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", common_cache(tmp_path_factory))
    path = tmp_path / "tree.fa"
    path.write_text(SOURCE)
    return path


def test_the_commands(source, program, tmp_path, monkeypatch):
    place, depth = tmp_path / "run", DEPTH
    for name, value in {"CUT": 20, "SIGNAL": int(signal.SIGTERM)}.items():
        monkeypatch.setenv(name, str(value))
    words = ["--checkpoint-every", 10, "--out", place, "--no-report"]
    stopped = jobs.tailrace("run", source, "-n", 2, *words, "--", depth)
    assert stopped.status == 4, stopped
    assert f"tailrace resume {place}" in stopped.err and "stopped: in " in stopped.err
    account = json.loads((place / "run.json").read_text())
    assert (account["status"], account["exit_status"], account["ranks"]) == ("stopped", 4, 2)
    monkeypatch.delenv("CUT")
    source.unlink()  # all that is needed is in the directory
    words = ["--balance", "steal", "--live-fragments", 100, "--live-bytes", "1GB"]
    resumed = jobs.tailrace("resume", place, "-n", RANKS[2], "-t", 2, *words)
    assert resumed.status == 0, resumed
    assert sorted((stopped.out + resumed.out).splitlines()) == lines_of(program, depth)
    account = json.loads((place / "run.json").read_text())
    assert (account["status"], account["ranks"], account["threads"]) == ("finished", RANKS[2], 2)
    assert account["config"]["program"]["file"] == str(source)
    assert "were executed before it was resumed" in (place / "report.html").read_text()
    again = jobs.tailrace("resume", place)
    assert again.status == 2 and "the run has finished: there is nothing to resume" in again.err


def test_a_signal_to_the_command(tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", common_cache(tmp_path_factory))
    source = tmp_path / "slow.fa"
    source.write_text(
        "C++ head ${{\n#include <unistd.h>\n$}}\n"
        'C++ sub slow(int i) ${{ printf("at work %d\\n", i); usleep(20000); $}}\n'
        "sub main() { for i = 1..300 slow(i) @ { locator_cyclic: i; }; }\n"
    )
    job = jobs.Job(["run", source, "-n", 2, "--out", tmp_path / "run"], command=jobs.TAILRACE)
    job.wait_for(lambda: "at work" in job.texts()[0], "output")
    job.send(signal.SIGTERM)
    stopped = job.wait()
    assert stopped.status == 4, stopped
    assert "stopping in good order" in stopped.err
    refuses_what_changed(source, tmp_path / "run")
    resumed = jobs.tailrace("resume", tmp_path / "run", "-n", 3, "-t", 4, "--as-started")
    assert resumed.status == 0, resumed
    expected = sorted(f"at work {i}" for i in range(1, 301))
    assert sorted((stopped.out + resumed.out).splitlines()) == expected


def refuses_what_changed(source: Path, run: Path) -> None:
    """A changed program is named; a source stays changed."""
    kept = run / "program.so"
    right = kept.read_bytes()
    kept.write_bytes(right + b"0")
    ended = jobs.tailrace("resume", run)
    assert ended.status == 2 and f"{kept}: is not the program that was started" in ended.err, ended
    kept.write_bytes(right)
    source.write_text(source.read_text().replace("at work", "idle"))
    ended = jobs.tailrace("resume", run)
    assert ended.status == 2 and f"{source} has changed since the run was started" in ended.err, ended
    assert ended.out == ""
