# SPDX-License-Identifier: BSD-3-Clause
"""Ways through the tree that several passes take."""

from collections.abc import Iterator

from tailrace.fragments import tree
from tailrace.fragments.names import Bound


def callee_params(bound: Bound, call: tree.Call) -> Iterator[tuple[tree.Expression, tree.Param | None]]:
    """The arguments of a call with their parameters; None where there is no such parameter or subroutine."""
    callee = bound.subs.get(call.sub)
    params = list(callee.params) if callee else []
    params += [None] * (len(call.args) - len(params))
    yield from zip(call.args, params, strict=False)


def statements(block: tree.Block) -> Iterator[tree.Node]:
    """All statements below a block, those that hold others before what they hold."""
    for statement in block.statements:
        yield statement
        if (below := getattr(statement, "block", None)) is not None:
            yield from statements(below)
