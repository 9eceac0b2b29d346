# SPDX-License-Identifier: BSD-3-Clause
"""The report on what the computation waited for: threads of made-up spans."""

import numpy as np
import pytest

from tailrace.report.lanes import Lane, flatten, totals
from tailrace.report.waits import reasons_of
from tailrace.report.writers import Writer
from tailrace.trace import EVENT, KINDS


def lane_of(*spans, rank=0, thread="main"):
    """A thread that did the spans: (kind, begin, end)."""
    events = np.zeros(len(spans), EVENT)
    events["kind"] = [KINDS.index(kind) for kind, _, _ in spans]
    events["start_s"], events["end_s"] = ([span[i] for span in spans] for i in (1, 2))
    return Lane(rank, "compute", "node", thread, events, *flatten(events))


def test_what_checkpoints_write_is_no_output():
    lane = lane_of(
        ("compute", 0, 10), ("checkpoint", 2, 5), ("pack", 2, 2.5), ("write", 3, 4), ("write", 6, 6.5)
    )
    (reason,) = reasons_of([lane], [], None, (0, 10))
    assert (reason.kind, reason.seconds) == ("blocking", 0.5)
    lane.events["bytes"] = 10
    (rank,) = totals([lane])
    parts = {"compute": 6.5, "checkpoint": 3, "output_wait": 0.5, "pack": 0, "write": 0.5}
    assert {part: rank[f"{part}_s"] for part in parts} == parts
    assert (rank["writes"], rank["write_bytes"]) == (1, 10)


@pytest.mark.parametrize(("ranks", "kind"), [(1, "handing_over"), (2, "others")])
def test_a_single_rank_waits_for_no_others(ranks, kind):
    mains = [lane_of(("compute", 0, 10), ("output_wait", 2, 3), rank=rank) for rank in range(ranks)]
    writes = [lane_of(("write", 3, 4), rank=rank, thread="writer") for rank in range(ranks)]
    writers = [Writer(rank, "compute", "node", [writes[rank]], [rank]) for rank in range(ranks)]
    (reason,) = reasons_of(mains, writers, None, (0, 10))
    assert (reason.kind, reason.seconds) == (kind, ranks)
