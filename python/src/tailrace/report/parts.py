# SPDX-License-Identifier: BSD-3-Clause
"""The parts a page is made of."""

import base64
import zlib
from dataclasses import dataclass, field

import plotly.graph_objects as go


@dataclass
class Picture:
    """A figure with a heading and the sentence below it."""

    figure: go.Figure
    caption: str = ""
    heading: str = ""
    half: bool = False  # half as wide as the page, beside the next
    outputs: tuple[str, ...] = ()  # the [[output]] tables that it shows


@dataclass
class Table:
    """Rows of text below a heading. `numeric`: the columns that hold numbers."""

    columns: list[str]
    rows: list[list[str]]
    caption: str = ""
    heading: str = ""
    numeric: tuple[int, ...] = ()


@dataclass
class Listing:
    """Text in lines, as HTML, such as a program with colours."""

    html: str
    caption: str = ""
    heading: str = ""


@dataclass
class TimelineView:
    """A timeline that is drawn from the data called `source`, showing an interval of it at first.

    `payload` holds the data; None where another view of the section brings them.
    """

    source: str
    payload: dict | None
    caption: str = ""
    heading: str = ""
    window: tuple[float, float] | None = None


@dataclass
class Number:
    """A key number: the value, what it is, and a line of detail."""

    value: str
    label: str
    detail: str = ""


@dataclass
class Advice:
    """`level` is good, hint or warning; `evidence` holds the numbers that led to it."""

    level: str
    text: str
    evidence: str


@dataclass
class Section:
    """A part of the page: pictures, tables and timelines in order, notes before them."""

    key: str
    title: str
    lead: str = ""
    notes: list[str] = field(default_factory=list)
    pictures: list[Picture | Table | Listing | TimelineView] = field(default_factory=list)


def packed(data: bytes, level: int = 9) -> str:
    """As a page holds what is large: compressed, as letters. `unpack` of its script takes it apart."""
    return base64.b64encode(zlib.compress(data, level)).decode()
