# SPDX-License-Identifier: BSD-3-Clause
"""Warnings from values of conditions and indices: what always holds, is written twice, is nowhere written.

Indices are affine: a constant, or a counter of an enclosing `for`, or a parameter, plus a constant.
Nothing is said where something is of another form.

In: `Bound` with types.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from tailrace.fragments import tree
from tailrace.fragments.names import Bound, Symbol
from tailrace.fragments.problems import Problems
from tailrace.fragments.types import stands_for
from tailrace.fragments.usage import references
from tailrace.fragments.walk import callee_params

COMPARE = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


@dataclass(frozen=True)
class Affine:
    """base + offset, where base is a symbol whose value is the same wherever it is seen, or None for 0."""

    base: Symbol | None
    offset: int

    def __str__(self) -> str:
        if self.base is None:
            return str(self.offset)
        return self.base.name + (
            f" {'+' if self.offset > 0 else '-'} {abs(self.offset)}" if self.offset else ""
        )

    def __add__(self, number: int) -> "Affine":
        return Affine(self.base, self.offset + number)


@dataclass(frozen=True)
class Span:
    """The values of an index: first to last."""

    first: Affine
    last: Affine

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}..{self.last}"


@dataclass(eq=False)
class Use:
    """One place that reads or writes x[spans], and whether it is certain to be reached."""

    at: int
    spans: tuple[Span, ...]
    certain: bool


@dataclass
class Uses:
    writes: list[Use] = field(default_factory=list)
    reads: list[Use] = field(default_factory=list)
    known: bool = True


def check_ranges(bound: Bound, problems: Problems) -> None:
    walk = RangeWalk(bound, problems)
    for item in bound.program.items:
        if isinstance(item, tree.Sub):
            walk.block(item.block, {}, True)
    for symbol, uses in walk.uses.items():
        if symbol.kind == "df" and uses.known:
            report(bound, problems, symbol, uses)


def affine(node: tree.Expression) -> Affine | None:
    """The form of an int expression, or None where it is another one."""
    node = stands_for(node)
    match node:
        case tree.Constant() if isinstance(node.value, int):
            return Affine(None, node.value)
        case tree.Ref() if node.symbol is not None and node.symbol.type == "int" and not node.indices:
            return Affine(node.symbol, 0)
        case tree.Negative():
            inner = affine(node.value)
            return Affine(None, -inner.offset) if inner and inner.base is None else None
        case tree.Binary() if node.op in "+-":
            left, right = affine(node.left), affine(node.right)
            if left and right and right.base is None:
                return left + (right.offset if node.op == "+" else -right.offset)
            if left and right and left.base is None and node.op == "+":
                return right + left.offset
    return None


class RangeWalk:
    """Collects the uses of each data fragment with the spans of their indices."""

    def __init__(self, bound: Bound, problems: Problems) -> None:
        self.bound, self.problems = bound, problems
        self.uses: dict[Symbol, Uses] = {}
        self.declared = {(one.kind, one.at): one for one in bound.symbols}

    def block(self, block: tree.Block, spans: dict[Symbol, Span], certain: bool) -> None:
        for name in block.names:
            symbol = self.declared.get(("df", name.at))
            # A data fragment of a loop's block is another one in each iteration.
            if symbol is not None and spans:
                self.uses.setdefault(symbol, Uses()).known = False
        for statement in block.statements:
            self.statement(statement, spans, certain)
        for rule in block.rules:
            self.rule(rule)

    def rule(self, rule: tree.Rule) -> None:
        """Names in recommendations may make a difference to what is alive: nothing is said of those then."""
        for ref in rule.refs if isinstance(rule, tree.ListRule) else ():
            if ref.symbol is not None:
                self.uses.setdefault(ref.symbol, Uses()).known = False

    def statement(self, statement: tree.Node, spans: dict[Symbol, Span], certain: bool) -> None:
        match statement:
            case tree.Call():
                self.call(statement, spans, certain)
            case tree.Let():
                self.block(statement.block, spans, certain)
            case tree.For():
                self.loop(statement, spans, certain)
            case tree.While():
                self.condition(statement.condition, spans, "while")
                self.forget([statement.start, statement.condition, statement.out])
                self.block(
                    statement.block, spans | {self.declared.get(("while", statement.var.at)): None}, False
                )
            case tree.If():
                self.condition(statement.condition, spans, "if")
                self.read([statement.condition], spans, certain)
                self.block(statement.block, spans, False)

    def loop(self, loop: tree.For, spans: dict[Symbol, Span], certain: bool) -> None:
        self.read([loop.first, loop.last], spans, certain)
        first, last = (self.span_of(bound, spans) for bound in (loop.first, loop.last))
        symbol = self.declared.get(("for", loop.var.at))
        inner = dict(spans)
        if symbol is not None:
            inner[symbol] = Span(first.first, last.last) if first and last else None
        runs = bool(first and last and first.first.base is last.last.base is None)
        empty = runs and first.first.offset > last.last.offset
        self.block(loop.block, inner, certain and runs and not empty)

    def call(self, call: tree.Call, spans: dict[Symbol, Span], certain: bool) -> None:
        for ref in call.sets:
            self.use(ref, spans, certain, writes=True)
        for argument, param in callee_params(self.bound, call):
            target = stands_for(argument)
            if param is None or param.type != "name" or not isinstance(target, tree.Ref):
                self.read([argument], spans, certain)
            elif isinstance(self.bound.subs[call.sub], tree.Sub):
                self.forget([target])
            else:
                self.use(target, spans, certain, writes=True)
        for rule in call.rules:
            self.rule(rule)

    def forget(self, nodes: list[tree.Node]) -> None:
        for node in nodes:
            for ref in references(node):
                if ref.symbol is not None:
                    self.uses.setdefault(ref.symbol, Uses()).known = False

    def read(self, nodes: list[tree.Node], spans: dict[Symbol, Span], certain: bool) -> None:
        for node in nodes:
            for ref in references(node):
                if ref.symbol is not None and ref.symbol.is_data:
                    self.use(ref, spans, certain, writes=False)

    def use(self, ref: tree.Ref, spans: dict[Symbol, Span], certain: bool, writes: bool) -> None:
        if ref.symbol is None:
            return
        uses = self.uses.setdefault(ref.symbol, Uses())
        found = [self.span_of(index, spans) for index in ref.indices]
        if None in found or not self.independent(ref, spans):
            uses.known = uses.known and not writes
        else:
            (uses.writes if writes else uses.reads).append(Use(ref.at, tuple(found), certain))

    def independent(self, ref: tree.Ref, spans: dict[Symbol, Span]) -> bool:
        """Each index depends on a counter of its own, so that the spans together are all that is meant."""
        bases = [form.base for index in ref.indices if (form := affine(index)) and form.base in spans]
        return len(bases) == len(set(bases))

    def span_of(self, node: tree.Expression, spans: dict[Symbol, Span]) -> Span | None:
        form = affine(node)
        if form is None:
            return None
        if form.base is None or form.base not in spans:
            return Span(form, form) if form.base is None or form.base.kind == "parameter" else None
        span = spans[form.base]
        return span and Span(span.first + form.offset, span.last + form.offset)

    # Conditions.

    def condition(self, node: tree.Expression, spans: dict[Symbol, Span], word: str) -> None:
        found = truth(node, lambda value: self.span_of(value, spans))
        if found is None:
            return
        plain = not list(references(node))
        text = f"this condition of {word} is always {'true' if found else 'false'}"
        if not plain:
            text += " on all values of the counters"
        place = self.bound.expanded.place(node.at)
        self.problems.warn(place, text, "SEM5" if plain else "SEM6", "is another name meant?")


def truth(node: tree.Expression, span_of: Callable[[tree.Expression], Span | None]) -> bool | None:
    """Whether a condition always holds or never does; None where that is not known."""
    span = span_of(node)
    if span is not None and span.first == span.last and span.first.base is None:
        return span.first.offset != 0
    if isinstance(node, tree.Binary) and node.op in COMPARE:
        left, right = span_of(node.left), span_of(node.right)
        if left and right and left.first.base is left.last.base is right.first.base is right.last.base:
            return compared(node.op, left, right)
    if isinstance(node, tree.Binary) and node.op in ("&&", "||"):
        both = {truth(node.left, span_of), truth(node.right, span_of)}
        decisive = node.op == "||"
        return decisive if decisive in both else (not decisive if None not in both else None)
    return None


def compared(op: str, left: Span, right: Span) -> bool | None:
    """The result of a comparison if it is the same for all values of the two spans."""
    if op in ("==", "!="):
        if left.first == left.last == right.first == right.last:
            return op == "=="
        apart = left.last.offset < right.first.offset or right.last.offset < left.first.offset
        return op == "!=" if apart else None
    results = {
        COMPARE[op](a.offset, b.offset) for a in (left.first, left.last) for b in (right.first, right.last)
    }
    return results.pop() if len(results) == 1 else None


def overlap(a: Span, b: Span) -> bool:
    """Whether two spans certainly have a value in common."""
    same = a.first.base is a.last.base is b.first.base is b.last.base
    if same:
        return max(a.first.offset, b.first.offset) <= min(a.last.offset, b.last.offset)
    return a == b and a.first == a.last


def covers(outer: Span, inner: Span) -> bool | None:
    """Whether one span holds all of another; None where that is not known."""
    if outer.first.base is not inner.first.base or outer.last.base is not inner.last.base:
        return None
    return outer.first.offset <= inner.first.offset and inner.last.offset <= outer.last.offset


def report(bound: Bound, problems: Problems, symbol: Symbol, uses: Uses) -> None:
    if (twice := overlapping([use for use in uses.writes if use.certain])) is not None:
        first, second = twice
        fixed = all(span.first == span.last for span in (*first.spans, *second.spans))
        where = bound.expanded.place(first.at)
        what = f"{written(symbol, second)} is written here and at {where}, as {written(symbol, first)}"
        code = "SEM2.1" if fixed else "SEM2.2"
        problems.warn(bound.expanded.place(second.at), what, code, "a data fragment is written once")
    alone = only_writes(uses.writes)
    for use in uses.reads:
        only = alone.get(len(use.spans))
        if only and False in map(covers, only.spans, use.spans) and (use.certain or len(uses.writes) == 1):
            text = f"{written(symbol, use)} is read, but only {written(symbol, only)} is written"
            problems.warn(bound.expanded.place(use.at), text, "SEM3.3", "compare the bounds of the loops")
            break


def overlapping(writes: list[Use]) -> tuple[Use, Use] | None:
    """Two writes that have an index in common, in the order of the text: those that come first."""
    alike: dict[tuple, list[Use]] = {}
    for use in writes:
        bases = tuple((span.first.base, span.last.base) for span in use.spans)
        alike.setdefault(bases, []).append(use)
    pairs = [pair for some in alike.values() for pair in sweep(some)]
    in_order = (tuple(sorted(pair, key=lambda use: use.at)) for pair in pairs)
    return min(in_order, key=lambda pair: (pair[1].at, pair[0].at), default=None)


def sweep(writes: list[Use]) -> Iterator[tuple[Use, Use]]:
    """Pairs of overlapping writes, one for each write that has any; few are compared that do not overlap."""
    if not writes[0].spans:
        yield from pairwise(writes)
        return
    number = max(range(len(writes[0].spans)), key=lambda n: len({use.spans[n] for use in writes}))
    reached: list[Use] = []
    for use in sorted(writes, key=lambda use: (use.spans[number].first.offset, use.at)):
        begins = use.spans[number].first.offset
        reached = [one for one in reached if one.spans[number].last.offset >= begins]
        if found := next((one for one in reached if all(map(overlap, one.spans, use.spans))), None):
            yield found, use
        else:
            reached.append(use)


def only_writes(writes: list[Use]) -> dict[int, Use]:
    """The write of each number of indices of which there is one only."""
    counts = Counter(len(use.spans) for use in writes)
    return {len(use.spans): use for use in writes if use.spans and counts[len(use.spans)] == 1}


def written(symbol: Symbol, use: Use) -> str:
    return symbol.name + "".join(f"[{span}]" for span in use.spans)
