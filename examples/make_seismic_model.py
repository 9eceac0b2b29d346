#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the model of the seismic example: dipping layers of transversely isotropic rock over a basement.

One HDF5 file with the datasets that `[model]` names: vp, epsilon, delta, dip and azimuth, each (z, y, x),
x fastest and z downwards. The axis of symmetry of each layer is upright on its bedding.

    python make_seismic_model.py [OUT]
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

CELLS = (200, 32, 160)  # x, y, z, as domain.cells of seismic.toml
SPACING_M = 6.25


@dataclass(frozen=True)
class Layer:
    """Rock below a plane that has `depth_m` in the middle of the domain; slopes are dz/dx, dz/dy."""

    depth_m: float
    slope_x: float
    slope_y: float
    vp_m_s: float
    epsilon: float
    delta: float


LAYERS = (
    Layer(-1e6, 0.0, 0.0, 1800.0, 0.0, 0.0),  # sand, isotropic
    Layer(230.0, 0.12, 0.03, 2300.0, 0.18, 0.08),  # shale
    Layer(430.0, 0.30, 0.06, 2800.0, 0.10, 0.05),
    Layer(640.0, 0.30, 0.06, 2500.0, 0.24, 0.10),  # shale again, slower
    Layer(790.0, -0.08, 0.0, 3600.0, 0.0, 0.0),  # basement
)


def model():
    """The arrays by their names in the file."""
    nx, ny, nz = CELLS
    x = (np.arange(nx) - nx / 2)[None, None, :] * SPACING_M
    y = (np.arange(ny) - ny / 2)[None, :, None] * SPACING_M
    z = np.arange(nz)[:, None, None] * SPACING_M
    arrays = {
        name: np.zeros((nz, ny, nx), np.float32) for name in ("vp", "epsilon", "delta", "dip", "azimuth")
    }
    for layer in LAYERS:
        below = z >= layer.depth_m + layer.slope_x * x + layer.slope_y * y
        arrays["vp"][below] = layer.vp_m_s
        arrays["epsilon"][below] = layer.epsilon
        arrays["delta"][below] = layer.delta
        arrays["dip"][below] = np.arctan(np.hypot(layer.slope_x, layer.slope_y))
        arrays["azimuth"][below] = np.arctan2(-layer.slope_y, -layer.slope_x)
    return arrays


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path, default=Path(__file__).with_name("seismic_model.h5"))
    out = parser.parse_args().out
    with h5py.File(out, "w") as file:
        for name, values in model().items():
            file.create_dataset(name, data=values)
    print(f"wrote {' x '.join(str(n) for n in CELLS)} points")


if __name__ == "__main__":
    main()
