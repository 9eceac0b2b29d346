# SPDX-License-Identifier: BSD-3-Clause
"""What inputs of the formats 1.0 and 1.1 carry besides: layers, derivatives and shifts, ready made."""

import numpy as np
from kwave.utils.pml import get_pml

from small_inputs import Grid, Table


def along(axis: str, values: np.ndarray) -> np.ndarray:
    """A vector on its own axis; complex ones interleaved."""
    if np.iscomplexobj(values):
        values = np.stack([values.real, values.imag], axis=-1).reshape(-1)
    return values.astype("<f4").reshape([-1 if name == axis else 1 for name in "zyx"])


def operators(grid: Grid, table: Table) -> Table:
    """The explicit layers and derivatives that formats 1.0 and 1.1 carry."""
    c_ref = float(table["c_ref"][0, 0, 0])
    result = {}
    for i, axis in enumerate(grid.axes):
        n, d = grid.points[i], grid.spacing[i]
        for name, staggered in ((f"pml_{axis}", False), (f"pml_{axis}_sg{axis}", True)):
            layer = get_pml(n, d, grid.dt, c_ref, grid.pml_size[i], grid.pml_alpha[i], staggered, dimension=2)
            result[name] = along(axis, np.asarray(layer).reshape(-1))
        k = 2 * np.pi * np.fft.fftfreq(n, d)
        if axis == "x":
            k = k[: n // 2 + 1]
        for name, sign in (("pos", 1), ("neg", -1)):
            suffix = "_r" if axis == "x" else ""
            result[f"dd{axis}_k_shift_{name}{suffix}"] = along(axis, 1j * k * np.exp(sign * 0.5j * k * d))
    return result


def shifts(grid: Grid) -> Table:
    result = {}
    for i, axis in enumerate(grid.axes):
        n = grid.points[i]
        k = 2 * np.pi * np.arange(n // 2 + 1) / n
        result[f"{axis}_shift_neg_r"] = along(axis, np.exp(-0.5j * k))
    return result
