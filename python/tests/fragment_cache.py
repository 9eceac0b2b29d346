# SPDX-License-Identifier: BSD-3-Clause
"""What compilers make of the header of all bodies takes seconds: one for all tests of a pytest run."""

from pathlib import Path

import pytest

from shared import common_directory
from tailrace.fragments.folders import cache_root

SHARED = ("grammar", "objects/headers")


def common_cache(factory: pytest.TempPathFactory) -> str:
    """The cache of tests to which it is the same what was compiled before, for XDG_CACHE_HOME."""
    folder = common_directory(factory) / "cache"
    folder.mkdir(exist_ok=True)
    return str(folder)


def own_cache(factory: pytest.TempPathFactory, patch: pytest.MonkeyPatch, folder: Path) -> None:
    """A cache in which no body is compiled yet; only the header of all bodies and the grammar may be."""
    patch.setenv("XDG_CACHE_HOME", common_cache(factory))
    common = cache_root()
    patch.setenv("XDG_CACHE_HOME", str(folder))
    for name in SHARED:
        (common / name).mkdir(parents=True, exist_ok=True)
        (cache_root() / name).parent.mkdir(parents=True, exist_ok=True)
        (cache_root() / name).symlink_to(common / name)
