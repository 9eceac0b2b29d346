# SPDX-License-Identifier: BSD-3-Clause
"""A native program in miniature for the launcher's tests: options, signals, files and exit statuses.

The case's table [fake] says what happens, such as mode = "kill"; the rank comes from the environment. Started
as a script, by any of the launchers or alone.
"""

import argparse
import json
import os
import signal
import sys
import time
import tomllib
from pathlib import Path

STEPS = 10
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR2)
stop_requested = []


def rank() -> int:
    for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"):
        if name in os.environ:
            return int(os.environ[name])
    return 0


def ranks() -> int:
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"):
        if name in os.environ:
            return int(os.environ[name])
    return 1


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name in ("--case", "--out", "--write", "--sink", "--pace", "--fault", "--wall-limit"):
        parser.add_argument(name)
    parser.add_argument("-t", dest="threads", type=int)
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--set", dest="settings", action="append", default=[])
    for name in ("--overwrite", "--check", "--quiet", "--plan"):
        parser.add_argument(name, action="store_true")
    return parser.parse_args()


def check(fake: dict, arguments: argparse.Namespace) -> None:
    if fake.get("problem"):
        sys.stderr.write(f"tailrace-fake: {arguments.case}: 1 problem\n  {fake['problem']}\n")
        sys.exit(2)


def write_json(path: Path, content: dict) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content))
    partial.replace(path)


def account(run_dir: Path, status: str, step: int, arguments: argparse.Namespace) -> None:
    content = {"format": "tailrace-run", "format_version": 1, "status": status, "steps": step}
    content |= {"steps_planned": STEPS, "ranks": ranks(), "threads": arguments.threads, "wall_s": 1.5}
    content |= {"arguments": vars(arguments), "compute_s": 1.0, "output_bytes": 1000, "hidden_fraction": 0.9}
    each = {"compute_s": 1.0, "output_wait_s": 0.005, "pack_s": 0.01, "setup_s": 0.3}
    content |= {"per_rank": [each] * ranks(), "strategy": "threads:2"}
    if arguments.plan:
        content |= {"plan": plan(arguments.plan_mode), "setup_s": 0.5, "reason": "the output is planned"}
    if status == "failed":
        content["reason"] = "as the case asks"
    if rank() == 0:
        write_json(run_dir / "run.json", content)


def progress(run_dir: Path, step: int) -> None:
    if rank() == 0:
        write_json(
            run_dir / "progress.json", {"phase": "running", "step": step, "steps": STEPS, "remaining_s": 1.0}
        )


def write_commit_mark(run_dir: Path, slots: list[int]) -> None:
    import h5py
    import numpy as np

    with h5py.File(run_dir / "output.h5", "w") as file:
        file["tailrace_record"] = np.array(slots, dtype="uint64").reshape(1, 1, -1)


def die_after_recording(run_dir: Path) -> None:
    """Rank 0 writes a file with a commit mark; then the last rank is killed and the others wait for their
    end.
    """
    marker = run_dir / "recorded"
    if rank() == 0:
        write_commit_mark(run_dir, [4, 3])
        marker.touch()
    while not marker.exists():
        time.sleep(0.02)
    if rank() == ranks() - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(30)


def loop(fake: dict, run_dir: Path, arguments: argparse.Namespace) -> int:
    mode = fake.get("mode", "finish")
    for step in range(1, STEPS + 1):
        if step == 1 or not fake.get("old_progress"):
            progress(run_dir, step)
        if mode == "kill" and step == 4:
            die_after_recording(run_dir)
        deadline = time.monotonic() + (30 if mode in ("wait", "stubborn") and step == 5 else 0.02)
        while time.monotonic() < deadline:
            time.sleep(0.02)
            if stop_requested and mode != "stubborn":
                account(run_dir, "stopped", step, arguments)
                return 4
    if mode == "exit":
        account(run_dir, "failed", 5, arguments)
        return fake["status"]
    if mode != "silent":
        account(run_dir, "finished", STEPS, arguments)
    return 0


def plan(mode: str) -> dict:
    """What a planner says: of eight outputs; of too few; with a sink that leaves no choice."""
    reason = "the sink moves data between ranks" if mode == "plan one sink" else "until measured"
    said: dict = {"mode": "auto", "decisions": [{"step": 1, "strategy": "threads:2", "reason": reason}]}
    if mode != "plan":
        return said
    times = {"per_output_s": 1.0, "compute_s": 0.82, "write_s": 0.36, "extra_processes": 0}
    measured = {"bytes_per_output": 16 << 20, "compute_s": 0.82, "beyond_page_cache": False, "flush_s": 1.0}
    return said | {
        "reasons": ["7.34 s for 8 outputs instead of 9.45 s with blocking", "2 buffers"],
        "measured": measured | {"gather_s": 0.0, "open_s": 0.0, "write_s": 0.35, "agree_s": 0.01},
        "predictions": [
            times
            | {"strategy": "blocking", "run_s": 9.45, "possible": True, "reason": "one after the other"},
            times | {"strategy": "threads:2", "run_s": 7.34, "possible": True, "reason": "hides: all of it"},
            times
            | {
                "strategy": "ranks:1",
                "run_s": 15.0,
                "possible": False,
                "extra_processes": 1,
                "reason": "the job has no dedicated ranks",
            },
        ],
    }


def wait_for_listening_ranks(run_dir: Path) -> None:
    """As in a simulation, no progress is reported before every rank listens to signals: one would kill a rank
    that does not, and its launcher the others.
    """
    (run_dir / f"listening-{rank()}").touch()
    while any(not (run_dir / f"listening-{other}").exists() for other in range(ranks())):
        time.sleep(0.01)


def mark_checkpoint(run_dir: Path) -> None:
    (run_dir / f"checkpoint-{rank()}").touch()


def main() -> int:
    arguments = parse()
    run_dir = Path(arguments.out)
    signal.signal(signal.SIGUSR1, lambda *_: mark_checkpoint(run_dir))
    for number in STOP_SIGNALS:
        signal.signal(number, lambda received, _: stop_requested.append(received))
    with Path(arguments.case).open("rb") as file:
        fake = tomllib.load(file).get("fake", {})
    check(fake, arguments)
    if arguments.check:
        return 0
    if fake.get("mode") == "no directory":
        os.kill(os.getpid(), signal.SIGKILL)
    arguments.plan_mode = fake.get("mode", "")
    run_dir.mkdir(parents=True, exist_ok=True)
    wait_for_listening_ranks(run_dir)
    return loop(fake, run_dir, arguments)


if __name__ == "__main__":
    ended = main()
    # When the command is killed, Linux signals its launcher once for each of its threads. The second signal
    # would kill an interpreter that ends, and Hydra then the ranks that still write.
    for stop in STOP_SIGNALS:
        signal.signal(stop, signal.SIG_IGN)
    sys.exit(ended)
