# SPDX-License-Identifier: BSD-3-Clause
"""Fragment programs that do what they should not: each ends soon, and says where it went wrong."""

import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

import jobs
from fragment_cache import common_cache
from native import needs
from tailrace.programs import find_program

pytestmark = needs("tailrace-fragments")
ENDS_WITHIN_S = 10

# `main` chooses what goes wrong; the ranks that do not are busy for long.
SOURCE = r"""C++ head ${{
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>
#include <vector>
static int endless(volatile char* from, int n) {
  char here[4096];
  here[n % 4096] = 1;
  return endless(here, n + 1) + from[0];
}
$}}
C++ sub wrong(int how, name r) ${{
  if (how == 1) *(volatile int*)8 = 1;
  if (how == 2) exit(0);
  if (how == 3) abort();
  if (how == 4) raise(SIGFPE);
  if (how == 5) endless((volatile char*)"", 0);
  if (how == 6) throw std::runtime_error("no luck");
  if (how == 7) r.create<double>(-1);
  r = 1;
$}}
C++ sub long_work(int i) ${{ printf("at work\n"); usleep(100000); $}}
C++ sub bytes(real size, name r) ${{ memset(r.create<char>((size_t)size), 1, (size_t)size); $}}
C++ sub count(value v, name r) ${{ r = (int)(v.getSize() % 1000003); $}}
C++ sub say(int v) ${{ printf("%d\n", v); $}}
C++ sub nothing(int i) ${{ $}}
C++ sub one(int i, name r) ${{ r = 1; $}}
C++ sub add(int a, int b, name r) ${{ r = a + b; $}}
sub deeper(int n) { deeper(n + 1); }
sub main(string what, int n, real x) {
  df r, big;
  if what == "wrong" {
    wrong(n, r[7][n]) @ { locator_cyclic: 0; };
    for i = 1..1000 long_work(i) @ { locator_cyclic: i; };
  }
  if what == "throws" wrong(6, r);
  if what == "in a loop" for i = 6..n wrong(i, big[i]);
  if what == "deeper" deeper(0);
  if what == "index" { one(0, r[n * 2]); }
  if what == "block" {
    bytes(x, big) @ { locator_cyclic: 0; };
    count(big, r) @ { locator_cyclic: 1; };
    say(r);
  }
  if what == "memory" { for i = 1..n { bytes(x, big[i]); count(big[i], r[i]); } }
  if what == "loop" {
    for i = 1..n {
      one(i, r[i]) @ { req_count r[i] = 1; };
      add(r[i], i, big[i]) @ { req_count big[i] = 0; };
    }
  }
  if what == "empty" for i = 1..n nothing(i);
  if what == "indices" {
    one(0, rINDICES[n]);
    say(rINDICES[30]);
  }
}
"""


@pytest.fixture(scope="module")
def program(once, tmp_path_factory) -> Path:
    def build(folder: Path) -> Path:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", common_cache(tmp_path_factory))
            source = folder / "wrong.fa"
            source.write_text(SOURCE.replace("INDICES", "".join(f"[{i}]" for i in range(1, 30))))
            ended = jobs.tailrace("compile", source, "-o", folder / "wrong.so")
        assert ended.status == 0, ended
        return folder / "wrong.so"

    return once("wrong", build)


def start(
    program: Path, what: str, n: int = 0, x: float = 0.0, ranks: int = 1, options=(), prefix=()
) -> jobs.Job:
    command = [str(find_program("tailrace-fragments"))]
    return jobs.Job([*options, program, what, n, f"{x:.1f}"], ranks, command=command, prefix=list(prefix))


def run(program: Path, what: str, *words, **settings) -> jobs.Ended:
    return start(program, what, *words, **settings).wait()


LINE = next(n for n, line in enumerate(SOURCE.splitlines(), 1) if "wrong(n, r[7][n])" in line)
PLACE = rf"wrong\.fa:{LINE}:5"
WRONG = [
    (1, "crashed (SIGSEGV"),
    (2, "called exit"),
    (3, "aborted (SIGABRT)"),
    (4, "crashed (SIGFPE"),
    (5, "crashed (SIGSEGV"),
]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("how", "said"), WRONG)
def test_a_body_that_ends_its_process_is_named(how, said, threads, program):
    start_s = time.monotonic()
    ended = run(program, "wrong", how, ranks=2, options=["-t", threads])
    assert time.monotonic() - start_s < ENDS_WITHIN_S
    assert ended.status != 0, ended
    named = rf"{PLACE}: error: wrong {re.escape(said)}.* when it was to write r\[7\]\[{how}\]"
    assert re.search(named, ended.err), ended


