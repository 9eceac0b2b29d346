# SPDX-License-Identifier: BSD-3-Clause
"""Devito beside the seismic program: a Python of the user's runs devito_tti.py on the same arrays."""

import json
import subprocess
from pathlib import Path

import numpy as np

from tailrace.bench.programs import Runner
from tailrace.console import CommandError
from tailrace_bench.seismic_model import SPACING_M, Case, coefficients, initial_field, property_values
from tailrace_bench.stepping import Variant

SCRIPT = Path(__file__).with_name("devito_tti.py")
RESULT = "plane.npy"


def check(python: Path) -> None:
    """Raises CommandError where there is no such Python, or it has no Devito."""
    try:
        done = subprocess.run(
            [python, "-c", "import devito, numpy"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except OSError as error:
        raise CommandError(
            f"--devito {python}: {error.strerror}. Fix: name a Python that has Devito."
        ) from error
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise CommandError(f"--devito {python}: {said}. Fix: {python} -m pip install devito")


def solves(case: Case) -> bool:
    """Tilted media with a value per point, which is what the aim is about."""
    return case.equations == "tti" and case.properties == "arrays"


def name_of(variant: Variant) -> str:
    return f"Devito, {variant.threads} thread{'s' * (variant.threads > 1)}"


def write_input(directory: Path, case: Case) -> None:
    for name, values in coefficients(property_values(case.size)).items():
        np.save(directory / f"{name}.npy", values)
    np.save(directory / "initial.npy", initial_field(case.size))
    settings = {
        "spacing_m": [SPACING_M] * 3,
        "warm_up": case.warm_up,
        "steps": case.steps,
        "plane": case.size // 2,
    }
    (directory / "settings.json").write_text(json.dumps(settings))


def run(directory: Path, variant: Variant, runner: Runner) -> float:
    """Seconds of the steps after those that warm up."""
    finished = runner.run([str(variant.program), str(SCRIPT), str(directory)], variant.threads)
    return json.loads(finished.output.splitlines()[-1])["seconds"]
