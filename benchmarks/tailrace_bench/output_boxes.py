# SPDX-License-Identifier: BSD-3-Clause
"""256 boxes against one box of the same points."""

from pathlib import Path
from typing import Any

from tailrace.bench.document import say
from tailrace.bench.rehearsal import MIB, Account, Rehearsal, cube
from tailrace.bench.stats import ratios, spread
from tailrace.strategies import dedicated_ranks
from tailrace_bench.warm import remove_outputs, warm_page_cache

MANY = 256
LAYOUTS = {"one": "whole", "many": f"boxes:{MANY}"}
# What a sample costs, from sums over the accounts of its run; `output` is all that the writing does.
COSTS = {
    "write": ("write_s",),
    "cpu": ("write_cpu_s",),
    "pack": ("pack_s",),
    "output": ("write_s", "pack_s"),
}


def measure_boxes(
    rehearsal: Rehearsal, disk: Path, strategies: tuple[str, ...], sizes_mib: tuple[int, ...], pairs: int
) -> list[dict[str, Any]]:
    """One computing rank; in the page cache, and flushed after every sample."""
    return [
        compare_boxes(rehearsal, strategy, sample_mib, flush, disk / "output.h5", pairs)
        for strategy in strategies
        for sample_mib in sizes_mib
        for flush in ("none", "sample")
    ]


def compare_boxes(
    rehearsal: Rehearsal, strategy: str, sample_mib: int, flush: str, file: Path, pairs: int
) -> dict[str, Any]:
    """Time and CPU time of the writing per sample; samples are written while nothing else happens."""
    outputs = max(8, min(50, 400 // sample_mib))
    base = [*cube(sample_mib, outputs), "--compute", "none", "-o", str(file)]
    base += ["--write", strategy, "--flush", flush]
    runs: dict[str, list[Account]] = {name: [] for name in LAYOUTS}
    for repetition in range(pairs + 1):
        say(f"boxes, {strategy}, {sample_mib} MiB, flush {flush}: repetition {repetition} of {pairs}")
        for name, selection in LAYOUTS.items():
            warm_page_cache(file.parent, outputs, sample_mib)
            account = rehearsal.run([*base, "--select", selection], 1 + dedicated_ranks(strategy))
            if repetition > 0:
                runs[name].append(account)
            remove_outputs(file.parent)
    head = {"strategy": strategy, "sample_bytes": sample_mib * MIB, "outputs": outputs, "flush": flush}
    return head | boxes_result(outputs, runs)


def boxes_result(outputs: int, runs: dict[str, list[Account]]) -> dict[str, Any]:
    def per_sample(name: str, counters: tuple[str, ...]) -> list[float]:
        return [sum(account.total(counter) for counter in counters) / outputs for account in runs[name]]

    result: dict[str, Any] = {"boxes": MANY}
    for key, counters in COSTS.items():
        one, many = per_sample("one", counters), per_sample("many", counters)
        result[f"{key}_s"] = {"one": spread(one).as_dict(), "many": spread(many).as_dict()}
        result[f"{key}_ratio"] = ratios(many, one).as_dict()
    run_s = {name: [account.run_s for account in accounts] for name, accounts in runs.items()}
    result["run_ratio"] = ratios(run_s["many"], run_s["one"]).as_dict()
    result["writes"] = {name: runs[name][0].total("writes") for name in runs}
    setup_s = {name: [account.setup_s for account in accounts] for name, accounts in runs.items()}
    result["setup_s"] = {name: spread(seconds).as_dict() for name, seconds in setup_s.items()}
    return result | {"accounts": {name: [a.as_dict() for a in accounts] for name, accounts in runs.items()}}
