# SPDX-License-Identifier: BSD-3-Clause
"""The message profiler in front of programs whose messages are known, call by call."""

import json
import os
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from command import process
from computations import SEISMIC
from native import cannot, needs
from tailrace.messages.counts import Profile, read_profile
from tailrace.messages.preload import profiler
from tailrace.programs import find_library, launch_info

SOURCES = Path(__file__).with_name("messages")
RANKS = 3
INT = 4

pytestmark = pytest.mark.skipif(
    find_library("tailrace_messages") is None and "CI" not in os.environ, reason="profiler not built"
)


def compiler_of(*names: str) -> str | None:
    """The compiler of the MPI that the profiler was built with."""
    mpi = launch_info(profiler()).implementation
    return next((word for name in names for word in (f"{name}.{mpi}", name) if shutil.which(word)), None)


def compiled(source: str, directory: Path) -> Path:
    names = {".c": ("mpicc",), ".f90": ("mpifort", "mpif90")}[Path(source).suffix]
    compiler = compiler_of(*names) or cannot(f"there is no {names[0]}")
    program = directory / Path(source).stem
    subprocess.run([compiler, SOURCES / source, "-w", "-o", program], check=True)
    return program


def counted(program: Path, *arguments: str, ranks: int = RANKS, status: int = 0) -> Profile:
    """What the command counted, whose page is there."""
    out = program.parent / "counts"
    words = ["profile", "messages", "-n", ranks, "--oversubscribe", "--out", out, "--overwrite"]
    answer = process(*words, "--", program, *arguments, directory=program.parent)
    assert answer.status == status, answer
    assert (out / "messages.html").stat().st_size > 100_000
    return read_profile(out)


def by_kind(profile: Profile, rank: int) -> dict[str, dict[int, int]]:
    """Sizes with their counts, by kind."""
    kinds = profile.ranks[rank].kinds
    assert not any(sizes.coarse for sizes in kinds.values())
    return {kind: dict(sizes.exact) for (_, kind), sizes in kinds.items()}


def peers(profile: Profile, rank: int, group: str) -> dict[int, tuple[int, int]]:
    found = profile.ranks[rank].peers.items()
    return {peer: (total.messages, total.bytes) for (of, peer), total in found if of == group}


def once_each(*sizes: int) -> dict[int, int]:
    return dict.fromkeys(sizes, 1)


SENDS = {
    "send": once_each(10, 24, 25, 26, 27, 28, 29, 30, 31, 32),
    "bsend": {11: 1}, "ssend": {12: 1}, "rsend": {13: 1}, "sendrecv": {22: 1}, "sendrecv_replace": {23: 1},
    "isend": {14: 1}, "ibsend": {15: 1}, "issend": {16: 1}, "irsend": {17: 1},
    "send_init": {18: 3}, "bsend_init": {19: 3}, "ssend_init": {20: 3}, "rsend_init": {21: 3},
}  # fmt: skip
RECEIVES = {
    "recv": once_each(10, 11), "irecv": once_each(12, 13, 14, 15, 16, 17, 26, 27, 28, 29, 30, 31, 32),
    "recv_init": {18: 3, 19: 3, 20: 3, 21: 3}, "mrecv": {24: 1}, "imrecv": {25: 1},
    "recv_of_sendrecv": {22: 1}, "recv_of_sendrecv_replace": {23: 1},
}  # fmt: skip
ACCESSES = {
    "put": {8: 1}, "get": {16: 1}, "accumulate": {24: 1}, "get_accumulate": {32: 1}, "fetch_and_op": {8: 1},
    "compare_and_swap": {4: 1}, "rput": {40: 1}, "rget": {48: 1}, "raccumulate": {56: 1},
    "rget_accumulate": {16: 1},
}  # fmt: skip
# Elements of 4 bytes that a rank hands in: of the blocking call and of the other one.
COLLECTIVES = {
    "bcast": (2, 3), "gather": (4, 5), "reduce": (8, 9), "allgather": (1, 2), "alltoall": (9, 12),
    "alltoallv": (6, 6), "alltoallw": (6, 6), "allreduce": (5, 6), "reduce_scatter": (6, 6),
    "reduce_scatter_block": (21, 24), "scan": (9, 10), "exscan": (11, 12), "neighbor_allgather": (1, 2),
    "neighbor_allgatherv": (3, 3), "neighbor_alltoall": (8, 10), "neighbor_alltoallv": (3, 3),
    "neighbor_alltoallw": (3, 3),
}  # fmt: skip


def collectives(rank: int) -> dict[str, dict[int, int]]:
    """All of them, those whose shares differ between ranks included."""
    mine = rank + 1
    own = {"gatherv": (mine, mine), "allgatherv": (mine, mine)}
    own |= (
        {"scatter": (18, 21), "scatterv": (6, 6)}
        if rank == 0
        else {"scatter": (6, 7), "scatterv": (mine, mine)}
    )
    found: dict[str, dict[int, int]] = defaultdict(dict, barrier={0: 17}, ibarrier={0: 1})
    for kind, (blocking, other) in (COLLECTIVES | own).items():
        found[kind], found[f"i{kind}"] = {INT * blocking: 1}, {INT * other: 1}
    return dict(found)


