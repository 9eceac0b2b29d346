# SPDX-License-Identifier: BSD-3-Clause
"""Changed inputs against the sanitizer build; the plain build has integration.ultrasound_fuzz in CTest."""

import os
import subprocess
from pathlib import Path

import pytest

from tailrace.cores import usable_cores
from tailrace.launch import root_permission

ROOT = Path(__file__).resolve().parents[2]
INPUTS = 20_000
# Memory that libraries keep to the end is no fault of a reader; undefined behaviour ends the program.
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}


def call(*words: object, env: dict[str, str] | None = None) -> str:
    done = subprocess.run([str(word) for word in words], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-20_000:]
    return done.stdout


@pytest.mark.full
def test_sanitizer_build_takes_changed_inputs():
    call("cmake", "--preset", "asan")
    call("cmake", "--build", "build-asan", "--target", "test-ultrasound-fuzz", "-j", usable_cores())
    env = os.environ | root_permission() | SANITIZERS | {"OMP_NUM_THREADS": "1"}
    fuzz = ROOT / "build-asan" / "bin" / "test-ultrasound-fuzz"
    out = call(fuzz, "--first", 500_000, "--count", INPUTS, "--workers", usable_cores(), env=env)
    assert f"{INPUTS} inputs" in out
