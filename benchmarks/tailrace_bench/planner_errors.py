# SPDX-License-Identifier: BSD-3-Clause
"""How well the planner predicts: 40 rehearsals that choose their strategy, each prediction as it was made
against what came of it.

    PYTHONPATH=python/src:benchmarks python -m tailrace_bench.planner_errors build/bin/tailrace-rehearse
"""

import json
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from statistics import median

from tailrace.launch import Layout, Machine, child_environment, find_launcher, launch_command
from tailrace.programs import launch_info

SHAPES = [("whole", "96"), ("whole", "501,301,1"), ("z", "128"), ("boxes:16", "75")]
LOADS = [
    (5, ""),
    (20, "latency=2ms,bandwidth=400MB/s"),
    (40, "latency=5ms,bandwidth=150MB/s"),
    (2, "latency=10ms"),
    (60, ""),
]
RANKS = [1, 2]


def errors_of(program: Path, words: list[str], ranks: int) -> list[float]:
    """Observed over predicted time per output, less 1, of each decision of one run."""
    launcher = find_launcher(launch_info(program), None, ranks)
    layout = Layout(ranks, 1, "none", Machine.here())
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = launch_command(launcher, layout, [str(program), "--out", str(run), "--quiet", *words])
        subprocess.run(command, env=child_environment(1), check=True)
        decisions = json.loads((run / "run.json").read_text())["plan"]["decisions"]
    both = [(one.get("predicted_output_s"), one.get("observed_output_s")) for one in decisions]
    return [observed / predicted - 1 for predicted, observed in both if predicted and observed]


def describe(errors: list[float]) -> str:
    sizes = sorted(abs(error) for error in errors)
    nine_tenths = sizes[int(0.9 * len(sizes))]
    numbers = f"median {median(sizes):.1%}, 90 % within {nine_tenths:.1%}, worst {sizes[-1]:.1%}"
    return f"{len(sizes)} predictions: {numbers}"


def main(program: Path) -> None:
    runs = []
    for (select, cells), (compute_ms, pace), ranks in product(SHAPES, LOADS, RANKS):
        words = ["--steps", "80", "--cells", cells, "--select", select, "--compute-ms", str(compute_ms)]
        runs.append(errors_of(program, words + (["--pace", pace] if pace else []), ranks))
        print(
            select,
            cells,
            f"{compute_ms} ms",
            pace,
            f"{ranks} ranks",
            *(f"{error:+.0%}" for error in runs[-1]),
        )
    print("all:", describe([error for run in runs for error in run]))
    print("the last of each run:", describe([run[-1] for run in runs if run]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
