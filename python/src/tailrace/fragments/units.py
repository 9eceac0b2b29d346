# SPDX-License-Identifier: BSD-3-Clause
"""C++ of a program: one unit per body and per source file, with a function of the interface for each.

In: `Bound` and the source files; out: `Unit`s. Positions of bodies are those of the program's text.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.fragments import tree
from tailrace.fragments.functions import Function
from tailrace.fragments.lower import symbol_of
from tailrace.fragments.names import Bound
from tailrace.fragments.source import Foreign, Place, SourceFile

HEADER = "#include <ucenv.h>\n"
# What a body's parameter is in C++, and how it is made in the function of the interface.
TYPES = {"int": "int", "real": "double", "string": "const char *", "name": "OutputDF &"}
TYPES |= {"value": "const InputDF &", "value &": "InputDF &"}
GETTERS = {
    "int": "t->get_int(c, {0})",
    "real": "t->get_real(c, {0})",
    "string": "t->get_string(c, {0}, nullptr)",
}
# What the parameters of imported functions may be; those that are passed by value may be const.
INPUT = "(std::is_same_v<{0}, const InputDF &> || std::is_same_v<{0}, InputDF &>)"
ACCEPTED = {
    "int": "std::is_same_v<std::remove_cv_t<{0}>, int>",
    "real": "std::is_same_v<std::remove_cv_t<{0}>, double>",
    "string": "std::is_same_v<std::remove_cv_t<{0}>, const char *>",
    "name": "std::is_same_v<{0}, OutputDF &>",
    "value": INPUT,
    "value &": INPUT,
}
# By these words C++ knows where it is. Macros of a program's own headers that have them may say where it was.
KNOWS_PLACE = re.compile(r"\b(__LINE__|__FILE__|assert|source_location)\b")
SIGNATURE = "tailrace_signature"
PARAMETERS = f"""#include <tuple>
template <class F> struct {SIGNATURE} {{ static constexpr int count = -1; }};
template <class... P> struct {SIGNATURE}<void (*)(P...)> {{
  static constexpr int count = sizeof...(P);
  template <int I> using type = std::tuple_element_t<I, std::tuple<P...>>;
}};
"""


@dataclass(frozen=True)
class Unit:
    """A source to be compiled; `imports` are checked in it against the functions that it includes."""

    name: str
    text: str
    written: Foreign
    """The C++ as the user wrote it; nothing of it in what is all ours."""
    imports: tuple[tuple[tree.Import, Function], ...] = ()
    includes_header: bool = True
    unplaced: str = ""
    """The text without the positions of bodies, if what is compiled without debug information is the same
    wherever they are.
    """


def units_of(
    bound: Bound,
    functions: dict[tree.Import, Function],
    sources: Sequence[Path],
    forced: Collection[str] = (),
) -> list[Unit]:
    """All units of a program; `functions` are those of its imports, of which the `forced` ones are called
    whatever their parameters are.
    """
    heads = [
        bound.expanded.foreign[item.text] for item in bound.program.items if isinstance(item, tree.CppHead)
    ]
    units = [body_unit(item, heads, bound) for item in bound.program.items if isinstance(item, tree.CppSub)]
    wanted: dict[Path, list[tree.Import]] = {source: [] for source in sources}
    for item, function in functions.items():
        wanted[function.source].append(item)
    imports = {source: tuple((item, functions[item]) for item in items) for source, items in wanted.items()}
    return units + [source_unit(source, some, forced) for source, some in imports.items()]


def body_unit(item: tree.CppSub, heads: Sequence[Foreign], bound: Bound) -> Unit:
    foreign = bound.expanded.foreign[item.body]
    text = HEADER + "".join(map(foreign_text, heads)) + body(item, foreign_text(foreign))
    if any(KNOWS_PLACE.search(one.text) for one in (*heads, foreign)):
        return Unit(item.name, text, foreign)
    unplaced = "\n".join(one.text for one in heads)
    unplaced = HEADER + unplaced + body(item, foreign.text)
    return Unit(item.name, text, foreign, unplaced=unplaced)


def foreign_text(foreign: Foreign) -> str:
    """The text of a foreign block at its line and column, which compilers count in bytes."""
    line, column = foreign.place.line_and_column
    name = json.dumps(foreign.place.file.name, ensure_ascii=False)
    before = foreign.place.file.line_text(line)[: column - 1].encode()
    return f"#line {line} {name}\n{' ' * len(before)}{foreign.text}\n"


def body(item: tree.CppSub, text: str) -> str:
    params = ", ".join(f"{TYPES[param.type]} {param.name}" for param in item.params)
    return (
        f'static void body_of_{item.name}({params}) {{\n{text}\n#line 1 "body of {item.name}"\n}}\n'
        + function(symbol_of(item), f"body_of_{item.name}", item.params)
    )


def function(symbol: str, target: str, params: Sequence[tree.Param]) -> str:
    """The function of the interface that calls a body."""
    made, passed = "", []
    for number, param in enumerate(params):
        if param.type in GETTERS:
            passed.append(GETTERS[param.type].format(number))
            continue
        kind = "OutputDF" if param.type == "name" else "InputDF"
        changes = "true" if param.type == "value &" else "false"
        made += f"  luna::ucenv::{kind} p{number}(t, c, {number}, {changes});\n"
        passed.append(f"p{number}")
    head = f'extern "C" void {symbol}(const tailrace_body_interface *t, tailrace_call *c)'
    return f"{head} {{\n  (void)t, (void)c;\n{made}  {target}({', '.join(passed)});\n}}\n"


def source_unit(
    source: Path, imports: tuple[tuple[tree.Import, Function], ...], forced: Collection[str]
) -> Unit:
    """A source of the program, with a check of each import and the functions that call them."""
    text = f"{HEADER}#include {json.dumps(str(source.resolve()), ensure_ascii=False)}\n{PARAMETERS}"
    for item, _ in imports:
        target = f"::{item.function}"
        if item.name in forced:
            types = ", ".join(TYPES[param.type] for param in item.params)
            target = f"reinterpret_cast<void (*)({types})>(&{target})"
        else:
            text += checked(item)
        text += function(symbol_of(item), target, item.params)
    file = SourceFile(str(source), source, source.read_text(errors="replace"))
    return Unit(source.name, text, Foreign(file.text, Place(file, 0)), imports)


def checked(item: tree.Import) -> str:
    of = f"{SIGNATURE}<decltype(&::{item.function})>"
    lines = [f'static_assert({of}::count == {len(item.params)}, "{mark(item)}");\n']
    for number, param in enumerate(item.params):
        found = f"{of}::type<{number}>"
        lines.append(f'static_assert({ACCEPTED[param.type].format(found)}, "{mark(item)}");\n')
    return "".join(lines)


def mark(item: tree.Import) -> str:
    """By this text a message of the compiler is known to be that of an import's check."""
    return f"{SIGNATURE}: {item.name}"


def program_unit(document: dict, main: SourceFile) -> Unit:
    """A unit that holds the document of a program under the names by which the native program finds it."""
    text = json.dumps(document, separators=(",", ":"))
    chunks = (text[start : start + 2000] for start in range(0, len(text), 2000))
    literal = "\n".join(json.dumps(chunk) for chunk in chunks)
    content = (
        'extern "C" {\nextern const char tailrace_fragments_program[];\n'
        "extern const unsigned long long tailrace_fragments_program_size;\n"
        f"const char tailrace_fragments_program[] = {literal};\n"
        f"const unsigned long long tailrace_fragments_program_size = {len(text)};\n}}\n"
    )
    return Unit("program", content, Foreign("", Place(main, 0)), includes_header=False)
