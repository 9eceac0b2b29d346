# SPDX-License-Identifier: BSD-3-Clause
"""Advice on a moving source of heat: what adapting the mesh costs, who owns its points."""

from collections.abc import Iterator
from typing import Any

from tailrace.report.load import Run
from tailrace.report.parts import Advice

_MUCH = 0.05  # of the computing
_PARTS = {
    "tree_s": "the tree",
    "transfer_s": "the transfer of the field",
    "numbering_s": "numbering mortar points",
    "map_s": "the map of the exchanges",
    "fields_s": "memory",
    "diagonal_s": "the diagonal",
}
_BY_NUMBER = ("block", "cyclic", "double-block", "reversed-double-block")


def heat_advice(run: Run) -> list[Advice]:
    """What is to be said of a run of the simulation heat."""
    results = run.account.get("results")
    if not isinstance(results, dict) or not isinstance(results.get("phases"), dict):
        return []
    config = run.account.get("config") or {}
    if "heat" not in config:
        return []
    return [*_adaptation(results["phases"]), *_owners(config["heat"], run)]


def _adaptation(phases: dict[str, Any]) -> Iterator[Advice]:
    whole = sum(phases.get(key, 0) for key in ("convection_s", "diffusion_s", "adaptation_s"))
    share = phases.get("adaptation_s", 0) / whole if whole else 0
    if share < _MUCH:
        return
    part = max(_PARTS, key=lambda key: phases.get(key, 0))
    text = (
        "Adapting the mesh is a large part of the computing; fewer ranks share it out with less of it each."
    )
    evidence = f"{100 * share:.1f} %, most of it {_PARTS[part]} ({phases.get(part, 0):.3f} s on rank 0)"
    yield Advice("hint", text, evidence)


def _owners(heat: dict[str, Any], run: Run) -> Iterator[Advice]:
    rule = heat.get("distribution")
    if rule not in _BY_NUMBER or run.account.get("ranks", 1) < 2:
        return
    text = (
        'heat.distribution = "touching" or "balanced" moves less: ranks own only points that their elements '
        "touch. The results are the same bits."
    )
    yield Advice("hint", text, f'"{rule}" goes by the numbers of the points alone')
