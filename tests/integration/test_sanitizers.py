# SPDX-License-Identifier: BSD-3-Clause
"""The pool, active messages between threads, and the runtime of fragments under the sanitizers of threads, of
addresses, and of undefined behaviour.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tailrace.cores import usable_cores
from tailrace.launch import root_permission

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ["test-unit-tasks", "test-unit-am", "test-unit-fragments"]
# The first finding ends a program; memory that libraries keep to the end is none.
SETTINGS = {
    "ASAN_OPTIONS": "detect_leaks=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": f"halt_on_error=1:suppressions={ROOT}/tests/support/tsan.supp",
}
# A sanitizer makes a program 5 to 20 times slower: of the random graphs, those of one case are enough.
LEFT_OUT = "full:*,*second quarter,*third quarter,*last quarter"


def call(*words: object, env: dict[str, str] | None = None) -> str:
    done = subprocess.run([str(word) for word in words], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-20_000:]
    return done.stdout


@pytest.mark.full
@pytest.mark.parametrize("preset", ["tsan", "asan"])
def test_the_runtime_of_fragments(preset):
    call("cmake", "--preset", preset, "-DTAILRACE_UNITY=ON")
    call("cmake", "--build", f"build-{preset}", "--target", *PROGRAMS, "-j", usable_cores())
    for program in PROGRAMS:
        out = call(
            ROOT / f"build-{preset}" / "bin" / program,
            f"--test-case-exclude={LEFT_OUT}",
            env=os.environ | root_permission() | SETTINGS,
        )
        assert "Status: SUCCESS!" in out and "test cases: 0 " not in out
