# SPDX-License-Identifier: BSD-3-Clause
"""Advice: rules over the measured numbers, each with its evidence."""

from tailrace.report.exchange_advice import exchange_advice
from tailrace.report.fragment_advice import fragment_advice
from tailrace.report.heat_advice import heat_advice
from tailrace.report.load import Run
from tailrace.report.output_advice import output_advice
from tailrace.report.parts import Advice
from tailrace.report.rank_advice import rank_advice
from tailrace.units import bytes_text, duration_text

_WRONG = 0.2  # predictions that miss by more are worth a word, as they are for the planner


def advise(run: Run) -> list[Advice]:
    """All advice for a run, warnings first."""
    rules = (
        _failure,
        output_advice,
        rank_advice,
        exchange_advice,
        fragment_advice,
        heat_advice,
        _setup,
        _memory,
        _prediction,
    )
    found = [advice for rule in rules for advice in rule(run)]
    return sorted(found, key=lambda advice: ("warning", "hint", "good").index(advice.level))


def _failure(run: Run) -> list[Advice]:
    error = run.account.get("error") or {}
    if run.status == "failed":
        where = ", ".join(
            f"{name} {error[name]}"
            for name in ("rank", "path", "offset")
            if error.get(name) not in (None, "")
        )
        text = "The run failed. What the output file's commit mark calls complete is intact and can be used."
        return [
            Advice("warning", text, "; ".join(part for part in (error.get("message", ""), where) if part))
        ]
    if run.status == "unaccounted":
        text = "The run left no account. Its series are complete up to the recorded step, nothing else is."
        return [Advice("warning", text, f"no run.json in {run.directory.resolve().name}")]
    return []


def _setup(run: Run) -> list[Advice]:
    setup = max(run.column("setup_s"), default=0.0)
    if not run.wall_s or setup < 5 or setup / run.wall_s < 0.25:
        return []
    text = "Set-up is a large part of this run; it pays off over more steps."
    return [Advice("hint", text, f"{duration_text(setup)} of {duration_text(run.wall_s)}")]


def _memory(run: Run) -> list[Advice]:
    pairs = [
        (measured, predicted)
        for measured, predicted in zip(
            run.column("peak_memory_bytes"), run.column("predicted_memory_bytes"), strict=True
        )
        if measured and predicted
    ]
    if not pairs:
        return []
    measured, predicted = max(pairs, key=lambda pair: abs(pair[0] / pair[1] - 1))
    if abs(measured / predicted - 1) <= 0.1:
        return []
    text = "Memory differs from the prediction by more than a tenth."
    return [
        Advice(
            "hint", text, f"measured {bytes_text(measured)}, predicted {bytes_text(predicted)} on one rank"
        )
    ]


def _prediction(run: Run) -> list[Advice]:
    decisions = (run.account.get("plan") or {}).get("decisions") or []
    pairs = [(one.get("predicted_output_s"), one.get("observed_output_s"), one) for one in decisions]
    wrong = [
        (observed / predicted, one)
        for predicted, observed, one in pairs
        if predicted and observed and abs(observed / predicted - 1) > _WRONG
    ]
    if not wrong:
        return []
    ratio, one = max(wrong, key=lambda pair: abs(pair[0] - 1))
    text = (
        "The planner's prediction was off: something changed after it had measured, such as other "
        "users of the disk."
    )
    evidence = (
        f"{one.get('strategy')} from step {one.get('step')}: "
        f"{duration_text(one['predicted_output_s'])} per output "
        f"predicted, {duration_text(one['observed_output_s'])} observed ({100 * (ratio - 1):+.0f} %)"
    )
    return [Advice("hint", text, evidence)]
