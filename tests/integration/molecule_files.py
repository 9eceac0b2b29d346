# SPDX-License-Identifier: BSD-3-Clause
"""A second reader of the files of molecules, after docs/formats/molecules.md and nothing else."""

from pathlib import Path

import numpy as np

STATE = [("r", "f8", 3), ("v", "f8", 3), ("q", "f8", 4), ("d", "f8", 3)]
TRANSFER = np.dtype(
    [*((name, "<f8", count) for name, _, count in STATE), ("id", "<u8"), ("component", "<i4")]
)
PADDED = np.dtype([*TRANSFER.descr, ("gap", "V4")])
BINARY = np.dtype([("id", "<u8"), ("component", "<u4"), *((name, "<f8", count) for name, _, count in STATE)])
# The endings of the two files of a state, or of one.
ENDINGS = {
    "ascii": [".restart.dat"],
    "binary": [".restart.header.xml", ".restart.dat"],
    "cells": [".restart", ".restart.mpi"],
    "netcdf": [".restart", ".restart.nc"],
    "mpi-restart": [".MPIrestart.dat"],
}


def files_of(name: str, prefix: Path) -> list[Path]:
    return [prefix.with_name(prefix.name + ending) for ending in ENDINGS[name]]


def read(name: str, data: Path) -> np.ndarray:
    """All molecules of a state in a format, in the order of their ids, with components from 0."""
    found = READERS[name](data)
    molecules = np.zeros(len(found), TRANSFER)
    for member in TRANSFER.names:
        molecules[member] = found[member]
    if name in ("ascii", "binary"):
        molecules["component"] -= 1
    return molecules[np.argsort(molecules["id"])]


def read_ascii(data: Path) -> np.ndarray:
    lines = data.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("MoleculeFormat")) + 1
    molecules = np.zeros(len(lines) - first, TRANSFER)
    for molecule, line in zip(molecules, lines[first:], strict=True):
        words = line.split()
        molecule["id"], molecule["component"] = int(words[0]), int(words[1])
        assign(molecule, np.array(words[2:], dtype=float))
    return molecules


def assign(molecule: np.void, numbers: np.ndarray) -> None:
    at = 0
    for name, _, count in STATE:
        molecule[name] = numbers[at : at + count]
        at += count


def read_binary(data: Path) -> np.ndarray:
    return np.fromfile(data, BINARY)


def read_cells(data: Path) -> np.ndarray:
    head = np.fromfile(data, "<i8", 2)
    return np.fromfile(data, TRANSFER, offset=40 + 4 * int(head[0]))


def read_netcdf(data: Path) -> np.ndarray:
    from scipy.io import netcdf_file

    with netcdf_file(data, mmap=False) as file:
        rows = [variable[:].reshape(-1, 15) for variable in file.variables.values()]
    rows = np.concatenate(rows)
    molecules = np.zeros(len(rows), TRANSFER)
    for molecule, row in zip(molecules, rows, strict=True):
        assign(molecule, row[:13])
        molecule["id"], molecule["component"] = row[13], row[14]
    return molecules


def read_mpi_restart(data: Path) -> np.ndarray:
    gap = int(np.fromfile(data, "<u8", 1, offset=56)[0])
    return np.fromfile(data, PADDED, offset=64 + gap)


READERS = {
    "ascii": read_ascii,
    "binary": read_binary,
    "cells": read_cells,
    "netcdf": read_netcdf,
    "mpi-restart": read_mpi_restart,
}
