# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace run PROGRAM.fa`: compiles, runs on all ranks, and hands on what the program prints, as it is."""

import hashlib
import json
import os
import re
import signal
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

import command
import jobs
from fragment_cache import own_cache
from native import needs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "fragments"
POWERS = EXAMPLES / "powers.fa"
RANKS = [1, 2] if jobs.waits_spin() else [1, 2, 3]

pytestmark = needs("tailrace-fragments")


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """A cache of our own, in which bodies are compiled once; run directories are elsewhere, too."""
    with pytest.MonkeyPatch.context() as patch:
        own_cache(tmp_path_factory, patch, tmp_path_factory.mktemp("cache"))
        patch.chdir(tmp_path_factory.mktemp("place"))
        yield Path(os.environ["XDG_CACHE_HOME"])


def write(directory: Path, text: str) -> Path:
    path = directory / "p.fa"
    path.write_text(text)
    return path


SILENT = ["--no-report"]
Powers = tuple[Path, dict[tuple[int, int], jobs.Ended]]


@pytest.fixture(scope="module")
def shared_powers(once, cache) -> Powers:
    """The folder of its run directories, and how the program of powers ends, by ranks and argument."""
    return once("powers", partial(run_powers, cache))


@pytest.fixture(scope="module")
def powers(shared_powers) -> dict[tuple[int, int], jobs.Ended]:
    return shared_powers[1]


def run_powers(cache: Path, folder: Path) -> Powers:
    def run(ranks: int, n: int) -> jobs.Ended:
        return jobs.tailrace("run", POWERS, "-n", ranks, "--out", folder / f"{ranks}-{n}", *SILENT, "--", n)

    first, *others = [(ranks, n) for n in (10, 3) for ranks in RANKS]
    ended = [run(*first), *jobs.in_parallel([partial(run, *each) for each in others])]
    assert list((cache / "tailrace/fragments/programs").iterdir()) == []  # what was made for a run is gone
    return folder, dict(zip([first, *others], ended, strict=True))


def test_the_run_directory_of_one_that_cannot_finish(shared_powers):
    folder, _ = shared_powers
    place = folder / f"{RANKS[-1]}-3"
    account = json.loads((place / "run.json").read_text())
    assert (account["status"], account["exit_status"], account["ranks"]) == ("failed", 3, RANKS[-1])
    assert account["config"]["program"]["arguments"] == ["3"]
    (problem,) = account["problems"]
    assert (problem["file"], problem["column"], problem["code"]) == (str(POWERS), 5, "SEM3")
    assert problem["text"] == "the program cannot finish: 2 fragments wait. Nobody writes x[4]."
    assert [line.strip()[:12] for line in problem["notes"]] == [
        "while x[k] <",
        "^ needs x[4]",
        "x[0] is writ",
    ]
    seen = command.tailrace("inspect", place)
    assert seen.status == 0 and f"{POWERS} 3" in seen.out and "Nobody writes x[4]" in seen.out, seen
    listed = json.loads(command.tailrace("list", folder, "--json").out)
    ended = {("fragments", "failed"), ("fragments", "finished")}
    assert {(one["simulation"], one["status"]) for one in listed} == ended
    assert command.tailrace("report", place).status == 0
    page = (place / "report.html").read_text()
    assert "Nobody writes x[4]" in page and f"tailrace run {POWERS} -n {RANKS[-1]} -- 3" in page
    again = command.tailrace("run", POWERS, "--out", place, "3")
    assert again.status == 2 and "exists already" in again.err


@pytest.mark.parametrize("ranks", RANKS)
def test_powers(ranks, powers):
    ended = powers[ranks, 10]
    assert ended.status == 0, ended
    assert sorted(ended.out.splitlines()) == ["even 2", "even 32", "even 8", "first over 100: 128"]
    assert re.fullmatch(rf"finished: in .* on {ranks} ranks? x 1 thread\n", ended.err)


def place_of(words: str) -> str:
    """Where the example has these words, as messages say it."""
    before = POWERS.read_text().partition(words)[0]
    return f"{POWERS}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