@pytest.mark.mpi_thin
def test_every_call_from_c_is_counted_exactly(tmp_path):
    profile = counted(compiled("traffic.c", tmp_path))
    assert len(profile.ranks) == RANKS and profile.problems == []
    sent = sum(size * count for sizes in SENDS.values() for size, count in sizes.items())
    messages = sum(sum(sizes.values()) for sizes in SENDS.values())
    for rank in range(RANKS):
        after, before = (rank + 1) % RANKS, (rank - 1) % RANKS
        assert by_kind(profile, rank) == SENDS | RECEIVES | ACCESSES | collectives(rank)
        assert peers(profile, rank, "sent") == {after: (messages, sent)}
        assert peers(profile, rank, "received") == {before: (messages, sent)}
        assert peers(profile, rank, "one_sided") == {after: (10, 252)}
        assert profile.ranks[rank].unseen == 1  # the cancelled receive
        total = sum(sizes.total.messages for sizes in profile.ranks[rank].kinds.values())
        assert sum(n for bins in profile.ranks[rank].bins.values() for n, _ in bins) == total


@pytest.mark.mpi_thin
def test_calls_from_fortran_are_counted_exactly(tmp_path):
    profile = counted(compiled("traffic.f90", tmp_path))
    assert len(profile.ranks) == RANKS
    for rank in range(RANKS):
        assert by_kind(profile, rank) == {
            "send": once_each(10, 24, 26, 27), "bsend": {11: 1}, "ssend": {12: 1}, "isend": {14: 1},
            "send_init": {18: 3}, "sendrecv": {22: 1}, "recv": once_each(10, 11), "mrecv": {24: 1},
            "irecv": once_each(12, 14, 26, 27), "recv_init": {18: 3}, "recv_of_sendrecv": {22: 1},
            "put": {20: 1}, "get": {24: 1}, "accumulate": {28: 1}, "barrier": {0: 1}, "bcast": {8: 1},
            "scatter": {72 if rank == 0 else 24: 1}, "allgather": {16: 1}, "alltoallv": {24: 1},
            "allreduce": {12: 1}, "iallreduce": {20: 1},
        }  # fmt: skip
        assert peers(profile, rank, "sent").keys() == {(rank + 1) % RANKS}


def test_calls_by_the_module_mpi_f08_are_counted_under_open_mpi(tmp_path):
    if launch_info(profiler()).implementation != "openmpi":
        pytest.skip("MPICH's mpi_f08 cannot be observed")
    profile = counted(compiled("traffic_f08.f90", tmp_path))
    for rank in range(RANKS):
        assert by_kind(profile, rank) == {
            "send": {10: 1}, "isend": {14: 1}, "sendrecv": {22: 1}, "recv": {10: 1}, "irecv": {14: 1},
            "recv_of_sendrecv": {22: 1}, "allreduce": {12: 1},
        }  # fmt: skip


def test_beyond_4096_sizes_there_are_classes_and_a_program_need_not_finalize(tmp_path):
    program = compiled("traffic.c", tmp_path)
    profile = counted(program, "sizes", ranks=1)
    sizes = profile.ranks[0].kinds["sent", "isend"]
    assert dict(sizes.exact) == once_each(*range(4096))
    assert sizes.coarse == [(4096, 8191, 104, sum(range(4096, 4200)))]
    assert profile.sizes("sent").total == profile.sizes("received").total
    assert "sent = received" in process("profile", "messages", "--read", tmp_path / "counts").out
    # Launchers report a rank that does not finalize as a failure.
    failed = 3 if launch_info(profiler()).implementation == "openmpi" else 0
    profile = counted(program, "unfinished", ranks=1, status=failed)
    assert profile.sizes("sent").exact[10] == 1
    assert profile.ranks[0].complete is False
    assert "rank-00000 ended without MPI_Finalize" in profile.problems[0]


def test_a_program_without_mpi_is_named(tmp_path):
    answer = process("profile", "messages", "--out", tmp_path / "counts", "--", "true", directory=tmp_path)
    assert answer.status == 3
    assert "no process has counted a message" in answer.err


PROGRAM = """
#include <mpi.h>
int main(int argc, char** argv) {
  int number = 0;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < COUNT; ++i)
    MPI_Sendrecv_replace(&number, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""


def test_one_more_message_of_a_revision_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repository = tmp_path / "repository"
    words = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", repository]
    subprocess.run(["git", "init", "-q", repository], check=True)
    for count in (40, 41):
        (repository / "program.c").write_text(PROGRAM.replace("COUNT", str(count)))
        subprocess.run([*words, "add", "."], check=True)
        subprocess.run([*words, "commit", "-qm", f"{count} messages"], check=True)
    compiler = compiler_of("mpicc") or cannot("there is no mpicc")
    build = ["--build", f"{compiler} program.c -o program", "--number", "messages"]
    answer = process("revisions", "./program", "HEAD~1", "HEAD", "--repo", repository, *build)
    assert answer.status == 1 and "1.025" in answer.out and "slower" in answer.out, answer


@needs("tailrace-seismic")
def test_a_run_has_its_messages_in_the_account_and_in_the_report(tmp_path):
    case, out = tmp_path / "case.toml", tmp_path / "run"
    case.write_text(SEISMIC)
    answer = process("run", case, "-n", 2, "--out", out, "--profile", "messages", "--oversubscribe")
    assert answer.status == 0, answer
    account = json.loads((out / "run.json").read_text())
    found = account["messages"]
    assert account["status"] == "finished"
    assert found["ranks"] == 2 and found["sent_equals_received"] and found["problems"] == []
    assert found["groups"]["sent"] == found["groups"]["received"]
    assert found["groups"]["sent"]["messages"] > 80  # halos of two ranks in 40 steps
    assert 'id="messages"' in (out / "report.html").read_text()
