# SPDX-License-Identifier: BSD-3-Clause
"""Colours and the look all pictures share.

Colours of text, grid and background follow the page (theme.js sets them), so only data colours live here.
The maps are perceptually uniform; signed fields use a diverging map centred on zero. Categories use the
Okabe-Ito set, which people with any kind of colour vision can distinguish.
"""

import plotly.graph_objects as go

SEQUENTIAL = "Inferno"
MEDIUM = "Cividis"
DIVERGING = [  # blue - white - red with even steps in lightness on both sides
    [0.0, "#16325c"],
    [0.125, "#28599a"],
    [0.25, "#4f8bc6"],
    [0.375, "#a3c6e3"],
    [0.5, "#f7f6f4"],
    [0.625, "#efb5a0"],
    [0.75, "#d66f5a"],
    [0.875, "#a82e34"],
    [1.0, "#5f1020"],
]

KIND_COLORS = {
    "setup": "#8a8f98",
    "compute": "#0072b2",
    "exchange": "#e69f00",
    "pack": "#cc79a7",
    "output_wait": "#d55e00",
    "gather": "#f0e442",
    "write": "#009e73",
    "exposed": "#d55e00",
    "sync": "#004d38",
    "checkpoint": "#332288",
    "idle": "#dfe3e8",
    "close": "#56b4e9",
    "other": "#b5bac2",
}
KIND_LABELS = {
    "setup": "set-up",
    "compute": "compute",
    "exchange": "exchange",
    "pack": "copy samples",
    "output_wait": "wait for output",
    "gather": "transfer to writer",
    "write": "write",
    "exposed": "write that is waited for",
    "sync": "flush to device",
    "checkpoint": "checkpoint",
    "idle": "idle",
    "close": "close",
    "other": "other",
}
LINES = [
    "#1f83c9",
    "#e0662a",
    "#16a07a",
    "#c678a8",
    "#d99a1e",
]  # the same hues, readable as thin lines on dark too


_AXIS = {"ticks": "outside", "ticklen": 4, "showline": True, "automargin": True, "zeroline": False}
# What a picture does not say itself. A template is checked once, entries of a layout for each picture, which
# was a quarter of the time of a report.
_TEMPLATE = go.layout.Template(
    layout={
        "font": {"family": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", "size": 13},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hoverlabel": {"font": {"size": 12}},
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#a3aab5", "activecolor": "#5c6470"},
        "xaxis": _AXIS | {"title": {"font": {"size": 13}, "standoff": 8}},
        "yaxis": _AXIS | {"title": {"font": {"size": 13}, "standoff": 6}},
    }
)
_MARGIN = {"l": 64, "r": 16, "t": 34, "b": 48}


def style(figure: go.Figure, height: int, **layout) -> go.Figure:
    """Applies the common layout; further entries of the layout may be given."""
    figure.layout.template = _TEMPLATE
    return figure.update_layout({"height": height, "margin": _MARGIN} | layout)
