# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace plan`: runs the first outputs of a case, and says what they say about each way of writing."""

import json
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

from tailrace.account import how_it_ended, read_account
from tailrace.casefile import make_input
from tailrace.console import (
    EXIT_BAD_INPUT,
    EXIT_NO,
    EXIT_OK,
    EXIT_RUN_FAILED,
    EXIT_STOPPED,
    CommandError,
    count_of,
)
from tailrace.disk import SAMPLE_BYTES, measure_write
from tailrace.job import Job, JobResult
from tailrace.launch import launch_command
from tailrace.progress import make_progress
from tailrace.run import Plan, RunRequest, check_case, make_plan
from tailrace.run_files import Prediction, RunAccount
from tailrace.units import bytes_text, duration_text, wide_console

WORTH_CHOOSING = 0.02  # of the run time; runs differ by more from one day to the next


class Rates(TypedDict, total=False):
    """Bytes per second; none where nothing was measured."""

    write_buffered_bytes_s: float
    write_flushed_bytes_s: float
    copy_bytes_s: float


class TotalPrediction(Prediction):
    """A prediction with the set-up."""

    total_s: float


class Description(TypedDict):
    """A plan as --json has it."""

    case: str
    simulation: str
    ranks: int
    threads: int
    choice: str
    reasons: list[str]
    setup_s: float
    predictions: list[TotalPrediction]
    """The possible ones first, the fastest first."""
    measured: dict[str, Any]
    rates: Rates
    measured_steps: int | None
    warnings: list[str]


def plan_case(request: RunRequest, directory: Path | None) -> int:
    """The whole command; returns the exit status."""
    target = target_directory(directory)
    with tempfile.TemporaryDirectory(dir=target, prefix=".tailrace-plan-") as scratch:
        job = make_plan(replace(request, out=Path(scratch) / "run"))
        make_input(job.case)
        status = check_case(job)
        if status != EXIT_OK:
            return status
        account = measure(job)
        rates = measure_rates(Path(scratch))
    if "plan" not in account or not account["plan"].get("predictions"):
        return report_nothing(request, account)
    found = describe(request, job, account, rates)
    if request.json:
        print(json.dumps(found, indent=2))
    else:
        print_plan(found)
    return EXIT_OK


def target_directory(directory: Path | None) -> Path:
    """Where runs will be written: as named, `runs` if it is there, else the current directory."""
    if directory is None:
        return Path("runs") if Path("runs").is_dir() else Path()
    if not directory.is_dir():
        raise CommandError(f"--dir {directory}: there is no such directory.")
    return directory


def measure(job: Plan) -> RunAccount:
    """Runs the case until its output is planned; returns the account of that run."""
    command = launch_command(job.launcher, job.layout, [*job.program, "--plan", "--quiet"])
    with make_progress() as progress:
        result = Job(command, job.environment(), job.launcher, job.run_dir, progress).run()
    account = read_account(job.run_dir)
    if account is None:
        raise CommandError(f"{how_it_ended(result.returncode, result.messages)[0]}.", failed_status(result))
    if account.get("status") == "failed":
        raise CommandError(f"the run for measuring failed: {account.get('reason')}.", EXIT_RUN_FAILED)
    if account.get("status") == "stopped" and not account.get("plan", {}).get("predictions"):
        raise CommandError(f"stopped before enough was measured: {account.get('reason')}.", EXIT_STOPPED)
    return account


def failed_status(result: JobResult) -> int:
    return EXIT_BAD_INPUT if result.returncode == EXIT_BAD_INPUT else EXIT_RUN_FAILED


def measure_rates(directory: Path) -> Rates:
    """Bytes per second of the target's file system and of copying in memory; empty where nothing fits."""
    if shutil.disk_usage(directory).free < 4 * SAMPLE_BYTES:
        return {}
    buffered, synced = measure_write(directory)
    return {
        "write_buffered_bytes_s": buffered,
        "write_flushed_bytes_s": synced,
        "copy_bytes_s": measure_copy(),
    }


def measure_copy() -> float:
    source, target = bytes(SAMPLE_BYTES), bytearray(SAMPLE_BYTES)  # zeroed, so every page has been touched
    target[:] = source
    started = time.perf_counter()
    target[:] = source
    return SAMPLE_BYTES / (time.perf_counter() - started)