@pytest.mark.parametrize("ranks", RANKS)
def test_one_that_cannot_finish(ranks, powers):
    ended = powers[ranks, 3]
    assert ended.status == 3, ended
    assert sorted(ended.out.splitlines()) == ["even 2", "even 8"]
    text = POWERS.read_text()
    line = text[: text.index("while")].count("\n") + 1
    assert ended.err.startswith(
        f"{POWERS}:{line}:5: error: the program cannot finish: 2 fragments wait. Nobody writes x[4]. [SEM3]\n"
        "    while x[k] < 100, k = 0..out big\n    ^ needs x[4] at k = 4\n"
        f"  x[0] is written at {place_of('one(x[0])')}, x[1..3] at {place_of('double_it(x[i')}, "
        f"called from {place_of('powers(x, n)')} as powers(x, 3)\n"
    )
    assert ended.err.splitlines()[-1].startswith("failed: in ")
    assert "non-zero" not in ended.err  # the launcher's own words


# What examples print; the numbers are known from elsewhere: a binomial coefficient, Fibonacci's, pi.
PRINTED = {
    ("wavefront.fa", 10): "10 x 10: 184756 ways\n",
    ("tree.fa", 12): "12 stairs: 233 ways\n",
    ("reduction.fa", 7, 1000): "7 parts: 3.141592655, pi\n",
}


@pytest.fixture(scope="module")
def examples(once, cache) -> dict[tuple, jobs.Ended]:
    """How the examples end, each on as many ranks as there are here."""
    runs = [
        partial(jobs.tailrace, "run", EXAMPLES / name, "-n", RANKS[-1], *SILENT, *words)
        for name, *words in PRINTED
    ]
    return once("examples", lambda _: dict(zip(PRINTED, jobs.in_parallel(runs), strict=True)))


@pytest.mark.parametrize("example", PRINTED, ids=[name for name, *_ in PRINTED])
def test_examples(example, examples):
    ended = examples[example]
    assert (ended.status, ended.out) == (0, PRINTED[example]), ended


def test_the_account_and_the_report_say_what_each_rank_did(cache, tmp_path):
    place = tmp_path / "out"
    words = ["--balance", "steal", "--live-fragments", 50, "--live-bytes", "1MB", "--out", place]
    ended = jobs.tailrace("run", EXAMPLES / "wavefront.fa", "-n", RANKS[-1], *words, "--", 10)
    assert (ended.status, ended.out) == (0, PRINTED["wavefront.fa", 10]), ended
    executed = json.loads((place / "run.json").read_text())["fragments"]["executed"]
    # main, four loops, of which one unfolds for each row, 21 bodies `one`, a body for each cell, and `show`
    assert len(executed) == RANKS[-1] and min(executed) > 0 and sum(executed) == 1 + 3 + 10 + 21 + 100 + 1
    page = (place / "report.html").read_text()
    assert f"{RANKS[-1]} of {RANKS[-1]} ranks executed {sum(executed)} fragments: " in page
    assert not (place / "trace").exists()


def test_times_of_lines(cache, tmp_path):
    """Each statement has its fragments and times, wherever they ran; the page has them beside its line."""
    place, source = tmp_path / "out", EXAMPLES / "wavefront.fa"
    ended = jobs.tailrace("run", source, "-n", RANKS[-1], "-t", 2, "--out", place, 10)
    assert ended.status == 0 and ended.err.endswith(f"report: {place / 'report.html'}\n"), ended
    fragments = json.loads((place / "run.json").read_text())["fragments"]
    counts = {one["name"]: 0 for one in fragments["statements"]}
    for one in fragments["statements"]:
        counts[one["name"]] += one["executed"]
        assert one["file"] == str(source) and one["busy_s"] > 0
        assert one["name"].split()[0] in source.read_text().splitlines()[one["line"] - 1][one["column"] - 1 :]
    assert counts == {"for i": 2, "for j": 11, "one": 21, "add": 100, "show": 1}
    assert sum(counts.values()) == sum(fragments["executed"]) - 1  # that of main
    page = (place / "report.html").read_text()
    assert re.search(r"<td>\d+</td><td>100</td><td><span [^>]*></span>[0-9.]+ .?s</td>", page)


