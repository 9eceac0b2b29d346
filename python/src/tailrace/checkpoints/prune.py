# SPDX-License-Identifier: BSD-3-Clause
"""Removes checkpoints that newer ones have made superfluous, and what unfinished writes have left."""

import shutil
from dataclasses import dataclass

from tailrace.checkpoints.listing import PARTIAL, Checkpoint


@dataclass(frozen=True)
class Pruning:
    """What goes, in this order, and what stays."""

    removed: list[Checkpoint]
    kept: list[Checkpoint]


def plan_pruning(found: list[Checkpoint], keep: int) -> Pruning:
    """Keeps the newest `keep` that a run could resume from, and everything newer. One that is damaged does
    not count as one of these; one that this program does not know stays.
    """
    usable = sorted(each.step for each in found if each.usable)
    oldest_kept = usable[-keep] if len(usable) >= keep else None

    def goes(each: Checkpoint) -> bool:
        known = each.usable or each.damaged
        return each.partial or (known and oldest_kept is not None and each.step < oldest_kept)

    # What is partial first: an older checkpoint takes such a name before it goes.
    removed = sorted(filter(goes, found), key=lambda each: (not each.partial, each.step))
    return Pruning(removed, [each for each in found if not goes(each)])


def remove(checkpoint: Checkpoint) -> None:
    """Removes a checkpoint so that at no moment a part of it looks like a complete one."""
    path = checkpoint.path
    if path.is_symlink():
        path.unlink()
        return
    if not checkpoint.partial:
        path = path.rename(path.with_name(path.name + PARTIAL))
    shutil.rmtree(path)
