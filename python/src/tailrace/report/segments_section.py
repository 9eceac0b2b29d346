# SPDX-License-Identifier: BSD-3-Clause
"""The segments of a run that was resumed, and what its checkpoints cost."""

from tailrace.account import read_account
from tailrace.report.load import Run
from tailrace.report.parts import Section, Table
from tailrace.units import bytes_text

_UNTOLD = "\u2013"


def segments_section(run: Run) -> Section:
    """Empty for a run without checkpoints and earlier segments."""
    section = Section("legs", "Checkpoints and segments")
    accounts = [*_earlier(run), run.account]
    if len(accounts) == 1 and not run.account.get("checkpoints"):
        return section
    section.lead = (
        "One computation, in the segments below: each resumed from a checkpoint of the one before."
        if len(accounts) > 1
        else "From each of its checkpoints the run could have been resumed."
    )
    section.pictures.append(
        Table(
            ["segment", "steps", "ranks", "end", "wall time", "checkpoints", "stalled", "bytes"],
            [_row(number, account) for number, account in enumerate(accounts, 1)],
            caption="Stalled: time that the computation stalled for checkpoints, on the slowest rank. "
            "The other sections of this page are about the last segment.",
            numeric=(0, 2, 4, 5, 6, 7),
        )
    )
    return section


def _earlier(run: Run) -> list[dict]:
    """The accounts of earlier segments in their order; empty ones of segments that were killed and left
    none.
    """
    segments = run.directory / "legs"
    numbers = sorted(int(segment.name) for segment in segments.glob("*") if segment.name.isdigit())
    return [read_account(segments / str(number)) or {} for number in numbers]


def _row(number: int, account: dict) -> list[str]:
    if not account:
        return [str(number), *[_UNTOLD] * 2, "killed: it left no account", *[_UNTOLD] * 4]
    stalled_s, wall_s = account.get("checkpoint_s", 0.0), account.get("wall_s", 0.0)
    share = f" ({100 * stalled_s / wall_s:.1f} %)" if wall_s else ""
    return [
        str(number),
        f"{account.get('resumed_from', 0)} to {account.get('steps', _UNTOLD)}",
        str(account.get("ranks", _UNTOLD)),
        " ".join([str(account.get("status", _UNTOLD)), str(account.get("reason") or "")]).strip(),
        f"{wall_s:.2f} s",
        str(account.get("checkpoints", 0)),
        f"{stalled_s:.3f} s{share}",
        bytes_text(account.get("checkpoint_bytes")),
    ]
