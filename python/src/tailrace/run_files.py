# SPDX-License-Identifier: BSD-3-Clause
"""The JSON files of a run directory. Entries that are not what they must be are left out, and named."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

TEXT, NUMBER, COUNT, TABLE = "text", "number", "count", "table"
WORD_OR_TABLE = "word or table"  # older accounts of killed runs have --write as a word
TIMES_AND_SIZES = ("_s", "_bytes")  # names of entries that end so are of numbers

OUTPUT = {
    "name": TEXT, "quantity": TEXT, "unit": TEXT, "reduce": TEXT, "file": TEXT, "paths": [TEXT],
    "first_step": COUNT, "every": COUNT, "samples": COUNT,
}  # fmt: skip
RANK = {"rank": COUNT, "host": TEXT, "cells": NUMBER, "writes": COUNT, "waits": COUNT, "writer": COUNT}
DECISION = {"step": COUNT, "strategy": TEXT, "reason": TEXT}
MAP_OF_RANK = {
    "rank": COUNT, "flights": COUNT, "messages": COUNT, "reads_from": COUNT, "read_by": COUNT, "owned": COUNT,
    "landing": COUNT, "builds": COUNT, "note": TEXT, "sent": [[COUNT]],
}  # fmt: skip
CHOICE = {
    "flights": TEXT, "entry_bytes": COUNT, "chosen": TEXT, "left": [TEXT],
    "tried": [{"name": TEXT, "obstacle": TEXT}],
}  # fmt: skip
ACCOUNT = {
    "status": TEXT, "reason": TEXT, "title": TEXT, "simulation": TEXT, "program": TEXT, "version": TEXT,
    "started": TEXT, "ended": TEXT, "case_file": TEXT, "input_file": TEXT, "strategy": TEXT, "sink": TEXT,
    "error": {"kind": TEXT, "message": TEXT},
    "config": {
        "case": {"title": TEXT, "simulation": TEXT, "file": TEXT}, "input": {"file": TEXT}, "source": TABLE,
        "time": TABLE, "write": WORD_OR_TABLE, "domain": TABLE, "output": [TABLE], "checkpoint": TABLE,
        "program": {"file": TEXT, "sha256": TEXT, "arguments": [TEXT], "defines": [TEXT]},
    },
    "exit_status": COUNT, "problems": [{"file": TEXT, "line": COUNT, "column": COUNT, "severity": TEXT,
    "code": TEXT, "text": TEXT, "notes": [TEXT]}],
    "versions": TABLE, "counters": TABLE, "hosts": [TEXT], "warnings": [TEXT], "grid": [COUNT],
    "ranks": COUNT, "threads": COUNT, "steps": COUNT, "steps_planned": COUNT, "steps_recorded": COUNT,
    "resumed_from": COUNT, "checkpoints": COUNT, "hidden_fraction": NUMBER,
    "peak_memory_bytes": [NUMBER], "predicted_memory_bytes": [NUMBER],
    "per_rank": [RANK], "writers": [RANK], "outputs": [OUTPUT],
    "binding": [{"rank": COUNT, "host": TEXT, "cpus": TEXT, "writer_cpus": TEXT, "writer_place": TEXT}],
    "exchange": {
        "transport": TEXT, "asked_by": TEXT, "order": TEXT,
        "transports": [{"name": TEXT, "description": TEXT, "obstacle": TEXT}],
        "maps": [{"name": TEXT, "choices": [CHOICE], "per_rank": [MAP_OF_RANK]}],
    },
    "plan": {
        "mode": TEXT, "decisions": [DECISION], "reasons": [TEXT], "measured": TABLE,
        "predictions": [{"strategy": TEXT, "reason": TEXT}],
    },
}  # fmt: skip
PROGRESS = {"phase": TEXT, "step": COUNT, "steps": COUNT}


class Progress(TypedDict, total=False):
    """progress.json: how far a run is."""

    phase: str
    step: int
    steps: int | None
    position: str
    """Instead of the step."""
    remaining_s: float | None


class Failure(TypedDict, total=False):
    """Why a run failed."""

    kind: str
    message: str
    rank: int


class Decision(TypedDict):
    """What `auto` decided at a step."""

    step: int
    strategy: str
    reason: str


class Prediction(TypedDict):
    """What a run was to cost under a strategy, in seconds."""

    strategy: str
    possible: bool
    reason: str
    extra_processes: int
    run_s: float
    per_output_s: float
    compute_s: float
    write_s: float


class PlanAccount(TypedDict, total=False):
    """What the planner found out."""

    mode: str
    decisions: list[Decision]
    reasons: list[str]
    measured: dict[str, Any]
    predictions: list[Prediction]


class TriedTransport(TypedDict, total=False):
    """A transport that flights were tried with."""

    name: str
    cost_s: float
    obstacle: str


class Choice(TypedDict, total=False):
    """How a kind of flight came by its transport."""

    flights: str
    entry_bytes: int
    chosen: str
    left: list[str]
    tried: list[TriedTransport]


class ExchangeMap(TypedDict, total=False):
    """What an access map did; `per_rank` has numbers by their names, and `sent` by rank."""

    name: str
    choices: list[Choice]
    per_rank: list[dict[str, Any]]


class ExchangeAccount(TypedDict, total=False):
    """What was exchanged by index."""

    transport: str
    asked_by: str
    order: str
    aggregate: bool
    transports: list[dict[str, Any]]
    maps: list[ExchangeMap]


class RunAccount(TypedDict, total=False):
    """run.json, as far as the command reads it; what a simulation adds goes by other names."""

    status: str
    reason: str
    title: str
    simulation: str
    program: str
    version: str
    started: str
    ended: str
    error: Failure
    config: dict[str, Any]
    exit_status: int
    strategy: str | None
    sink: str | None
    ranks: int
    threads: int
    steps: int
    steps_planned: int | None
    steps_recorded: int | None
    resumed_from: int
    wall_s: float
    setup_s: float
    output_bytes: int
    output_write_s: float
    checkpoint_bytes: int
    checkpoint_s: float
    per_rank: list[dict[str, Any]]
    peak_memory_bytes: list[float]
    warnings: list[str]
    exchange: ExchangeAccount
    plan: PlanAccount


@dataclass
class JsonTable:
    """What a file holds; `there` is False where there is no such file. `problems` begin with its path."""

    table: dict[str, Any] = field(default_factory=dict)
    there: bool = True
    problems: list[str] = field(default_factory=list)


def read_table(path: Path, expected: dict[str, Any]) -> JsonTable:
    """Reads a file that holds one table with entries of the types `expected`; others stay as they are."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return JsonTable(there=False)
    except (OSError, ValueError) as error:
        return JsonTable(problems=[f"{path}: cannot be read: {error}"])
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return JsonTable(problems=[f"{path}: damaged, no JSON: {error}"])
    problems: list[str] = []
    sound = _sound(value, expected, "the whole", problems)
    return JsonTable(sound or {}, problems=[f"{path}: damaged: {problem}" for problem in problems])


