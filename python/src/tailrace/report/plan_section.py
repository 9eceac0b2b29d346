# SPDX-License-Identifier: BSD-3-Clause
"""What the planner predicted beside what happened, and where ranks and writers were bound."""

import plotly.graph_objects as go

from tailrace.figures import theme
from tailrace.report.load import Run
from tailrace.report.parts import Picture, Section, Table
from tailrace.report.time_figures import spread
from tailrace.units import bytes_text, duration_text, number_text, si_scale

ROWS = 40
MEASURED = {
    "compute_s": "computing between two outputs",
    "copy_s": "copying one output into a buffer",
    "gather_s": "bringing one output to its writers",
    "write_s": "giving one output to the file system",
    "flush_s": "flushing one output to the device",
    "phi": "processor seconds per second of writing",
    "free_cores": "cores without computing threads, per node",
    "bytes_per_output": "size of one output",
    "largest_rank_bytes": "of this on the rank that has most",
    "datasets": "datasets in one output",
}


def plan_section(run: Run) -> Section:
    """The planner's part of the page; empty for runs without one."""
    plan = run.account.get("plan") or {}
    section = Section("plan", "Plan and outcome")
    predictions = [one for one in plan.get("predictions") or [] if isinstance(one, dict)]
    decisions = [one for one in plan.get("decisions") or [] if isinstance(one, dict)]
    possible = [one for one in predictions if one.get("possible", True) and one.get("per_output_s")]
    if possible:
        figure, caption = _predictions(possible, decisions, _taken(run))
        section.pictures.append(Picture(figure, caption, "Predicted for each strategy"))
    if table := _refused(predictions):
        section.pictures.append(table)
    if decisions:
        section.pictures.append(_decisions(decisions))
    if measured := plan.get("measured"):
        rows = [
            [MEASURED[name], _value(name, measured[name])]
            for name in MEASURED
            if measured.get(name) is not None
        ]
        section.pictures.append(
            Table(["measured by the planner", ""], rows, heading="What it went by", numeric=(1,))
        )
    return section


def _taken(run: Run) -> str:
    """The strategy of the end of the run."""
    decisions = (run.account.get("plan") or {}).get("decisions") or []
    return str((decisions[-1] if decisions else {}).get("strategy") or run.account.get("strategy") or "")


def _predictions(possible: list[dict], decisions: list[dict], taken: str) -> tuple[go.Figure, str]:
    """Time from one output to the next by strategy, beside what it became; also returns the caption."""
    shown = sorted(possible, key=lambda one: one["per_output_s"])[:ROWS]
    observed = next(
        (one["observed_output_s"] for one in decisions[::-1] if one.get("observed_output_s")), 0.0
    )
    longest = max(observed, *(one["per_output_s"] for one in shown))
    factor, prefix = si_scale(longest)
    green = [str(one.get("strategy")) in (taken, taken.split(",")[0]) for one in shown]
    figure = go.Figure(
        go.Bar(
            y=[str(one.get("strategy")) for one in shown], x=[one["per_output_s"] / factor for one in shown],
            orientation="h", textposition="inside", insidetextanchor="start", textangle=0,
            text=[duration_text(one["per_output_s"]) for one in shown],
            textfont={"color": ["#ffffff" if one else "#1b1f27" for one in green]},
            marker={
                "color": [theme.KIND_COLORS["write" if one else "other"] for one in green],
                "line": {"width": 0},
            },
            hovertext=[str(one.get("reason", "")) for one in shown],
            hovertemplate="%{y}: %{text} predicted<br>%{hovertext}<extra></extra>",
        )
    )  # fmt: skip
    caption = (
        f"Time from one output to the next, as it was predicted; green: {taken or 'none'}, the last taken."
    )
    if observed:
        figure.add_vline(
            observed / factor, line={"color": theme.KIND_COLORS["output_wait"], "width": 2, "dash": "dash"},
            annotation={
                "text": f"observed {duration_text(observed)}",
                "yanchor": "bottom", "y": 1.0, "xanchor": "center",
            },
        )  # fmt: skip
        caption += " Dashed: what it became."
    figure.update_xaxes(title=f"time per output [{prefix}s]", range=[0, 1.1 * longest / factor])
    figure.update_yaxes(autorange="reversed")
    return theme.style(figure, height=110 + 28 * len(shown), showlegend=False, bargap=0.3), caption


def _refused(predictions: list[dict]) -> Table | None:
    rows = [
        [str(one.get("strategy")), str(one.get("reason", ""))]
        for one in predictions
        if not one.get("possible", True)
    ]
    return Table(["not possible", "because"], rows[:ROWS]) if rows else None


def _decisions(decisions: list[dict]) -> Table:
    rows = []
    for one in spread(decisions, ROWS):
        predicted, observed = one.get("predicted_output_s"), one.get("observed_output_s")
        error = f"{100 * (observed / predicted - 1):+.0f} %" if predicted and observed else ""
        rows.append(
            [str(one.get("step", "")), str(one.get("strategy", "")), duration_text(predicted),
             duration_text(observed),
             error, str(one.get("reason", ""))]
        )  # fmt: skip
    columns = ["from step", "strategy", "predicted per output", "observed", "difference", "reason"]
    return Table(columns, rows, heading="Decisions", numeric=(0, 2, 3, 4))


def _value(name: str, value) -> str:
    if not isinstance(value, int | float):
        return str(value)
    if name.endswith("_s"):
        return duration_text(value)
    return bytes_text(value) if "bytes" in name else number_text(value)


def binding_table(run: Run) -> Table | None:
    """Where ranks and writers ran, if the account says."""
    binding = [one for one in run.account.get("binding") or [] if isinstance(one, dict)]
    if not binding:
        return None
    shown = spread(binding, ROWS)
    rows = [
        [
            str(one.get("rank", "")),
            str(one.get("host", "")),
            str(one.get("cpus", "")),
            str(one.get("writer_cpus") or ""),
            str(one.get("writer_place") or ""),
        ]
        for one in shown
    ]
    caption = "" if len(shown) == len(binding) else f"{len(shown)} of {len(binding)} ranks are shown."
    return Table(
        ["rank", "host", "processors", "writer's processors", "these are"],
        rows,
        caption,
        "Binding",
        numeric=(0,),
    )
