# SPDX-License-Identifier: BSD-3-Clause
"""The drawing of a program as a file: for Graphviz (.dot, .gv), as SVG, or in a page (.html).

In: `Bound` without errors; out: a file.
"""

import re
import shutil
import subprocess
from html import escape
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter

from tailrace.console import CommandError
from tailrace.fragments.graph import drawing
from tailrace.fragments.highlight import FragmentLexer
from tailrace.fragments.names import Bound

LIMIT_S = 120
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font-family: system-ui, sans-serif; margin: 1.5rem; max-width: 100rem }}
.drawing {{ overflow: auto; max-height: 70vh; border: 1px solid #ccc; margin: 1rem 0 }}
.program {{ overflow: auto }}
a:target + span, a:target {{ background: #fff3b0 }}
{style}</style></head><body>
<h1>{title}</h1>
<p>A frame is a subroutine, a loop or a condition; a box is a call with its line; an ellipse is data. An arrow
to a box reads, one from a box writes. Click on a box to see its line.</p>
<div class="drawing">{svg}</div>
<div class="program">{program}</div>
</body></html>
"""


def write_drawing(bound: Bound, target: Path) -> None:
    """Draws a program into a file of the form that its suffix says."""
    text = drawing(bound)
    if target.suffix == ".svg":
        text = svg_of(text, target)
    elif target.suffix == ".html":
        text = page_of(bound, svg_of(text, target))
    target.write_text(text)


def svg_of(text: str, target: Path) -> str:
    program = shutil.which("dot")
    if program is None:
        fix = f"install Graphviz, or draw {target.with_suffix('.dot').name}, which needs none"
        raise CommandError(f"--graph {target}: there is no Graphviz (dot) here. Fix: {fix}")
    done = subprocess.run(
        [program, "-Tsvg"], input=text, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    if done.returncode != 0:
        raise CommandError(
            f"--graph {target}: dot ended with status {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout


def page_of(bound: Bound, svg: str) -> str:
    """A page that needs no other file."""
    formatter = HtmlFormatter(linenos="inline", lineanchors="line", cssclass="code")
    main = bound.expanded.main
    return PAGE.format(
        title=escape(main.name),
        style=formatter.get_style_defs(".code"),
        svg=re.sub(r"^[\s\S]*?(?=<svg)", "", svg),
        program=highlight(main.text, FragmentLexer(stripnl=False), formatter),
    )
