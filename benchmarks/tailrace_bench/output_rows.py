# SPDX-License-Identifier: BSD-3-Clause
"""The rows of `tailrace bench output`: which loads are measured."""

from dataclasses import dataclass
from fnmatch import fnmatch

from tailrace.console import CommandError

SHARES = (1, 20, 50, 80, 150)
OWNERS = {"even": "slabs", "uneven": "uneven", "one": "one-owner"}
STORAGES = {
    "paced": "every write sleeps until a device of the speed wanted would be done; files in memory",
    "flushed": "real files, each sample on the device before the next; the computation is fitted to it",
    "throttled": "the same, and the block layer limits the device to the speed wanted",
}


@dataclass(frozen=True)
class Row:
    """A load: where samples go, writing in percent of computing, datasets, and who owns the points."""

    storage: str
    share: int
    datasets: int
    owner: str

    @property
    def name(self) -> str:
        return f"{self.storage}/{self.share}/{self.datasets}/{self.owner}"

    @property
    def selection(self) -> str:
        return "whole" if self.datasets == 1 else f"boxes:{self.datasets}"


def product(storage: str, shares: tuple[int, ...], loads: tuple[tuple[int, str], ...]) -> list[Row]:
    return [Row(storage, share, datasets, owner) for datasets, owner in loads for share in shares]


# Not the whole product of 162: ownership matters most with many datasets, and every kind of storage is seen
# with one dataset, with many, and with many on one rank. A device that is not slowed down would need minutes
# of computing for 1 %. The row of 100 % is the one that can be twice as fast as blocking.
ROWS = [
    *product(
        "paced", SHARES, ((1, "even"), (32, "even"), (256, "even"), (256, "uneven"), (256, "one"), (1, "one"))
    ),
    Row("paced", 100, 1, "even"),
    Row("paced", 50, 1, "uneven"),
    Row("paced", 50, 32, "uneven"),
    Row("paced", 50, 32, "one"),
    *product("flushed", SHARES[1:], ((1, "even"), (256, "even"), (256, "one"))),
    *product("throttled", SHARES, ((1, "even"), (256, "even"), (256, "one"))),
]
QUICK = (
    "paced/50/1/even",
    "paced/100/1/even",
    "paced/150/256/one",
    "flushed/50/256/even",
    "throttled/50/1/even",
)


def select_rows(patterns: tuple[str, ...], quick: bool) -> list[Row]:
    """The rows whose names match any of the patterns; all without patterns, a few if quick."""
    wanted = patterns or (QUICK if quick else ("*",))
    for pattern in wanted:
        if not any(fnmatch(row.name, pattern) for row in ROWS):
            raise CommandError(
                f"--rows {pattern}: there is no such row. Rows are STORAGE/SHARE/DATASETS/OWNER, such as "
                "paced/50/256/one or 'paced/*'; --list-rows names them."
            )
    return [row for row in ROWS if any(fnmatch(row.name, pattern) for pattern in wanted)]


def runnable(row: Row, ranks: int, throttled: bool) -> bool:
    """Whether a row says something here: who owns what needs two ranks, a throttle must be there."""
    return (ranks > 1 or row.owner == "even") and (throttled or row.storage != "throttled")
