# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a moving source of heat, and what they wrote."""

import os

import numpy as np
import pytest

import jobs

NEEDS_HEAT = pytest.mark.skipif(
    jobs.HEAT is None and "CI" not in os.environ, reason="heat is not built: p4est for this MPI is missing"
)

CASE = """
[case]
simulation = "heat"
[heat]
class = "S"
[domain]
cells = [20, 18, 16]
[[output]]
name = "plane"
quantity = "temperature"
select = {plane = {z = 7}}
every = 5
type = "float64"
initial = true
[[output]]
name = "levels"
quantity = "level"
every = 10
[[output]]
name = "source"
quantity = "source"
select = {points = [[9, 6, 5], [12, 9, 8]]}
every = 4
type = "float64"
[[output]]
name = "last"
quantity = "temperature"
reduce = "final"
type = "float64"
[[output]]
name = "highest"
quantity = "temperature"
reduce = "max"
select = {box = [[5, 5, 5], [14, 12, 11]]}
[checkpoint]
every = 20
"""


def start(*words, ranks: int = 1) -> jobs.Job:
    return jobs.Job([*words], ranks, command=[str(jobs.HEAT)])


def run(tmp_path, name: str, *words, ranks: int = 1, text: str = CASE):
    case = tmp_path / f"{name}.toml"
    case.write_text(text)
    out = tmp_path / name
    ended = start("--case", case, "--out", out, *words, ranks=ranks).wait()
    return ended, out


MESH = """
[case]
simulation = "heat"
[heat]
class = "S"
[[output]]
name = "mesh"
quantity = "mesh"
every = 10
type = "float64"
[[output]]
name = "corners"
quantity = "mesh_corners"
at = [7, 20]
[checkpoint]
every = 20
"""


def samples_of(out, name: str) -> dict[int, np.ndarray]:
    """The rows of each sample of a stream, by its step."""
    found = jobs.read_datasets(out / "output.h5")
    ends = found[f"{name}/offsets"]
    return {
        int(step): found[f"{name}/values"][begin:end]
        for step, begin, end in zip(found[f"{name}/step"], ends[:-1], ends[1:], strict=True)
    }


def assert_same(run_dir, other):
    """Two runs have the same output, byte for byte, but for who wrote it."""
    found, again = (jobs.read_datasets(directory / "output.h5") for directory in (run_dir, other))
    assert found.keys() == again.keys()
    for name, values in found.items():
        if name != "tailrace_record":
            assert values.tobytes() == again[name].tobytes(), name
    for name in ("mesh", "corners"):
        file = f"output.h5.rows/{name}.h5"
        assert (run_dir / file).read_bytes() == (other / file).read_bytes(), name
