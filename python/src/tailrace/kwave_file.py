# SPDX-License-Identifier: BSD-3-Clause
"""Writes k-Wave files: datasets of rank 3 with the two attributes that k-Wave's readers check."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np


def write_file(
    path: Path,
    header: Mapping[str, str],
    datasets: Mapping[str, Any],
    attributes: Mapping[str, Mapping[str, str]] | None = None,
) -> Path:
    """Writes a file: text attributes of the root, and datasets by name in HDF5 order (z, y, x). Numbers
    become datasets of shape (1, 1, 1). `attributes` are those of datasets that are not to have the usual.
    """
    with h5py.File(path, "w") as file:
        for name, text in header.items():
            write_text(file, name, text)
        for name, value in datasets.items():
            array = np.asarray(value)
            dataset = file.create_dataset(name, data=array.reshape(1, 1, 1) if array.ndim == 0 else array)
            usual = {"data_type": data_type(array), "domain_type": "real"}
            for key, text in (attributes or {}).get(name, usual).items():
                write_text(dataset, key, text)
    return path


def data_type(array: np.ndarray) -> str:
    return "long" if array.dtype.kind in "iu" else "float"


def long(value: Any) -> np.ndarray:
    """One or more integers in k-Wave's type; a list becomes a row of shape (1, 1, n)."""
    array = np.asarray(value, dtype=np.uint64)
    return array.reshape(1, 1, -1) if array.ndim < 2 else array


def real(value: Any) -> np.ndarray:
    """As `long`, for numbers in single precision."""
    array = np.asarray(value, dtype=np.float32)
    return array.reshape(1, 1, -1) if array.ndim < 2 else array


def write_text(owner: Any, name: str, text: str) -> None:
    """A null-terminated fixed-length string attribute, as k-Wave's own programs write it."""
    data = text.encode() + b"\0"
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(data))
    attribute = h5py.h5a.create(owner.id, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    attribute.write(np.array(data, dtype=f"S{len(data)}"), mtype=kind)
