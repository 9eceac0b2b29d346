# SPDX-License-Identifier: BSD-3-Clause
"""Names and scopes: what each reference means and which subroutine each call is of.

In: `Program`; out: `Bound`, with `symbol` of every reference filled in.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tailrace.console import count_of
from tailrace.fragments import tree
from tailrace.fragments.problems import Problems
from tailrace.fragments.source import Expanded

# The properties of recommendations, each with the kinds of rules that it may be.
PROPERTIES = {
    "locator_cyclic": (tree.ExprRule, tree.MapRule),
    "locator_replicating": (tree.MapRule,),
    "request": (tree.ListRule,),
    "wait": (tree.ListRule,),
    "delete": (tree.ListRule,),
    "req_unlimited": (tree.ListRule,),
    "req_count": (tree.AssignRule,),
    "afterpush": (tree.MapRule,),
    "stealable": (tree.FlagRule,),
    "unroll_at_once": (tree.FlagRule,),
    "nfparam": (tree.MapRule, tree.ListRule),
}
# How kinds of symbols are called in messages.
SPOKEN = {"df": "data fragment", "for": "counter of for", "while": "counter of while", "let": "let name"}
SHADOW_CODES = {"df": "SYN8.1", "for": "SYN8.2", "while": "SYN8.3", "let": "SYN8.4", "parameter": "SYN8.5"}
PLAIN = "int real string"


@dataclass(eq=False)
class Symbol:
    """What a name means: kind is df, label, parameter, for, while, let, index (of a rule) or nfparam.

    `type` is that of a parameter, int for counters; `value` is the expression of a let name.
    """

    kind: str
    name: str
    at: int
    type: str = ""
    value: tree.Expression | None = None
    used: bool = False

    @property
    def is_data(self) -> bool:
        return self.kind == "df" or self.type == "name"

    @property
    def spoken(self) -> str:
        return SPOKEN.get(self.kind, self.kind)


@dataclass
class Bound:
    """A program whose names are known.

    `symbols` are all that were declared in structured subroutines, `parameters` those of each of them.
    """

    program: tree.Program
    expanded: Expanded
    subs: dict[str, tree.Callable] = field(default_factory=dict)
    symbols: list[Symbol] = field(default_factory=list)
    parameters: dict[str, list[Symbol]] = field(default_factory=dict)
    nfparams: dict[str, list[str]] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)


def bind(program: tree.Program, expanded: Expanded, problems: Problems, last_counts: bool = False) -> Bound:
    """Finds what names mean; of subroutines of one name the last one counts, if that is wanted."""
    bound = Bound(program, expanded)
    collect_subs(bound, problems, last_counts)
    program.items[:] = [item for item in program.items if is_kept(item, bound)]
    check_main(bound, problems)
    for item in program.items:
        if isinstance(item, tree.Sub):
            bound.nfparams[item.name] = [
                ref.name
                for rule in item.block.rules
                if isinstance(rule, tree.ListRule) and rule.property == "nfparam"
                for ref in rule.refs
            ]
    for item in program.items:
        if isinstance(item, tree.Sub):
            Binder(bound, item, problems).bind_sub()
        elif isinstance(item, tree.CppSub):
            check_twice(bound, item.params, problems)
    return bound


def collect_subs(bound: Bound, problems: Problems, last_counts: bool) -> None:
    for item in bound.program.items:
        if not isinstance(item, tree.Callable):
            continue
        first = bound.subs.setdefault(item.name, item)
        if first is not item:
            say_repeated(bound, item, first, problems, last_counts)
        if last_counts:
            bound.subs[item.name] = item


def say_repeated(
    bound: Bound, item: tree.Callable, first: tree.Callable, problems: Problems, last_counts: bool
) -> None:
    """Subroutines of one name are an error, unless they say the same."""
    imports = isinstance(item, tree.Import) and isinstance(first, tree.Import)
    what = "imports" if imports else "subroutines"
    text = f"two {what} have the name {item.name}. The first is at {bound.expanded.place(first.at)}"
    code = "SYN6.1" if imports else "SYN6.2"
    place = bound.expanded.place(item.at)
    if tree.is_same(first, item) and same_bodies(first, item, bound):
        problems.warn(place, f"{text}, and says the same", code, "remove one of them")
    elif last_counts:
        problems.warn(place, f"{text}; this one counts", code, "rename one of them")
    else:
        fix = "rename one of them" + (", with `as`" if imports else "")
        problems.error(place, text, code, fix)


def same_bodies(one: tree.Callable, other: tree.Callable, bound: Bound) -> bool:
    if not isinstance(one, tree.CppSub) or not isinstance(other, tree.CppSub):
        return True
    return bound.expanded.foreign[one.body].text == bound.expanded.foreign[other.body].text


def is_kept(item: tree.Item, bound: Bound) -> bool:
    """Whether an item is none of several of one name that do not count."""
    return not isinstance(item, tree.Callable) or bound.subs[item.name] is item


def check_main(bound: Bound, problems: Problems) -> None:
    main = bound.subs.get("main")
    if main is None and "main" not in bound.program.doubtful:
        found = problems.nearest("main", list(bound.subs))
        problems.error(
            bound.expanded.place(0),
            f"there is no main{found}",
            "SYN7",
            "sub main() { ... } is where a program begins",
        )
    for param in main.params if main else ():
        if param.type not in PLAIN.split():
            text = f"parameter {param.name} of main is a {param.type}, which no word of a command line is"
            problems.error(bound.expanded.place(param.at), text, "SYN7", "declare it int, real or string")


def check_twice(bound: Bound, params: Sequence[tree.Param], problems: Problems) -> None:
    seen: dict[str, int] = {}
    for param in params:
        if param.name in seen:
            first = bound.expanded.place(seen[param.name])
            text = f"parameter {param.name} is declared twice, first at {first}"
            problems.error(bound.expanded.place(param.at), text, "SYN8.5", "rename one of them")
        seen.setdefault(param.name, param.at)


def labels_of(block: tree.Block) -> Iterable[tree.Ref]:
    """The labels that belong to a block: its own, and those of blocks without braces below it."""
    for statement in block.statements:
        if isinstance(statement, tree.Call):
            if statement.label is not None:
                yield statement.label
        elif (below := getattr(statement, "block", None)) is not None and not below.braces:
            yield from labels_of(below)


def label_key(name: str) -> str:
    """The key of a label in a scope, which is no name."""
    return f"cf {name}"


class Binder:
    """Walks one structured subroutine with the scopes that are open, the innermost last."""

    def __init__(self, bound: Bound, sub: tree.Sub, problems: Problems) -> None:
        self.bound, self.sub, self.problems = bound, sub, problems
        self.scopes: list[dict[str, Symbol]] = [{}]

    def error(self, at: int, text: str, code: str, fix: str = "") -> None:
        self.problems.error(self.bound.expanded.place(at), text, code, fix)

    def bind_sub(self) -> None:
        for param in self.sub.params:
            self.declare(Symbol("parameter", param.name, param.at, param.type))
        self.bound.parameters[self.sub.name] = list(self.scopes[-1].values())
        for rule in self.sub.block.rules:
            if isinstance(rule, tree.ListRule) and rule.property == "nfparam":
                for ref in rule.refs:
                    self.declare(Symbol("nfparam", ref.name, ref.at, "int"))
        self.hint(self.sub)
        self.block(self.sub.block, new_scope=False)

    # Declarations and look-up.

    def declare(self, symbol: Symbol) -> None:
        first = self.scopes[-1].get(symbol.name)
        code = SHADOW_CODES.get(symbol.kind, "SYN8.1")
        if first is not None:
            place = self.bound.expanded.place(first.at)
            text = f"{symbol.name} is declared twice in a scope, first as {first.spoken} at {place}"
            self.error(symbol.at, text, code, "rename one of them")
        hidden = next((scope[symbol.name] for scope in self.scopes[-2::-1] if symbol.name in scope), None)
        if hidden is not None and symbol.kind != "index":
            self.warn_of_same_name(symbol, f"{symbol.spoken} {symbol.name} hides the", hidden, code)
        self.add(symbol.name, symbol)

    def declare_label(self, label: tree.Ref) -> None:
        """Labels are seen only by what sends to labelled fragments or places them; they hide nothing."""
        other = self.scopes[-1].get(label.name)
        symbol = Symbol("label", label.name, label.at)
        if other is not None:
            self.warn_of_same_name(symbol, f"label {label.name} has the name of the", other, "SYN8.1")
        self.add(label_key(label.name), symbol)

    def warn_of_same_name(self, symbol: Symbol, what: str, other: Symbol, code: str) -> None:
        text = f"{what} {other.spoken} declared at {self.bound.expanded.place(other.at)}"
        self.problems.warn(self.bound.expanded.place(symbol.at), text, code, "rename one of them")

    def add(self, key: str, symbol: Symbol) -> None:
        self.scopes[-1][key] = symbol
        self.bound.symbols.append(symbol)

    def find(self, name: str, label_first: bool = False) -> Symbol | None:
        """What a name means: a label only where there is nothing else, or where one is looked for."""
        for key in (label_key(name), name) if label_first else (name, label_key(name)):
            for scope in reversed(self.scopes):
                if key in scope:
                    return scope[key]
        return None

    def reference(self, ref: tree.Ref, label_first: bool = False) -> None:
        """Finds what a name means and the names in its indices."""
        self.values(ref.indices)
        ref.symbol = symbol = self.find(ref.name, label_first)
        if symbol is None:
            return self.unknown(ref)
        symbol.used = True
        if ref.indices and not symbol.is_data and symbol.kind != "label":
            place = self.bound.expanded.place(symbol.at)
            text = f"{ref.name} has no indices: it is a {symbol.spoken}, declared at {place}"
            self.error(ref.at, text, "SYN11", "remove the index")
        return None

    def unknown(self, ref: tree.Ref) -> None:
        if ref.name in self.bound.program.doubtful:
            return
        known = [symbol.name for scope in self.scopes for symbol in scope.values()]
        fix = f"declare it: df {ref.name};"
        self.error(ref.at, f"unknown name {ref.name}{self.problems.nearest(ref.name, known)}", "SYN9", fix)

    def values(self, expressions: Iterable[tree.Expression]) -> None:
        for expression in expressions:
            self.value(expression)

    def value(self, node: tree.Expression) -> None:
        match node:
            case tree.Ref():
                self.reference(node)
                if node.symbol is not None and node.symbol.kind == "label":
                    self.error(
                        node.at, f"{node.name} is a label, which has no value", "SYN9", "name data instead"
                    )
            case tree.Cast() | tree.Negative():
                self.value(node.value)
            case tree.Binary():
                self.value(node.left)
                self.value(node.right)
            case tree.Choice():
                self.values([node.condition, node.then, node.otherwise])

    # Statements.

    def block(self, block: tree.Block, new_scope: bool = True) -> None:
        """Binds a block. The recommendations behind it see the names outside, those of homes also its own."""
        if new_scope:
            self.scopes.append({})
        for name in block.names:
            self.declare(Symbol("df", name.text, name.at))
        if block.braces or not new_scope:
            for label in labels_of(block):
                self.declare_label(label)
        for statement in block.statements:
            self.statement(statement)
        self.rules([rule for rule in block.rules if rule.property.startswith("locator")])
        if new_scope:
            self.scopes.pop()
        self.rules([rule for rule in block.rules if not rule.property.startswith("locator")], at_block=True)

    def statement(self, statement: tree.Node) -> None:
        match statement:
            case tree.Call():
                self.call(statement)
            case tree.Let():
                self.let(statement)
            case tree.For():
                self.hint(statement)
                self.values([statement.first, statement.last])
                self.inside(Symbol("for", statement.var.text, statement.var.at, "int"), [], statement.block)
            case tree.While():
                self.hint(statement)
                self.value(statement.start)
                self.data(statement.out)
                counter = Symbol("while", statement.var.text, statement.var.at, "int")
                self.inside(counter, [statement.condition], statement.block)
            case tree.If():
                self.value(statement.condition)
                self.block(statement.block)
            case tree.LateDf():
                text = "df is not at the start of its block, or is its second one"
                self.error(
                    statement.at, text, "SYN4", "declare all names in one df at the start of the block"
                )
                for name in statement.names:
                    self.declare(Symbol("df", name.text, name.at))

    def hint(self, node: tree.Sub | tree.For | tree.While) -> None:
        if node.hint is not None:
            place = self.bound.expanded.place(node.hint.at)
            self.problems.warn(place, f"<<{node.hint.word}>> has no effect", "HINT", "remove it")
            self.values(node.hint.values)

    def inside(self, counter: Symbol, values: Iterable[tree.Expression], block: tree.Block) -> None:
        self.scopes.append({})
        self.declare(counter)
        self.values(values)
        self.block(block)
        self.scopes.pop()

    def let(self, statement: tree.Let) -> None:
        self.scopes.append({})
        for binding in statement.bindings:
            self.value(binding.value)
            self.declare(Symbol("let", binding.name, binding.at, "", binding.value))
        self.block(statement.block)
        self.scopes.pop()

    def call(self, call: tree.Call) -> None:
        self.bound.called.add(call.sub)
        if call.label is not None:
            self.reference(call.label, label_first=True)
        self.values(call.args)
        for ref in call.sets:
            self.data(ref)
        for ref in call.deletes:
            self.data(ref)
        self.rules(call.rules, call=call)
        callee = self.bound.subs.get(call.sub)
        if callee is None:
            return self.unknown_sub(call)
        if len(callee.params) != len(call.args):
            self.wrong_count(call, callee)
        return self.check_nfparams(call)

    def unknown_sub(self, call: tree.Call) -> None:
        if call.sub not in self.bound.program.doubtful:
            found = self.problems.nearest(call.sub, list(self.bound.subs))
            fix = f"declare it with sub, C++ sub or import{'' if found else '; there is none yet'}"
            self.error(call.at, f"unknown subroutine {call.sub}{found}", "SYN2", fix)

    def wrong_count(self, call: tree.Call, callee: tree.Callable) -> None:
        params = ", ".join(f"{param.type} {param.name}".strip() for param in callee.params)
        takes = count_of(len(callee.params), "argument")
        declared = self.bound.expanded.place(callee.at)
        text = f"{call.sub} takes {takes} ({params}), got {len(call.args)}. Declared at {declared}."
        fix = f"{call.sub}({', '.join(param.name or param.type for param in callee.params)})"
        self.error(call.at, text, "SYN3", fix)

    def check_nfparams(self, call: tree.Call) -> None:
        wanted = self.bound.nfparams.get(call.sub, [])
        given = {rule.ref.name for rule in call.rules if is_given_nfparam(rule)}
        for name in wanted:
            if name not in given:
                text = f"{call.sub} needs its nfparam {name}"
                self.error(call.at, text, "SEM10", f"@ {{ nfparam {name} => VALUE; }} at the call")
        for rule in call.rules:
            if is_given_nfparam(rule) and rule.ref.name not in wanted:
                found = self.problems.nearest(rule.ref.name, wanted)
                fix = f"@ {{ nfparam {rule.ref.name}; }} at the sub"
                self.error(rule.ref.at, f"{call.sub} has no nfparam {rule.ref.name}{found}", "SEM10", fix)

    def data(self, ref: tree.Ref) -> None:
        """A reference that has to be to data: an output, or what is deleted, requested or counted."""
        self.reference(ref)
        if ref.symbol is not None and not ref.symbol.is_data and ref.symbol.kind != "let":
            text = f"{ref.name} is a {ref.symbol.spoken}; a data fragment is needed here"
            self.error(ref.at, text, "SYN1", "name a data fragment")

    # Recommendations.

    def rules(
        self, rules: Iterable[tree.Rule], at_block: bool = False, call: tree.Call | None = None
    ) -> None:
        for rule in rules:
            allowed = PROPERTIES.get(rule.property)
            if allowed is None:
                found = self.problems.nearest(rule.property, list(PROPERTIES))
                text = f"unknown recommendation {rule.property}{found}"
                fix = "leave it out, or mend its name: it has no effect"
                self.problems.warn(self.bound.expanded.place(rule.at), text, "RULE", fix)
            elif not isinstance(rule, allowed):
                self.error(rule.at, f"{rule.property} has another form", "SYN", FORMS[rule.property])
            else:
                self.rule(rule)

    def rule(self, rule: tree.Rule) -> None:
        match rule:
            case tree.ListRule() if rule.property != "nfparam":
                for ref in rule.refs:
                    self.data(ref)
            case tree.AssignRule():
                self.data(rule.ref)
                self.value(rule.value)
            case tree.ExprRule():
                self.value(rule.value)
            case tree.MapRule() if rule.property == "afterpush":
                self.data(rule.ref)
                self.target(rule.value)
            case tree.MapRule() if rule.property == "nfparam":
                self.value(rule.value)
            case tree.MapRule():
                self.home(rule)

    def target(self, value: tree.Expression) -> None:
        if not isinstance(value, tree.Ref):
            return self.error(value.at, "afterpush sends to a label", "SYN1", "afterpush x => label[i];")
        self.reference(value, label_first=True)
        if value.symbol is not None and value.symbol.kind != "label":
            self.error(
                value.at, f"{value.name} is no label", "SYN1", f"cf {value.name}: ... labels a statement"
            )
        return None

    def home(self, rule: tree.MapRule) -> None:
        """`locator_cyclic x[i] => e;`: the indices are new names that e may use."""
        ref = rule.ref
        ref.symbol = self.find(ref.name)
        if ref.symbol is None:
            return self.unknown(ref)
        self.scopes.append({})
        for index in ref.indices:
            if isinstance(index, tree.Ref) and not index.indices:
                self.declare(Symbol("index", index.name, index.at, "int"))
                index.symbol = self.find(index.name)
            else:
                self.error(
                    index.at, "an index of a locator is a new name", "SYN", f"{rule.property} x[i] => ..."
                )
        everywhere = isinstance(rule.value, tree.Ref) and rule.value.name == "all" and not rule.value.indices
        if not (everywhere and rule.property == "locator_replicating"):
            self.value(rule.value)
        self.scopes.pop()
        return None


FORMS = {
    "locator_cyclic": "locator_cyclic: e; or locator_cyclic x[i] => e;",
    "locator_replicating": "locator_replicating x => e;",
    "req_count": "req_count x = e;",
    "afterpush": "afterpush x => label;",
    "nfparam": "nfparam n; at a sub, nfparam n => e; at a call",
} | {name: f"{name} x, y;" for name in ("request", "wait", "delete", "req_unlimited")}
FORMS |= {name: f"{name};" for name in ("stealable", "unroll_at_once")}


def is_given_nfparam(rule: tree.Rule) -> bool:
    return rule.property == "nfparam" and isinstance(rule, tree.MapRule)


def hint_values(loop: tree.For | tree.While) -> list[tree.Expression]:
    return loop.hint.values if loop.hint else []