def test_a_run_directory_of_its_own_for_each(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = EXAMPLES / "tree.fa"
    words = ["run", source, "--no-report", "--", 5]
    runs = jobs.in_parallel([partial(jobs.tailrace, *words) for _ in range(3)])
    assert [one.status for one in runs] == [0, 0, 0]
    assert {path.name for path in Path("runs").iterdir()} == {"tree", "tree-2", "tree-3"}
    assert jobs.tailrace("run", source, "--no-report", "--overwrite", 5).status == 0
    assert len(list(Path("runs").iterdir())) == 3


def test_nothing_stays_of_a_program_that_has_not_begun(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert jobs.tailrace("run", EXAMPLES / "tree.fa", "x").status == 2
    assert list(tmp_path.iterdir()) == []
    Path("runs").touch()
    ended = jobs.tailrace("run", EXAMPLES / "tree.fa", 5)
    assert ended.status == 2 and "the run directory cannot be made: Not a directory. Fix: --out" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--balance", "shift"], "balance 'shift' is not known. Fix: give one of off, steal, diffuse, auto"),
        (["--live-fragments", "0"], "limits of 0 live fragments"),
        (["--live-bytes", "much"], '--live-bytes: cannot read "much"'),
    ],
)
def test_options_that_mean_nothing(words, said, cache):
    ended = jobs.tailrace("run", POWERS, *words, "--", 10)
    assert (ended.status, ended.out) == (2, ""), ended
    assert said in ended.err, ended


def test_threads_of_each_rank(cache):
    ended = jobs.tailrace("run", POWERS, "-n", RANKS[-1], "-t", 2, *SILENT, "--", 10)
    assert ended.status == 0, ended
    assert sorted(ended.out.splitlines()) == ["even 2", "even 32", "even 8", "first over 100: 128"]
    assert re.fullmatch(rf"finished: in .* on {RANKS[-1]} ranks x 2 threads\n", ended.err)


