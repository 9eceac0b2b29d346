# SPDX-License-Identifier: BSD-3-Clause
"""What one time step of the ultrasound solver does, counted from its algorithm.

One row per sweep of `Solver` (sims/ultrasound/solver.cpp, solver_source.cpp), for a heterogeneous, non-linear
medium with power-law absorption. Transforms are counted per plane or per block of columns; passes are arrays
that go over the memory bus, spectra and real fields apart. A value that is read counts once, one that is
changed in place twice, and one that is only written twice as well, because its cache line is read first. What
a sweep uses again while it handles one plane (at 128 x 128 points 64 KiB) or one block of columns is in cache
and counts once. Tables of |k| hold a quarter of a spectrum's bytes. docs/explain/benchmarks.md derives each
number.
"""

from dataclasses import dataclass

FLOAT_BYTES = 4
COMPLEX_BYTES = 8


@dataclass(frozen=True)
class Sweep:
    """Transforms, memory passes and exchanges of one sweep over the grid."""

    name: str
    plane_forward: int = 0
    plane_inverse: int = 0
    column_forward: int = 0
    column_inverse: int = 0
    spectra: float = 0.0
    fields: float = 0.0
    exchanges: int = 0


STEP = (
    Sweep("pressure gradients", column_forward=1, column_inverse=2, spectra=4.25, exchanges=2),
    Sweep("velocities", plane_forward=3, plane_inverse=3, spectra=6, fields=9, exchanges=3),
    Sweep("velocity gradients", column_forward=3, column_inverse=3, spectra=6.25, exchanges=3),
    Sweep("densities", plane_forward=2, plane_inverse=3, spectra=6, fields=11, exchanges=2),
    Sweep("absorption, columns", column_forward=2, column_inverse=2, spectra=4.5, exchanges=2),
    Sweep("absorption, planes", plane_forward=1, plane_inverse=2, spectra=4, fields=4, exchanges=1),
)
SOURCES = {
    # The filtered pattern is read and scaled.
    "one": (Sweep("source", fields=1),),
    # Filtered anew in each step, then added.
    "many": (
        Sweep("source, planes", plane_forward=1, spectra=2, exchanges=1),
        Sweep("source, columns", column_forward=1, column_inverse=1, spectra=2.25, exchanges=1),
        Sweep("source, adding", plane_inverse=1, spectra=2),
    ),
}


def sweeps(source: str) -> tuple[Sweep, ...]:
    return STEP + SOURCES[source]


def total(source: str) -> Sweep:
    """The sum over all sweeps of a step."""
    parts = sweeps(source)
    names = [name for name in Sweep.__dataclass_fields__ if name != "name"]
    return Sweep("step", **{name: sum(getattr(part, name) for part in parts) for name in names})


def bytes_per_step(grid: tuple[int, int, int], source: str, pitch: int) -> float:
    """Bytes that a step moves over the memory bus; `pitch` is the padded length of a row of a spectrum.

    The ranks of one machine work on shared spectra, so their number does not matter.
    """
    nx, ny, nz = grid
    step = total(source)
    spectrum = COMPLEX_BYTES * pitch * ny * nz
    return spectrum * step.spectra + FLOAT_BYTES * nx * ny * nz * step.fields


@dataclass(frozen=True)
class CallTimes:
    """Seconds per call of each transform while `workers` threads are busy with them."""

    plane_forward_s: float
    plane_inverse_s: float
    column_forward_s: float
    column_inverse_s: float
    pitch: int
    column_width: int
    workers: int


def transform_seconds(grid: tuple[int, int, int], source: str, times: CallTimes) -> float:
    """Time of a step's transforms if nothing else were done, spread evenly over the workers."""
    _, ny, nz = grid
    step = total(source)
    blocks = ny * -(-times.pitch // times.column_width)
    planes_s = nz * (step.plane_forward * times.plane_forward_s + step.plane_inverse * times.plane_inverse_s)
    columns_s = blocks * (
        step.column_forward * times.column_forward_s + step.column_inverse * times.column_inverse_s
    )
    return (planes_s + columns_s) / times.workers
