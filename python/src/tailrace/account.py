# SPDX-License-Identifier: BSD-3-Clause
"""run.json: reading it, writing it for a run that was killed before it could, and its short summary."""

import json
import re
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tailrace import __version__
from tailrace.console import count_of
from tailrace.run_files import ACCOUNT, PROGRESS, Failure, RunAccount, read_table
from tailrace.time_parts import parts_s, visible_fraction
from tailrace.units import bytes_text, duration_text

OUTPUT_NAME = "output.h5"
SMALL_SHARE = 0.01  # of the run time: writing that takes less is not worth a choice


def read_account(run_dir: Path) -> RunAccount | None:
    """run.json, or None where there is none or it holds nothing."""
    return read_table(run_dir / "run.json", ACCOUNT).table or None


def recorded_steps(output: Path) -> int | None:
    """Steps whose samples are all in the file; None when the file cannot be read or does not say."""
    from tailrace import commit_mark, kwave  # they bring h5py, which only killed runs need

    try:
        return commit_mark.recorded_steps(output)
    except kwave.FileError:
        return None


def steps_known(run_dir: Path) -> int | None:
    """Steps that a run without an account is known to have done. progress.json is replaced now and then only,
    so that the output file may know of more.
    """
    found = [read_table(run_dir / "progress.json", PROGRESS).table.get("step")]
    if (run_dir / OUTPUT_NAME).is_file():
        found.append(recorded_steps(run_dir / OUTPUT_NAME))
    return max((steps for steps in found if steps is not None), default=None)


def how_it_ended(returncode: int, messages: list[str]) -> tuple[str, int | None]:
    """Reason and rank, from the launcher's status and its words."""
    for line in messages:
        if match := re.search(r"process rank (\d+) with PID .* exited on signal (\d+)", line):
            return f"rank {match[1]} was killed by {signal_name(int(match[2]))}", int(match[1])
    if returncode < 0:
        return f"the job was killed by {signal_name(-returncode)}", None
    for line in messages:
        if match := re.search(r"EXIT STRING: .*\(signal (\d+)\)", line):
            return f"a rank was killed by {signal_name(int(match[1]))}", None
    if 128 < returncode < 128 + signal.NSIG:
        return f"a rank was killed by {signal_name(returncode - 128)}", None
    gave_reason = any(line.startswith("tailrace-") and ": warning: " not in line for line in messages)
    missing = "" if gave_reason else " and without an account"
    return f"the program ended with status {returncode}{missing}", None


def was_killed(returncode: int, messages: list[str]) -> bool:
    """Whether a signal ended the launcher or a rank."""
    if returncode < 0 or 128 < returncode < 128 + signal.NSIG:
        return True
    return any(re.search(r"EXIT STRING: .*\(signal \d+\)", line) for line in messages)


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def write_failed_account(
    run_dir: Path, known: RunAccount, started: float, reason: str, rank: int | None
) -> RunAccount:
    """Writes run.json with status failed and what can still be known, and returns it; `known`: fields of the
    request. If it cannot be written, that is reported on standard error.
    """
    ended = datetime.now(UTC)
    progress = read_table(run_dir / "progress.json", PROGRESS).table
    error: Failure = {"kind": "killed", "message": reason}
    if rank is not None:
        error["rank"] = rank
    account: RunAccount = {
        "format": "tailrace-run",
        "format_version": 1,
        "status": "failed",
        "reason": reason,
        "error": error,
        "version": __version__,
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "ended": ended.isoformat(timespec="seconds"),
        "wall_s": round(ended.timestamp() - started, 3),
        "steps": steps_known(run_dir) or 0,
        "steps_planned": progress.get("steps"),
        **known,
    }
    output = run_dir / OUTPUT_NAME
    if output.is_file():
        account["steps_recorded"] = recorded_steps(output)
        account["output_bytes"] = output.stat().st_size
    write_account(run_dir, account)
    return account


