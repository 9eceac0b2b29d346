# SPDX-License-Identifier: BSD-3-Clause
"""What is compiled before a newcomer sees a picture."""

import subprocess

import pytest

import jobs
from native import cannot, needs

SIMULATIONS = ("ultrasound", "seismic", "molecules", "poisson", "rehearse")


def objects(target: str) -> set[str]:
    build = jobs.PROGRAM.parent.parent
    if not (build / "build.ninja").is_file():
        cannot("the programs are not in a build directory of Ninja's")
    words = ["ninja", "-C", str(build), "-t", "inputs", target]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return {line for line in text.splitlines() if line.endswith(".o")}


@needs("tailrace-ultrasound")
@pytest.mark.parametrize("simulation", SIMULATIONS)
def test_what_is_compiled_while_packages_are_fetched_is_needed(simulation):
    library = objects("library")
    assert library and library <= objects(f"tailrace-{simulation}")
