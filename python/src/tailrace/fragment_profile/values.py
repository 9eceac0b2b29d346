# SPDX-License-Identifier: BSD-3-Clause
"""Values of a program (data fragments): how many live, for how long, and what it takes to get them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tailrace.fragment_profile.tables import Recorded, rows_of


@dataclass
class Values:
    """Of the part of the run that is recorded in full, except for `live_at_end`, which all ranks counted."""

    written: int
    bytes: int
    peak_count: int
    peak_bytes: int
    live_at_end: int
    live_bytes_at_end: int
    latency_s: np.ndarray  # from the request to the value, of values at other ranks
    answer_s: np.ndarray  # of those requests, from when the value was there, too
    transfers: np.ndarray  # of each value to other ranks
    kept_s: np.ndarray  # at its home after the last use; 0 if the home gave it away for that
    fetched_twice: int  # values that went to one rank more than once
    further_fetches: int  # requests of a rank for a value that it had before

    def as_dict(self) -> dict[str, Any]:
        def quantiles(values: np.ndarray) -> dict[str, float] | None:
            if not len(values):
                return None
            median, p99 = np.quantile(values, [0.5, 0.99])
            return {"median": float(median), "p99": float(p99), "max": float(values.max())}

        return {
            "written": self.written,
            "bytes": self.bytes,
            "peak_count": self.peak_count,
            "peak_bytes": self.peak_bytes,
            "live_at_end": self.live_at_end,
            "live_bytes_at_end": self.live_bytes_at_end,
            "request_latency_s": quantiles(self.latency_s),
            "transfers": int(self.transfers.sum()),
            "max_transfers": int(self.transfers.max(initial=0)),
            "kept_after_last_use_s": quantiles(self.kept_s),
            "fetched_twice": self.fetched_twice,
            "further_fetches": self.further_fetches,
        }


def values_of(recorded: Recorded) -> Values:
    table, arrivals = recorded.values, recorded.arrivals
    _, count, size = live(recorded)
    stored = table[np.isfinite(table["stored_s"])]
    # A home releases a value when it sends it to its last reader, which uses it later.
    kept = np.maximum(stored["released_s"] - stored["last_use_s"], 0.0)[~stored["left"]]
    waited = arrivals["time_s"] - arrivals["asked_s"]
    end_count, end_bytes = _left(recorded)
    fetched_twice, further_fetches = _fetched_twice(recorded)
    return Values(
        written=len(stored),
        bytes=int(stored["bytes"].sum()),
        peak_count=int(count.max(initial=0)),
        peak_bytes=int(size.max(initial=0)),
        live_at_end=end_count,
        live_bytes_at_end=end_bytes,
        latency_s=waited[np.isfinite(waited)],
        answer_s=_answers(recorded),
        transfers=table["transfers"],
        kept_s=kept[np.isfinite(kept)],
        fetched_twice=fetched_twice,
        further_fetches=further_fetches,
    )


def _answers(recorded: Recorded) -> np.ndarray:
    """Seconds from when a value was there and asked for to when it came; of values of known age."""
    table, arrivals = recorded.values, recorded.arrivals
    at = rows_of(table["key"], arrivals["key"])
    stored = np.where(at >= 0, table["stored_s"][at], np.nan) if len(table) else np.full(len(at), np.nan)
    taken = arrivals["time_s"] - np.maximum(arrivals["asked_s"], stored)
    return np.maximum(taken[np.isfinite(taken)], 0.0)


def live(recorded: Recorded) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, and how many values and bytes live from each on."""
    table = recorded.values
    stored = np.isfinite(table["stored_s"])
    released = stored & np.isfinite(table["released_s"])
    times = np.r_[table["stored_s"][stored], table["released_s"][released]]
    count = np.r_[np.ones(stored.sum()), -np.ones(released.sum())]
    size = np.r_[table["bytes"][stored], -table["bytes"][released]].astype(float)
    order = np.lexsort((-count, times))
    return times[order], np.cumsum(count[order]), np.cumsum(size[order])


def peak_if_released(recorded: Recorded) -> int:
    """The most bytes of values at a time if each went with its last use, or at once if there was none."""
    table = recorded.values[np.isfinite(recorded.values["stored_s"])]
    used = np.isfinite(table["last_use_s"])
    last = np.where(used, np.maximum(table["last_use_s"], table["stored_s"]), table["stored_s"])
    times = np.r_[table["stored_s"], last]
    size = np.r_[table["bytes"], -table["bytes"]]
    order = np.lexsort((-size, times))
    return int(np.cumsum(size[order]).max(initial=0))


def _left(recorded: Recorded) -> tuple[int, int]:
    """What programs left behind, as the ranks counted it; of a killed one, what was not released."""
    if recorded.summaries:
        found = recorded.summaries.values()
        return sum(one.left for one in found), sum(one.left_bytes for one in found)
    left = recorded.values[np.isnan(recorded.values["released_s"])]
    return len(left), int(left["bytes"].sum())


def _fetched_twice(recorded: Recorded) -> tuple[int, int]:
    """Values that came to one rank, which is not their home, for two fragments or more by a request each; and
    those requests but for the first ones.
    """
    away = recorded.arrivals[np.isfinite(recorded.arrivals["asked_s"])]
    if not len(away):
        return 0, 0
    order = np.lexsort((away["rank"], away["key"]))
    keys, ranks = away["key"][order], away["rank"][order]
    same = (keys[1:] == keys[:-1]) & (ranks[1:] == ranks[:-1])
    return len(np.unique(keys[1:][same])), int(same.sum())
