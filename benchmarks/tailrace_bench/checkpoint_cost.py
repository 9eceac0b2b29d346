# SPDX-License-Identifier: BSD-3-Clause
"""What a run loses to checkpoints: the same computation with them and without, one after the other."""

import json
from pathlib import Path
from typing import Any

from tailrace.bench.document import say
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread
from tailrace_bench.warm import MIB

VALUE_BYTES = 8
FIELD_MIB = 16
# A computation with checkpoints: steps, of which one in so many has one. The last is waited for at the end.
STEPS, BETWEEN, STEP_MS = 400, 50, 20.0


def measure_cost(runner: Runner, directory: Path, ranks: int, pairs: int) -> dict[str, Any]:
    """A run with a checkpoint every 50 steps against the same without, and what it says itself."""
    cells = round((FIELD_MIB * MIB / VALUE_BYTES) ** (1 / 3))
    ratio: dict[str, list[float]] = {"with": [], "without": []}
    reported: list[float] = []
    units = ""
    for repetition in range(pairs + 1):
        say(f"cost for a run, {ranks} ranks: repetition {repetition} of {pairs}")
        for kind, every in (("with", BETWEEN), ("without", 10 * STEPS)):
            words = ["--compute-units", units] if units else ["--compute-ms", str(STEP_MS)]
            account = rehearse(
                runner, directory, cells, ranks, [*words, "--set", f"checkpoint.every={every}"]
            )
            units = str(account["config"]["rehearse"]["compute_units"])
            run_s = account["wall_s"] - account["setup_s"]
            if repetition > 0:
                ratio[kind].append(run_s)
                if kind == "with":
                    reported.append(account["checkpoint_s"] / run_s)
    return {
        "ranks": ranks,
        "bytes": VALUE_BYTES * cells**3,
        "steps": STEPS,
        "between": BETWEEN,
        "with_over_without": ratios(ratio["with"], ratio["without"]).as_dict(),
        "held_up_share": spread(reported).as_dict(),
    }


def rehearse(runner: Runner, directory: Path, cells: int, ranks: int, words: list[str]) -> dict[str, Any]:
    """A rehearsal without outputs; returns its account."""
    run_dir = directory / "run"
    common = ["--cells", str(cells), "--select", "none", "--out", str(run_dir), "--trace", "off", "--quiet"]
    common += ["--overwrite", "--write", "threads", "--steps", str(STEPS)]
    runner.run(on_ranks(native_program("tailrace-rehearse"), ranks, 1, [*common, *words]))
    return json.loads((run_dir / "run.json").read_text())
