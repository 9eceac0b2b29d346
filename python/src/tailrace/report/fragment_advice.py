# SPDX-License-Identifier: BSD-3-Clause
"""Advice on fragments, as the rules of their profile have it."""

from tailrace.fragment_profile.rules import findings
from tailrace.report.load import Run
from tailrace.report.parts import Advice


def fragment_advice(run: Run) -> list[Advice]:
    """Nothing for a run without fragments."""
    if run.fragments is None:
        return []
    return [Advice("hint", f"{one.text} (`{one.rule}`)", one.evidence()) for one in findings(run.fragments)]
