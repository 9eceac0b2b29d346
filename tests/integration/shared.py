# SPDX-License-Identifier: BSD-3-Clause
"""Results of runs that several tests look at: made once for all workers of a pytest run."""

import fcntl
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from jobs import LAUNCHES

T = TypeVar("T")


class Shared:
    """Runs that are made by the first test that asks for them, in whichever worker, and kept for all others.

    Nobody may change what lies in the directory of such a run.
    """

    def __init__(self, parent: Path) -> None:
        parent.mkdir(exist_ok=True)
        self.parent = parent
        self.known: dict[str, object] = {}

    def __call__(self, name: str, make: Callable[[Path], T]) -> T:
        """Returns what `make` returned, which gets a directory of its own; it must be fit for pickle."""
        if name not in self.known:
            directory = self.parent / re.sub(r"[^\w.-]+", "-", name)
            with Path(f"{directory}.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self.known[name] = self.made(directory, make)
        return self.known[name]

    @staticmethod
    def made(directory: Path, make: Callable[[Path], T]) -> T:
        """Returns the result that lies beside the directory, after having it made if it is not there."""
        result = Path(f"{directory}.pickle")
        if not result.exists():
            directory.mkdir(exist_ok=True)
            before = LAUNCHES.count
            partial = Path(f"{result}.partial")
            partial.write_bytes(pickle.dumps(make(directory)))
            partial.rename(result)
            LAUNCHES.shared += LAUNCHES.count - before
        return pickle.loads(result.read_bytes())


def common_directory(factory: pytest.TempPathFactory) -> Path:
    """The directory that all workers of this pytest run have in common."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