LINES = r"""C++ sub lines(int first) ${{
    for (int i = first; i < first + 100; ++i)
        printf("%d\tab\u00e9 %s|\n", i, std::string(i % 97, 'x').c_str());
    fprintf(stderr, "said %d\n", first);
$}}
sub main() { for i = 0..9 lines(i * 100) @ { locator_cyclic: i; }; }
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_lines_of_all_ranks_come_whole_through_a_pipe(threads, tmp_path):
    answer = command.process("run", write(tmp_path, LINES), "-n", RANKS[-1], "-t", threads, *SILENT)
    assert answer.status == 0, answer
    expected = [f"{i}\tab\u00e9 {'x' * (i % 97)}|" for i in range(1000)]
    assert sorted(answer.out.split("\n")) == sorted([*expected, ""])
    said = [line for line in answer.err.splitlines() if line.startswith("said")]
    assert sorted(said) == [f"said {i}" for i in range(0, 1000, 100)]


# Two bodies print many lines each on every rank, as many threads at once as there are; LAST ends the program.
MANY = r"""C++ head ${{
#include <iostream>
$}}
C++ sub by_printf(int rank, int lines) ${{
  for (int i = 0; i < lines; ++i) { printf("rank %d ", rank); printf("printf %d\n", i); }
$}}
C++ sub by_stream(int rank, int lines) ${{
  for (int i = 0; i < lines; ++i) std::cout << "rank " << rank << " stream " << i << "\n";
$}}
C++ sub end(int a) ${{ LAST; $}}
sub main(int lines) {
  df x;
  for i = 0..3 {
    by_printf(i, lines) >> (x[i][0]) @ { locator_cyclic: i; };
    by_stream(i, lines) >> (x[i][1]) @ { locator_cyclic: i; };
  }
  end(x[0][0] + x[1][0] + x[2][0] + x[3][0] + x[0][1] + x[1][1] + x[2][1] + x[3][1]);
}
"""
# How a program ends after all lines are printed: its statement in C++, and the exit status.
ENDS = {"well": ("a = 0", 0), "with an error": ('throw std::runtime_error("at the end")', 3)}


@pytest.mark.parametrize("how", ENDS)
def test_every_line_of_many_arrives_whole(how, cache, tmp_path):
    last, status = ENDS[how]
    lines = 100_000
    words = ["-n", 4, "-t", 2, "--oversubscribe", *SILENT, "--", lines]
    ended = jobs.tailrace("run", write(tmp_path, MANY.replace("LAST", last)), *words)
    assert ended.status == status, ended.err
    ways = ("printf", "stream")
    expected = (f"rank {rank} {way} {i}" for rank in range(4) for way in ways for i in range(lines))
    assert Counter(ended.out.split("\n")) == Counter([*expected, ""])
    assert ("at the end" in ended.err) == (status != 0)


def killed(job: jobs.Job) -> jobs.Ended:
    """How a job ends whose bodies never do: the second signal does not wait for them."""
    job.send(signal.SIGTERM)
    job.wait_for(lambda: "stopping in good order" in job.texts()[1], "its answer")
    job.send(signal.SIGTERM)
    return job.wait()  # fails if a process is left


def test_what_a_killed_program_printed_before_is_whole(cache, tmp_path):
    source = MANY.replace("LAST", "a = 0").replace("lines; ++i)", "lines; ++i, fflush(stdout))")
    words = ["-n", 4, "-t", 2, "--oversubscribe", *SILENT, "--", 2_000_000_000]
    job = jobs.Job(["run", write(tmp_path, source), *words], command=command.TAILRACE)
    job.wait_for(lambda: job.texts()[0].count("\n") > 20_000, "output")
    ended = killed(job)
    assert ended.status == 3, ended.err
    *whole, _ = ended.out.split("\n")
    assert [line for line in whole if not re.fullmatch(r"rank [0-3] (printf|stream) \d+", line)] == []
    first: dict[str, int] = {}
    for line in whole:
        what, _, number = line.rpartition(" ")
        assert int(number) == first.get(what, 0)
        first[what] = int(number) + 1


ENDLESS = r"""C++ head ${{
#include <unistd.h>
$}}
C++ sub endless() ${{ for (;;) { printf("at work\n"); fflush(stdout); usleep(10000); } $}}
sub main() { for i = 0..1 endless() @ { locator_cyclic: i; }; }
"""


def test_a_signal_ends_all_ranks(tmp_path):
    job = jobs.Job(["run", write(tmp_path, ENDLESS), "-n", 2, *SILENT], command=command.TAILRACE)
    job.wait_for(lambda: "at work" in job.texts()[0], "output")
    ended = killed(job)
    assert ended.status == 3, ended
    assert set(ended.out.splitlines()) == {"at work"}
    assert "killing the run\nfailed: in " in ended.err and not list(Path("runs").glob("p/checkpoints/step*"))


def test_whoever_reads_may_stop(tmp_path):
    reads_once = ["bash", "-c", 'set -o pipefail; "$@" | head -n 1', "bash"]
    words = ["run", write(tmp_path, ENDLESS), "-n", 2]
    ended = jobs.Job(words, command=command.TAILRACE, prefix=reads_once).wait()
    assert (ended.status, ended.out) == (3, "at work\n"), ended
    assert ended.err == "tailrace: standard output: Broken pipe.\n"


CRASH = """C++ sub crash() ${{
    printf("before\\n");
    fflush(stdout);
    abort();
$}}
sub main() crash();
"""


def test_a_rank_that_crashes(tmp_path):
    ended = jobs.tailrace("run", write(tmp_path, CRASH), *SILENT)
    assert (ended.status, ended.out) == (3, "before\n"), ended
    assert "SIGABRT" in ended.err


WORDS = """C++ sub show(int n, real r, string s) ${{ printf("%d %g %s\\n", n, r, s); $}}
sub main(int n, real r, string s) show(n, r, s);
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "main takes 3 arguments"),
        (["1", "2", "a", "b"], "main takes 3 arguments"),
        (["12x", "2", "a"], "n: '12x' is no int"),
        (["2147483648", "2", "a"], "n: '2147483648' is no int"),
        (["1", "1e400", "a"], "r: '1e400' is no real"),
        (["1", "", "a"], "r: '' is no real"),
        (["-1", "-1e-3", "-a b"], "-1 -0.001 -a b\n"),
    ],
)
def test_arguments_of_main(words, said, cache, tmp_path):
    ended = jobs.tailrace("run", write(tmp_path, WORDS), *SILENT, "--", *words)
    assert said in ended.out + ended.err, ended
    assert (ended.status, bool(ended.out)) == ((0, True) if said.startswith("-1") else (2, False)), ended


