# SPDX-License-Identifier: BSD-3-Clause
"""Diffusion on a ring, in blocks of NumPy arrays that exchange their ends. Arguments: blocks, cells of each,
steps. Run it with `tailrace run`, on any number of ranks.
"""

import numpy as np

from tailrace.fragments import Name, Program, Value, df, home, loop

program = Program()
RATE = 0.25


@program.body
def start(block: int, blocks: int, cells: int, u: Name, left: Name, right: Name):
    x = (block * cells + np.arange(cells)) / (blocks * cells)
    value = u.create(cells)
    value[:] = np.sin(2 * np.pi * x)
    left.set(value[0])
    right.set(value[-1])


@program.body
def advance(u: Value, before: float, behind: float, new: Name, left: Name, right: Name):
    value = new.create(len(u))
    padded = np.concatenate([[before], u, [behind]])
    value[:] = u + RATE * (padded[:-2] - 2 * u + padded[2:])
    left.set(value[0])
    right.set(value[-1])


@program.body
def error(u: Value, start: Value, cells: int, steps: int, r: Name):
    factor = (1 - 4 * RATE * np.sin(np.pi / cells) ** 2) ** steps
    r.set(float(np.max(np.abs(u - factor * start))))


@program.body
def larger(a: float, b: float, r: Name):
    r.set(max(a, b))


@program.body
def show(cells: int, steps: int, error: float):
    print(f"{cells} cells, {steps} steps: off by {'rounding' if error < 1e-12 else error}")


@program.main
def main(blocks: int, cells: int, steps: int):
    u, left, right, off, most = df("u", "left", "right", "off", "most")
    home(u, lambda t, b: b)
    with loop("b", 0, blocks - 1) as b:
        start(b, blocks, cells, u[0, b], left[0, b], right[0, b])
        with loop("t", 1, steps) as t:
            before, behind = (b + blocks - 1) % blocks, (b + 1) % blocks
            advance(u[t - 1, b], right[t - 1, before], left[t - 1, behind], u[t, b], left[t, b], right[t, b])
        error(u[steps, b], u[0, b], blocks * cells, steps, off[b])
        larger(off[b], most[b - 1], most[b])
    larger(0.0, 0.0, most[-1])
    show(blocks * cells, steps, most[blocks - 1])
