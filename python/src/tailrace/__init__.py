# SPDX-License-Identifier: BSD-3-Clause
"""Tailrace: output, checkpoints and insight for parallel simulations."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    from tailrace.data.run import Run

__version__ = "0.1.0"


def open(
    path: "str | PathLike",
    input: "str | PathLike | None" = None,
    *,
    pml: bool = True,
    incomplete: bool = False,
) -> "Run":
    """Opens an output of Tailrace or of k-Wave's binaries as labelled arrays; values are read when they are
    used.

    `path` is the output file or a run directory. `input`, the input file, says where the sensors are when
    the output holds no copy of the mask; of a run directory it is found. `pml=False` leaves the absorbing
    layer out of variables on the whole domain. `incomplete=True` keeps also what a running or killed run has
    not completed. Raises tailrace.kwave.FileError.
    """
    # Here and not above: the command line must start without waiting for xarray.
    from tailrace.data.run import Run

    return Run(path, input, pml, incomplete).require_data()