def test_a_killed_rank_ends_the_job(program):
    job = start(program, "wrong", ranks=2)  # nothing is wrong, and the bodies take 50 s on each rank
    job.wait_for(lambda: "at work" in job.texts()[0], "body")
    job.blow = time.monotonic()
    os.kill(job.processes_of("tailrace-fragments")[1], signal.SIGKILL)
    ended = job.wait()
    assert ended.status != 0 and ended.seconds < ENDS_WITHIN_S, ended
    assert jobs.waits_spin() or "signal 9" in ended.err, ended


@pytest.mark.parametrize(("what", "n"), [("none", 0), ("empty", 0), ("empty", 1)])
def test_fewer_fragments_than_ranks_and_workers(what, n, program):
    ended = run(program, what, n, ranks=3, options=["-t", 2])
    assert (ended.status, ended.out, ended.err) == (0, "", ""), ended


def test_a_body_that_throws_is_named(program):
    line = next(n for n, line in enumerate(SOURCE.splitlines(), 1) if "wrong(6, r)" in line)
    ended = run(program, "throws")
    assert ended.status == 3 and re.search(
        rf"wrong\.fa:{line}:23: error: wrong failed: no luck", ended.err
    ), ended


def test_a_body_that_fails_in_a_loop_says_what_it_was_to_write(program):
    ended = run(program, "in a loop", 7).err
    assert "wrong failed: no luck\n" in ended and "^ was to write big[6]\n" in ended, ended
    assert "wrong failed: big[7]: there is no block of -1 elements\n" in ended, ended


def test_recursion_without_end_shows_its_calls(program):
    ended = run(program, "deeper")
    assert ended.status == 3 and "calls are nested more than 10000 deep [SEM8]" in ended.err, ended
    assert "as deeper(9999)" in ended.err and "further calls" in ended.err


@pytest.mark.parametrize("ranks", [1, 2])
def test_an_index_beyond_int(ranks, program):
    ended = run(program, "index", 2**30, ranks=ranks)
    assert ended.status == 3 and "int overflow" in ended.err, ended


def test_thirty_indices(program):
    assert run(program, "indices", 30, ranks=2).out == "1\n"
    ended = run(program, "indices", 31, ranks=2)
    assert ended.status == 3 and "Nobody writes r[1][2][3]" in ended.err and "[29][30]" in ended.err, ended


@pytest.mark.parametrize("x", [0, 1, 5e6])
def test_blocks_of_any_size_go_to_another_rank(x, program):
    assert run(program, "block", x=x, ranks=2).out == f"{int(x) % 1000003}\n"


@pytest.mark.full
def test_a_block_beyond_the_counts_of_mpi(program):
    assert run(program, "block", x=3 * 2**30, ranks=2).out == f"{3 * 2**30 % 1000003}\n"


def test_without_memory_the_names_that_hold_it_are_said(program):
    ended = run(program, "memory", 40, 50e6, prefix=["prlimit", "--as=1500000000"])
    assert ended.status == 3 and "bytes failed: there is no memory left" in ended.err, ended
    assert re.search(
        r"\d+ data fragments of this rank hold .*GB: big\[1\] 50\.0 MB, big\[\d+\] 50\.0 MB", ended.err
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--live-bytes", "0"], '--live-bytes: "0" is no size for a limit'),
        (["--live-bytes", "10000000TB"], '--live-bytes: "10000000TB" is no size for a limit'),
        (["--live-bytes", "much"], '--live-bytes: cannot read "much"'),
        (["--live-fragments", "0"], "limits of 0 live fragments"),
        (["--balance", "shift"], "balance 'shift' is not known"),
        (["--transport", "local:0"], "transport 'local:0' is not known"),
    ],
)
def test_limits_that_no_run_can_have(options, said, program):
    ended = run(program, "empty", 1, options=options)
    assert (ended.status, ended.out) == (2, "") and said in ended.err, ended


# Runs a command and says how much memory it had.
WITH_PEAK = """import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)"""


def peak_kib(ended: jobs.Ended) -> int:
    return int(re.search(r"peak (\d+)", ended.err).group(1))


@pytest.mark.parametrize("what", ["loop", "empty"])
def test_a_long_loop_has_the_memory_of_a_short_one(what, program):
    """A hundred times the iterations, all within the limit of live fragments."""
    peaks = []
    for count in (5_000, 200_000):
        words = [sys.executable, "-c", WITH_PEAK]
        ended = run(program, what, count, ranks=0, options=["--live-fragments", 1000], prefix=words)
        assert ended.status == 0, ended
        peaks.append(peak_kib(ended))
    assert peaks[1] < peaks[0] + 4000, peaks  # KiB; a data fragment that left 100 bytes would take 20 MB


@pytest.mark.full
def test_ten_million_iterations(program):
    assert run(program, "loop", 10_000_000, ranks=2, options=["--live-fragments", 10000]).status == 0
