"""The pieces a page is made of."""

from dataclasses import dataclass, field

import plotly.graph_objects as go


@dataclass
class Picture:
    """A figure with a heading and the sentence below it."""

    figure: go.Figure
    caption: str = ""
    heading: str = ""
    half: bool = False  # half as wide as the page, beside the next


@dataclass
class Number:
    """A key number: the value, what it is, and a line of detail."""

    value: str
    label: str
    detail: str = ""


@dataclass
class Section:
    """A part of the page: pictures in order, notes before them."""

    key: str
    title: str
    lead: str = ""
    notes: list[str] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
