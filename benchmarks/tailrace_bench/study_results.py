# SPDX-License-Identifier: BSD-3-Clause
"""What the studies have in common: how each way to write did at a point of an experiment."""

from statistics import mean, stdev
from typing import Any

from tailrace.bench.rehearsal import Account
from tailrace.bench.stats import ratios, spread

COMPUTE = "compute alone"
BLOCKING = "blocking"


def results(runs: dict[str, list[Account]]) -> dict[str, dict[str, Any]]:
    """Each way against `blocking` and against the computation alone, from runs that took turns."""
    times = {way: [account.run_s for account in accounts] for way, accounts in runs.items()}
    return {
        way: {
            "run_s": spread(times[way]).as_dict(),
            "mean_s": mean(times[way]),
            "deviation_s": stdev(times[way]) if len(times[way]) > 1 else None,
            "gain": ratios(times[BLOCKING], times[way]).as_dict(),
            "compute_ratio": ratios(
                [account.compute_s for account in runs[way]],
                [account.compute_s for account in runs[COMPUTE]],
            ).as_dict(),
            "hidden_fraction": spread([account.hidden() for account in runs[way]]).as_dict(),
        }
        for way in runs
    }


def ours(points: list[dict[str, Any]]) -> str:
    """The same experiment here, in one sentence for each point."""
    said = []
    for point in points:
        gains = [
            f"{way} {percent(1 - 1 / found['gain']['median'])}"
            for way, found in point["ways"].items()
            if way not in (COMPUTE, BLOCKING)
        ]
        said.append(f"{point['label']}: {', '.join(gains)}")
    return "Less time than blocking needs: " + "; ".join(said) + "."


def percent(share: float) -> str:
    return f"{100 * share:+.0f} %"
