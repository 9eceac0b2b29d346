# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501
"""Bodies for random programs of the fragment language, in C++ and again in Python."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fragment_meaning import Sub
from tailrace.fragments.compile import Source, compile_source

# No int that a body makes is larger, and no text longer.
LIMIT = 1_000_003
MAX_TEXT = 40

SOURCE = r"""#include <ucenv.h>
#define BODY extern "C" void
BODY c_set_int(int a, OutputDF &r) { r = a; }
BODY c_set_real(double a, OutputDF &r) { r = a; }
BODY c_set_string(const char *a, OutputDF &r) { r = a; }
BODY c_add(int a, int b, OutputDF &r) { r = (a % 1000003 + b % 1000003) % 1000003; }
BODY c_mean(double a, double b, OutputDF &r) { r = a / 2 - b / 4; }
BODY c_join(const char *a, const char *b, OutputDF &r) { r = (std::string(b) + a).substr(0, 40); }
BODY c_two(int a, OutputDF &r, OutputDF &s) { r = a % 97; s = a / 4.0; }
BODY c_fill(int n, int a, OutputDF &r) {
  int *block = r.create<int>(n % 8 < 0 ? 0 : n % 8);
  for (int k = 0; k < n % 8; ++k) block[k] = a % 1000 + k;
}
BODY c_change(InputDF &v, OutputDF &r) {
  for (size_t k = 0; k < v.getSize() / sizeof(int); ++k) v.getData<int>()[k] += 1;
  r.copy(v);
}
BODY c_total(const InputDF &v, OutputDF &r) {
  int sum = 0;
  for (size_t k = 0; k < v.getSize() / sizeof(int); ++k) sum += v.getData<int>()[k];
  r = sum;
}
BODY c_kind(const InputDF &v, OutputDF &r) {
  static const char *const names[] = {"unset", "int", "real", "string", "value"};
  r = names[v.get_type()];
}
BODY c_show_int(int t, int v) { printf("%d int %d\n", t, v); }
BODY c_show_real(int t, double v) { printf("%d real %.17g\n", t, v); }
BODY c_show_string(int t, const char *v) { printf("%d string %s\n", t, v); }
BODY c_show_value(int t, const InputDF &v) {
  std::string line = std::to_string(t) + " value";
  for (size_t k = 0; k < v.getSize() / sizeof(int); ++k) line += " " + std::to_string(v.getData<int>()[k]);
  puts(line.c_str());
}
"""


def compiled_bodies(place: Path, cache: str, source: str, program: str) -> Path:
    """A shared object with bodies in C++, of a program that imports them."""
    (place / "bodies.cpp").write_text(source)
    (place / "bodies.fa").write_text(program)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", cache)
        patch.setenv("CXX_FLAGS", "-O0")
        problems = compile_source(Source(place / "bodies.fa"), place / "bodies.so")
    assert problems.errors == [], problems.as_text()
    return place / "bodies.so"


def remainder(a: int, b: int) -> int:
    return abs(a) % b * (1 if a >= 0 else -1)


def of_kind(value: Any) -> str:
    return {int: "int", float: "real", str: "string", tuple: "value"}[type(value)]


# The bodies again: parameters, and a function of the inputs that returns the outputs, or what is printed.
BODIES: dict[str, tuple[str, Callable[..., Any]]] = {
    "set_int": ("int a, name r", lambda a: [a]),
    "set_real": ("real a, name r", lambda a: [a]),
    "set_string": ("string a, name r", lambda a: [a]),
    "add": ("int a, int b, name r", lambda a, b: [remainder(remainder(a, LIMIT) + remainder(b, LIMIT), LIMIT)]),
    "mean": ("real a, real b, name r", lambda a, b: [a / 2 - b / 4]),
    "join": ("string a, string b, name r", lambda a, b: [(b + a)[:MAX_TEXT]]),
    "two": ("int a, name r, name s", lambda a: [remainder(a, 97), a / 4.0]),
    "fill": ("int n, int a, name r", lambda n, a: [tuple(remainder(a, 1000) + k for k in range(remainder(n, 8)))]),
    "change": ("value& v, name r", lambda v: [tuple(one + 1 for one in v)]),
    "total": ("value v, name r", lambda v: [sum(v)]),
    "kind": ("value v, name r", lambda v: [of_kind(v)]),
    "show_int": ("int t, int v", lambda t, v: f"{t} int {v}"),
    "show_real": ("int t, real v", lambda t, v: f"{t} real {v:.17g}"),
    "show_string": ("int t, string v", lambda t, v: f"{t} string {v}"),
    "show_value": ("int t, value v", lambda t, v: " ".join([f"{t} value", *map(str, v)])),
}  # fmt: skip
IMPORTS = "".join(f"import c_{name}({params}) as {name};\n" for name, (params, _) in BODIES.items())


def body_subs() -> dict[str, Sub]:
    return {
        name: Sub([tuple(param.split()) for param in params.split(", ")], body=body)
        for name, (params, body) in BODIES.items()
    }
