# SPDX-License-Identifier: BSD-3-Clause
"""Memory made ready before a measurement."""

import os
import tempfile
from pathlib import Path
from shutil import rmtree

MIB = 1 << 20
BLOCK_BYTES = 8 * MIB
# Memory of the native program: its field and buffers, in samples, and the rest.
PROGRAM_SAMPLES, PROGRAM_MIB = 4, 64


def warm_page_cache(directory: Path, outputs: int, sample_mib: int) -> None:
    """Writes and deletes a file as large as the one to come and the program's memory, right before it starts:
    the first touch of memory in a virtual machine is ten times slower than a write, and some hypervisors take
    freed memory back within seconds.
    """
    size_mib = (outputs + PROGRAM_SAMPLES) * sample_mib + PROGRAM_MIB
    block = os.urandom(BLOCK_BYTES)
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        for _ in range(0, size_mib * MIB, BLOCK_BYTES):
            file.write(block)


def remove_outputs(directory: Path) -> None:
    """Removes files and directories of a run; strategies that start processes keep steps in a directory."""
    for left in directory.glob("output*"):
        if left.is_dir():
            rmtree(left)
        else:
            left.unlink()
