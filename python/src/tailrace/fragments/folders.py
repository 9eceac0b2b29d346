# SPDX-License-Identifier: BSD-3-Clause
"""Where the front end keeps what it need not make again: below the user's cache directory."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tailrace.console import CommandError

# What commands left behind that were killed is removed when it is so old.
LEFT_BEHIND_S = 7 * 86400


def cache_root() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tailrace" / "fragments"


def cache_folder(name: str) -> Path | None:
    """A directory of the cache, made when it is missing; None where it cannot be made or written."""
    folder = cache_root() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if may_write(folder) else None


def may_write(folder: Path) -> bool:
    """Whether files can be made in a directory."""
    return os.access(folder, os.W_OK | os.X_OK)


def needed_folder(name: str) -> Path:
    """A directory of the cache for what cannot be done without it."""
    folder = cache_folder(name)
    if folder is None:
        raise CommandError(
            f"{cache_root() / name}: the cache for {name} cannot be made or written\n"
            "  Fix: set XDG_CACHE_HOME to a directory of yours"
        )
    return folder


@contextmanager
def passing_folder(name: str) -> Iterator[Path]:
    """A new directory below one of the cache, where all nodes see it, for as long as it is used."""
    above = needed_folder(name)
    for left in above.iterdir():
        with suppress(OSError):  # another command removes it
            if time.time() - left.stat().st_mtime > LEFT_BEHIND_S:
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=above, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
