# SPDX-License-Identifier: BSD-3-Clause
"""Where the front end keeps what it need not make again: below the user's cache directory."""

import os
from pathlib import Path


def cache_root() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tailrace" / "fragments"


def cache_folder(name: str) -> Path | None:
    """A directory of the cache, made when it is missing; None where that is impossible."""
    folder = cache_root() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder
