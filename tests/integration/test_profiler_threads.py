# SPDX-License-Identifier: BSD-3-Clause
"""The profilers under the sanitizer of threads: messages of several threads at once, and records of fragments
that run on workers.
"""

import os
import subprocess
from pathlib import Path

import pytest

from native import cannot
from tailrace.cores import usable_cores
from tailrace.fragment_profile.profile import read_profile
from tailrace.launch import root_permission
from tailrace.messages.counts import read_profile as read_counts
from test_profile_messages import SOURCES, compiler_of

ROOT = Path(__file__).resolve().parents[2]
PROFILER = ROOT / "tools" / "messages"
# MPI is not built with the sanitizer: its own locks are not seen.
OF_MPI = ("race:libmpi.so", "race:libopen-pal.so", "race:mca_", "mutex:mca_", "deadlock:mca_")
THREADS, MESSAGES = 4, 1000


def environment(directory: Path, **more: str) -> dict[str, str]:
    file = directory / "suppressions"
    common = (ROOT / "tests" / "support" / "tsan.supp").read_text(encoding="utf-8")
    file.write_text("\n".join([common, *OF_MPI, "called_from_lib:libmpi.so", ""]), encoding="utf-8")
    options = f"halt_on_error=1:ignore_noninstrumented_modules=1:suppressions={file}"
    yields = {"OMPI_MCA_mpi_yield_when_idle": "1"}
    return os.environ | root_permission() | yields | {"TSAN_OPTIONS": options} | more


def call(words: list[object], env: dict[str, str]) -> None:
    command = list(map(str, words))
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=3000, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-20_000:]


@pytest.mark.full
def test_the_message_profiler_with_threads(tmp_path):
    """The profiler is compiled into the program, so that the sanitizer sees both."""
    compiler = compiler_of("mpicc") or cannot("there is no mpicc")
    program, counts = tmp_path / "threads", tmp_path / "counts"
    counts.mkdir()
    sources = [SOURCES / "threads.c", *sorted(PROFILER.glob("*.c"))]
    call(
        [compiler, "-fsanitize=thread", "-g", "-O1", *sources, "-o", program, "-lpthread", "-ldl"],
        dict(os.environ),
    )
    words = ["mpirun", "--bind-to", "none", "--oversubscribe", "-n", 2, program]
    call(words, environment(tmp_path, TAILRACE_MESSAGES=str(counts)))
    profile = read_counts(counts)
    assert profile.problems == [] and len(profile.ranks) == 2
    once = {100 + thread: MESSAGES for thread in range(THREADS)}
    assert dict(profile.sizes("sent").exact) == {size: 2 * count for size, count in once.items()}
    assert profile.sizes("received").exact == profile.sizes("sent").exact


@pytest.mark.full
def test_records_of_fragments_on_workers(tmp_path):
    env = environment(tmp_path)
    call(["cmake", "--preset", "tsan", "-DTAILRACE_UNITY=ON", "-S", ROOT], env)
    build = ROOT / "build-tsan"
    call(["cmake", "--build", build, "--target", "tailrace-fragments", "-j", usable_cores()], env)
    program = tmp_path / "powers.so"
    call(
        [ROOT / "tailrace", "compile", ROOT / "examples/fragments/stencil1d.fa", "-o", program],
        dict(os.environ),
    )
    (tmp_path / "trace").mkdir()
    words = ["mpirun", "--bind-to", "none", "--oversubscribe", "-n", 2, build / "bin" / "tailrace-fragments"]
    call([*words, "-t", 2, "--trace", tmp_path, program, 4, 1000, 50], env)
    profile = read_profile(tmp_path)
    assert profile.errors == [] and len(profile.recorded.runs) > 200
