# SPDX-License-Identifier: BSD-3-Clause
"""Reads RSF files (Madagascar) by the format's description alone: text of key=value, values beside it."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TYPES = {"native_float": "=f4", "native_double": "=f8", "xdr_float": ">f4"}


@dataclass
class Rsf:
    """The keys of a header, and the values with the slowest axis first."""

    keys: dict[str, str]
    values: np.ndarray

    def axis(self, number: int) -> tuple[int, float, float, str, str]:
        """n, o, d, label and unit of an axis counted from 1, the fastest."""
        n, o, d = int(self.keys[f"n{number}"]), *(float(self.keys[f"{key}{number}"]) for key in "od")
        return n, o, d, self.keys.get(f"label{number}", ""), self.keys.get(f"unit{number}", "")


def read(path: Path) -> Rsf:
    keys = {}
    for line in path.read_text().splitlines():
        for key, text, plain in re.findall(r'(\w+)=(?:"([^"]*)"|(\S+))', line):
            keys[key] = text or plain
    extents = []
    while f"n{len(extents) + 1}" in keys:
        extents.append(int(keys[f"n{len(extents) + 1}"]))
    kind = np.dtype(TYPES[keys["data_format"]])
    assert int(keys["esize"]) == kind.itemsize
    count = int(np.prod(extents))
    values = np.fromfile(keys["in"], kind, count)
    assert len(values) == count, f"{path}: {len(values)} values of {count}"
    return Rsf(keys, values.reshape(extents[::-1]))
