# SPDX-License-Identifier: BSD-3-Clause
"""Ranks share the work of molecules that are not the same everywhere, and follow them when they move."""

from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from molecules_cases import KINDS, MANY, atoms, case, datasets, droplet, output, run, run_in_segments, table

IMBALANCE = output("imbalance", "imbalance", every=10, initial=True)
ENDS = output("last", "position", reduce="final", type="float64")
ENERGY = output("energy", "total_energy", every=10, initial=True)
each_number = pytest.mark.parametrize("ranks", [rank for rank in (4, 7) if rank in MANY] or [3])


def imbalance(directory: Path) -> np.ndarray:
    with h5py.File(directory / "run/output.h5", "r") as file:
        return file["imbalance/values"][()]


@pytest.mark.parametrize("ranks", [rank for rank in (4, 7) if rank in MANY])
def test_a_tree_balances_a_droplet(ranks, tmp_path):
    found = {}
    for kind in KINDS:
        run(droplet(20, table("decomposition", kind=kind), IMBALANCE), tmp_path / kind, ranks=ranks)
        found[kind] = imbalance(tmp_path / kind)
    assert (found["regular"] > 2).all() and (found["kd"] < 1.15).all(), found


LENGTH, RADIUS, VELOCITY, STEPS = 24.0, 8.0, (9.0, -6.0, 3.0), 250


def write_moving_droplet(path: Path) -> None:
    """A cold drop that flies through its box: 9 sigma along x, 6 along y, 3 along z within the steps."""
    edge = (4 / 0.75) ** (1 / 3)
    cells = np.stack(np.meshgrid(*[np.arange(-5, 6)] * 3, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    corners = np.array([[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]])
    places = edge * (cells + corners).reshape(-1, 3)
    places = places[np.linalg.norm(places, axis=1) < RADIUS] + [9, 10, 11]
    velocities = np.random.default_rng(5).normal(scale=0.3, size=places.shape)
    velocities += VELOCITY - velocities.mean(axis=0)
    rows = [
        f"{number} 1 " + " ".join(map(repr, [*map(float, place), *map(float, velocity)]))
        for number, (place, velocity) in enumerate(zip(places, velocities, strict=True), 1)
    ]
    head = f"""mardyn trunk 20160512
currentTime 0
Length {LENGTH} {LENGTH} {LENGTH}
Temperature 0.1
NumberOfComponents 1
1 0 0 0 0
0 0 0  1.0 1.0 1.0 0 0
0 0 0
1e+10
NumberOfMolecules {len(rows)}
MoleculeFormat ICRV
"""
    path.write_text(head + "\n".join(rows) + "\n")


@each_number
def test_regions_follow_a_moving_droplet(ranks, tmp_path):
    """And again after a kill in mid-flight, with the same bits."""
    write_moving_droplet(tmp_path / "drop.inp")

    def text(every: int) -> str:
        tree = table("decomposition", kind="kd", every=every, limit=1.05)
        start = table("start", file=tmp_path / "drop.inp")
        checkpoint = table("checkpoint", every=60)
        return case(0.004, STEPS, atoms(), start, tree, IMBALANCE, ENDS, ENERGY, checkpoint)

    run(text(10), tmp_path / "rebalanced", ranks=ranks)
    run(text(10**6), tmp_path / "left", ranks=ranks)
    found = {name: imbalance(tmp_path / name) for name in ("rebalanced", "left")}
    assert found["left"][0] < 1.15 and found["left"].max() > 2, found
    assert (found["rebalanced"] < 1.2).all(), found
    run_in_segments(text(10), tmp_path / "legs", ranks, ranks, "kill:step=200")
    jobs.assert_equal_files(tmp_path / "legs/run/output.h5", tmp_path / "rebalanced/run/output.h5")


@each_number
def test_other_ranks_share_the_state_that_they_resume_from(ranks, tmp_path):
    """Not the start, from which the droplet has moved away."""
    write_moving_droplet(tmp_path / "drop.inp")
    tables = [table("decomposition", kind="kd", every=10**6), IMBALANCE, table("checkpoint", every=60)]
    start = table("start", file=tmp_path / "drop.inp")
    run_in_segments(case(0.004, STEPS, atoms(), start, *tables), tmp_path, 2, ranks, "kill:step=245")
    sample = jobs.account(tmp_path / "run")["resumed_from"] // 10 + 1
    assert sample >= 19 and imbalance(tmp_path)[sample] < 1.3


@pytest.mark.parametrize("ranks", [2, 3])
def test_measured_load(ranks, tmp_path):
    """Regions follow from times, which are never the same; what is computed is, up to rounding."""
    outputs = [IMBALANCE, ENDS, ENERGY, table("checkpoint", every=7)]
    run(droplet(40, *outputs), tmp_path / "one", ranks=1)
    tree = table("decomposition", kind="kd", load="measured", every=5, limit=1.0)
    measured = tmp_path / "measured"
    run(droplet(40, tree, *outputs), measured, ranks=ranks)
    killed = tmp_path / "killed"
    run_in_segments(droplet(40, tree, *outputs), killed, ranks, ranks, "kill:step=30")
    wanted = datasets(tmp_path / "one")
    for directory in (measured, killed):
        found = datasets(directory)
        for name in ("last/values", "energy/values"):
            assert np.allclose(found[name], wanted[name], rtol=1e-9, atol=1e-9), name
        # A rank that is stalled counts as slow, by four times at most: no measure of how well they share.
        assert (imbalance(directory) < ranks).all()