def test_a_program_that_is_edited_while_it_runs(cache, tmp_path):
    source = write(
        tmp_path,
        "C++ head ${{\n#include <unistd.h>\n$}}\n"
        'C++ sub slow(int i) ${{ printf("as it was %d\\n", i); usleep(20000); $}}\n'
        "sub main() { for i = 1..60 slow(i); }\n",
    )
    was = hashlib.sha256(source.read_bytes()).hexdigest()
    job = jobs.Job(["run", source, "--out", tmp_path / "d", "--no-report"], command=command.TAILRACE)
    job.wait_for(lambda: "as it was" in job.texts()[0], "output")
    source.write_text("nonsense\n")
    ended = job.wait()
    assert ended.status == 0, ended
    assert sorted(ended.out.splitlines()) == sorted(f"as it was {i}" for i in range(1, 61))
    assert json.loads((tmp_path / "d" / "run.json").read_text())["config"]["program"]["sha256"] == was


def test_a_case_file_with_options_that_are_kept_in_what_is_compiled(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, WORDS)
    Path("c.toml").write_text(
        '[case]\nsimulation = "fragments"\n[program]\nfile = "p.fa"\narguments = [3, 0.5, "of a case"]\n'
        '[fragments]\nbalance = "steal"\ndepth = 20\n'
    )
    ended = jobs.tailrace("run", "c.toml", "-n", RANKS[-1], *SILENT)
    assert (ended.status, ended.out) == (0, "3 0.5 of a case\n"), ended
    assert json.loads(Path("runs/c/run.json").read_text())["status"] == "finished"
    deep = "sub down(int n) if n > 0 down(n - 1);\nsub main(int n) down(n);\n"
    Path("q.fa").write_text(deep)
    assert (
        command.tailrace("compile", "q.fa", "--depth", "20", "-o", "q.json", "--warnings", "off").status == 0
    )
    refused = jobs.tailrace("run", "q.json", *SILENT, 30)
    assert refused.status == 3 and "calls are nested more than 20 deep" in refused.err, refused
    assert jobs.tailrace("run", "q.json", "--depth", 100, *SILENT, 30).status == 0


def test_a_word_that_does_not_fit(tmp_path):
    ended = jobs.tailrace("run", POWERS, "-n", 2, "--out", tmp_path / "d", "12x")
    assert (ended.status, ended.out) == (2, ""), ended
    assert "n: '12x' is no int" in ended.err and not (tmp_path / "d").exists()


def test_with_json_the_account_alone_is_on_standard_output():
    ended = jobs.tailrace("run", POWERS, "--json", 10)
    account = json.loads(ended.out)
    assert (ended.status, account["status"], account["problems"]) == (0, "finished", []), ended
    assert "first over 100: 128\n" in ended.err


def test_the_stencil_compiled_before_follows_the_exact_solution(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command.tailrace("compile", EXAMPLES / "stencil1d.fa").status == 0
    ended = jobs.tailrace("run", "stencil1d.so", "-n", RANKS[-1], *SILENT, 4, 100, 50)
    assert (ended.status, ended.out) == (0, "400 cells, 50 steps: off by rounding\n"), ended