def _sound(value: Any, expected: Any, name: str, problems: list[str]) -> Any:
    """The parts of a value that are as expected; None for one that is not at all."""
    if isinstance(expected, dict) and isinstance(value, dict):
        return _sound_table(value, expected, problems)
    if isinstance(expected, list) and isinstance(value, list):
        entries = [_sound(entry, expected[0], f"an entry of {name}", problems) for entry in value]
        return [entry for entry in entries if entry is not None]
    if isinstance(expected, str) and _is_a(value, expected):
        return value
    wanted = {dict: TABLE, list: "list"}.get(type(expected), expected)
    problems.append(f"{name} is {json.dumps(value)[:60]}, not a {wanted}")
    return None


def _sound_table(value: dict[str, Any], expected: dict[str, Any], problems: list[str]) -> dict[str, Any]:
    kept = {}
    for key, entry in value.items():
        wanted = expected.get(key) or (NUMBER if key.endswith(TIMES_AND_SIZES) else None)
        sound = entry if wanted is None or entry is None else _sound(entry, wanted, key, problems)
        if sound is not None:
            kept[key] = sound
    return kept


def _is_a(value: Any, kind: str) -> bool:
    kinds: dict[str, Any] = {TEXT: str, TABLE: dict, WORD_OR_TABLE: str | dict}
    if kind in kinds:
        return isinstance(value, kinds[kind])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # Larger numbers than these, and infinite ones, are no times and no counts.
    return abs(value) < 1e18 and (kind == NUMBER or (isinstance(value, int) and value >= 0))