def report_nothing(request: RunRequest, account: RunAccount) -> int:
    """Says why there is nothing to choose."""
    decisions = account.get("plan", {}).get("decisions", [])
    kept = decisions[-1] if decisions else {"strategy": account.get("strategy"), "reason": ""}
    if kept["reason"].startswith("the sink"):
        why = kept["reason"]
    else:
        why = "too few outputs to measure: the first is left out, three are needed"
    message = f"{request.case}: {why}. auto stays with {kept['strategy']}."
    if request.json:
        print(json.dumps({"case": str(request.case), "choice": kept["strategy"], "reasons": [why]}, indent=2))
    else:
        print(message)
    return EXIT_NO


def describe(request: RunRequest, job: Plan, account: RunAccount, rates: Rates) -> Description:
    """Everything as it goes to --json."""
    plan = account["plan"]
    setup_s = account.get("setup_s", 0.0)
    predictions = [entry | {"total_s": setup_s + entry["run_s"]} for entry in plan["predictions"]]
    return {
        "case": str(request.case),
        "simulation": job.case.simulation,
        "ranks": job.layout.ranks,
        "threads": job.layout.threads,
        "choice": plan["decisions"][-1]["strategy"],
        "reasons": plan["reasons"],
        "setup_s": setup_s,
        "predictions": sorted(predictions, key=lambda entry: (not entry["possible"], entry["total_s"])),
        "measured": plan["measured"],
        "rates": rates,
        "measured_steps": account.get("steps"),
        "warnings": account.get("warnings", []),
    }


def print_plan(found: Description) -> None:
    from rich.table import Table

    console = wide_console()
    measured = found["measured"]
    layout = f"{count_of(found['ranks'], 'rank')} x {count_of(found['threads'], 'thread')}"
    print(f"{found['case']} on {layout}, measured over {found['measured_steps']} steps")
    print(
        f"  an output: {bytes_text(measured['bytes_per_output'])}, "
        f"computing {duration_text(measured['compute_s'])}, writing {duration_text(write_s(measured))}"
    )
    if found["rates"]:
        print(f"  {rates_text(found['rates'])}")
    table = Table()
    names = ("", "--write", "run time", "per output", "computing", "writing", "more processes", "remarks")
    for name in names:
        table.add_column(name, justify="left" if name in ("", "--write", "remarks") else "right")
    for entry in found["predictions"]:
        keys = ("total_s", "per_output_s", "compute_s", "write_s")
        times = [duration_text(entry[key]) if entry["possible"] else "" for key in keys]
        remark = entry["reason"] if not entry["possible"] else entry["reason"].split(":")[0]
        chosen = entry["strategy"] == found["choice"]
        table.add_row(
            "*" if chosen else "",
            entry["strategy"],
            *times,
            str(entry["extra_processes"] or ""),
            remark,
            style=None if entry["possible"] else "dim",
        )
    console.print(table)
    print(conclusion(found))
    for reason in found["reasons"][1:]:
        print(f"  {reason}")
    for warning in found["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)


def conclusion(found: Description) -> str:
    """What auto takes and why; whether the choice matters at all."""
    possible = [entry["total_s"] for entry in found["predictions"] if entry["possible"]]
    if len(possible) > 1 and max(possible) - min(possible) < WORTH_CHOOSING * min(possible):
        return (
            f"auto takes {found['choice']}, but there is no difference worth choosing: all ways of writing "
            f"are within {100 * WORTH_CHOOSING:.0f} % of each other"
        )
    return f"auto takes {found['choice']}: {found['reasons'][0]}"


def write_s(measured: dict[str, Any]) -> float:
    parts = ["gather_s", "open_s", "write_s", "agree_s"]
    if measured["beyond_page_cache"]:
        parts.append("flush_s")
    return sum(measured[part] for part in parts)


def rates_text(rates: Rates) -> str:
    return (
        f"file system: {bytes_text(rates['write_buffered_bytes_s'])}/s, "
        f"{bytes_text(rates['write_flushed_bytes_s'])}/s onto the device; "
        f"copying in memory {bytes_text(rates['copy_bytes_s'])}/s"
    )
