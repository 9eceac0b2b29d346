# SPDX-License-Identifier: BSD-3-Clause
"""The references of tests/data/ultrasound/independent are what the script beside them makes of the inputs."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import jobs

SCRIPT = Path(__file__).resolve().parents[1] / "data/ultrasound/independent/check_references.py"
# As the script's own import, which would want a network.
CHECK = f"""
import runpy, sys
from tailrace.kwave_python import import_kwave
import_kwave()
sys.path.insert(0, {str(SCRIPT.parent)!r})
runpy.run_path({str(SCRIPT)!r}, run_name="__main__")
"""


@pytest.mark.full
@pytest.mark.skipif(
    importlib.util.find_spec("kwave") is None and "CI" not in os.environ,
    reason="k-wave-python is not installed",
)
def test_references_are_reproduced():
    environment = jobs.environment("references") | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CHECK], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cases = sum(line.is_dir() and line.name[0] != "_" for line in SCRIPT.parent.iterdir())
    assert done.stdout.count("\n") >= cases + 9