def add_to_account(run_dir: Path, account: RunAccount, name: str, value: Any) -> RunAccount:
    """The account with one more entry, also in run.json."""
    account = account | {name: value}
    write_account(run_dir, account)
    return account


def write_account(run_dir: Path, account: RunAccount) -> None:
    """Writes run.json; if it cannot be written, that is reported on standard error."""
    partial = run_dir / ".run.json.partial"
    try:
        partial.write_text(json.dumps(account, indent=2) + "\n")
        partial.replace(run_dir / "run.json")
    except OSError as failure:  # such as the full disk that ended the run
        print(f"tailrace: {run_dir / 'run.json'}: cannot be written: {failure.strerror}", file=sys.stderr)


def summary(run_dir: Path, account: RunAccount) -> list[str]:
    """The run in a few lines."""
    lines = [headline(account)]
    if split := time_line(account):
        lines.append("  " + split)
    if output := output_line(account):
        lines.append("  " + output)
    if (run_dir / OUTPUT_NAME).is_file():
        lines.append(f"  file: {run_dir / OUTPUT_NAME}")
    if account.get("steps_recorded") is not None:
        lines.append(f"  recorded: the file holds all samples up to step {account['steps_recorded']}")
    return lines


def time_line(account: RunAccount) -> str:
    """The parts of the run time, which add up to it; of several ranks the means."""
    wall_s = account.get("wall_s")
    if not wall_s or not account.get("per_rank"):
        return ""
    parts = parts_s(account["per_rank"], wall_s)
    texts = [f"{name} {duration_text(seconds)}" for name, seconds in parts.items() if seconds]
    mean = "on average over the ranks: " if len(account["per_rank"]) > 1 else ""
    return mean + ", ".join(texts)


def headline(account: RunAccount) -> str:
    parts = [f"{account.get('status', 'unknown')}:"]
    if account.get("steps_planned"):
        parts.append(f"{account.get('steps', 0)} of {account['steps_planned']} steps")
    if "wall_s" in account:
        parts.append(f"{since_resumption(account)}in {duration_text(account['wall_s'])}")
    if "ranks" in account:
        parts.append(
            f"on {count_of(account['ranks'], 'rank')} x {count_of(account.get('threads', 1), 'thread')}"
        )
    text = " ".join(parts)
    reason = account.get("reason")
    return f"{text} ({reason})" if reason and account.get("status") != "finished" else text


def segment_steps(account: RunAccount) -> int:
    """Steps of the segment that the account is of, in whose time they were done."""
    return max(0, (account.get("steps") or 0) - (account.get("resumed_from") or 0))


def since_resumption(account: RunAccount) -> str:
    if not account.get("resumed_from"):
        return ""
    return f"({count_of(segment_steps(account), 'step')} since step {account['resumed_from']}) "


def output_line(account: RunAccount) -> str:
    """How much was written, what the computation noticed of it, and who wrote."""
    size = account.get("output_bytes")
    if not size:
        return ""
    text = f"output: {bytes_text(size)}"
    if account.get("wall_s") and account.get("per_rank"):
        visible = visible_fraction(account["per_rank"], account["wall_s"])
        text += f", {100 * visible:.1f} % of run time visible"
    if strategy := strategy_text(account):
        text += f"; strategy: {strategy}"
    return text


def strategy_text(account: RunAccount) -> str:
    """The strategy in force at the end; where `auto` chose it, with the reason in a few words."""
    plan = account.get("plan") or {}
    decisions = plan.get("decisions") or []
    if plan.get("mode") != "auto" or not decisions:
        return account.get("strategy", "")
    return f"{decisions[-1]['strategy']} (chosen automatically: {why_chosen(account)})"


def why_chosen(account: RunAccount) -> str:
    if account.get("output_write_s", 0.0) < SMALL_SHARE * account.get("wall_s", 0.0):
        return "output is small"
    if not account["plan"].get("reasons"):
        return "too few outputs to measure"
    return "the fastest by prediction"
