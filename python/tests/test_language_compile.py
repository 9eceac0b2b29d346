# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501
"""The serialised form and the bodies of programs mean what their text says; only what changed is compiled again."""

import ctypes
import json
import subprocess
from pathlib import Path

import pytest

import command
from fragment_bodies import compiled_bodies
from fragment_cache import common_cache, own_cache
from fragment_evaluator import Evaluator, bodies_of
from native import needs
from tailrace.fragments.build import Builder
from tailrace.fragments.check import check_program
from tailrace.fragments.compile import build_object, sources_of
from tailrace.fragments.compilers import find_compiler
from tailrace.fragments.folders import needed_folder
from tailrace.fragments.functions import find_functions
from tailrace.fragments.lower import lower
from tailrace.fragments.problems import Problems
from tailrace.fragments.units import program_unit, units_of
from tailrace.programs import find_program

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "fragment_language.md"
POWERS = PAGE.read_text().split("```fragments\n")[1].split("```")[0]


@pytest.fixture(autouse=True)
def place(tmp_path, tmp_path_factory, monkeypatch):
    own_cache(tmp_path_factory, monkeypatch, tmp_path / "cache")
    monkeypatch.setenv("CXX_FLAGS", "-O0")
    monkeypatch.chdir(tmp_path)


def built(text: str, **sources: str) -> tuple[list[str], Problems, dict]:
    """Builds p.so of a program; the units that were compiled, the problems, the document."""
    Path("p.fa").write_text(text)
    for name, source in sources.items():
        Path(f"{name}.cpp").write_text(source)
    bound, problems = check_program(Path("p.fa"))
    assert problems.errors == [], problems.as_text()
    found = sources_of(Path("p.fa"), "", "")
    functions = find_functions(bound, found, problems, find_compiler)
    document = lower(bound)
    units = [*units_of(bound, functions, found), program_unit(document, bound.expanded.main)]
    builder = Builder(needed_folder("objects"), find_compiler())
    return build_object(bound, units, Path("p.so"), problems, builder), problems, document


def evaluated(document: dict, bodies: dict, *words: object) -> tuple[int, list]:
    """How many fragments wait for ever, and what the body `show` was given, sorted."""
    seen: list = []
    show = {"show": lambda *inputs: seen.append(inputs) or []}
    return Evaluator(document, bodies | show).run(*words), sorted(seen)


def meaning(statements: str, *words: object) -> list:
    """What `show(value)` is given by a main(int n) with df x, y."""
    bodies = "C++ sub set(value v, name r) ${{ r = v; $}} C++ sub show(value v) ${{ v; $}}\n"
    Path("p.fa").write_text(f"{bodies}sub main(int n) {{ df x, y; {statements} }}\n")
    bound, problems = check_program(Path("p.fa"))
    assert problems.errors == [], problems.as_text()
    waiting, seen = evaluated(lower(bound), {"set": lambda v: [v]}, *words)
    assert waiting == 0
    return [value for (value,) in seen]


MEANINGS = [
    ("show(7 / 2 * 2 + -7 / 2 - -7 % 3);", [4]),
    ("show(1 ? 2 : 0 ? 3 : 4);", [3]),
    ("show(n - 1 - 1); show(2 < 3 == 1); show(1 + 2 * 3);", [1, 1, 7]),
    ("show(1 || 0 && 0);", [1]),
    ("for i = 1..n set(i * i, x[i]); for i = 1..n show(x[i]);", [1, 4, 9]),
    ("for i = n..1 show(i);", []),
    ("set(5, x[-1][2]); set(2, y); show(x[1 - y][y]);", [5]),
    ("let a = n + 1, b = a * 2 show(b + a);", [12]),
    ("let a = x[1] { set(4, a); show(a); }", [4]),
    ("while k < n, k = 1..out y show(k); show(y);", [1, 2, 3]),
    ("while 0, k = 7..out y show(k); show(y);", [7]),
    ("if n > 2 && n != 4 show(1); if 0 show(2);", [1]),
    ('show(string(n) + "a" + string(1.5)); show(int("12") + 1 + "b");', ["13b", "3a1.500000"]),
    ('show("a\\n\\"\\t\\\\ \\\nb");', ['a\n"\t\\ b']),
    ("show(real(n) / 2 + 1e-1); show(-2147483648 + 0.0);", [-2147483648.0, 1.6]),
    ("for i = 1..2 { df z; set(i, z); show(z); }", [1, 2]),
    ("set(1, x) >> (y[n]); show(y[3] + x);", [2]),
]


@pytest.mark.parametrize(("statements", "expected"), MEANINGS, ids=range(len(MEANINGS)))
def test_statements_mean_what_they_say(statements, expected):
    assert meaning(statements, 3) == expected


PRINTING = "import c_set(value, name) as set;\\nimport c_show(value) as show;\\n"


@pytest.fixture(scope="module")
def printing(tmp_path_factory) -> Path:
    """A shared object with `c_set`, and `c_show` that prints a line."""
    place = tmp_path_factory.mktemp("printing")
    source = (
        "#include <ucenv.h>\n"
        'extern "C" void c_set(const InputDF &v, OutputDF &r) { r = v; }\n'
        'extern "C" void c_show(const InputDF &v) { puts(v.to_string().c_str()); }\n'
    )
    return compiled_bodies(
        place,
        common_cache(tmp_path_factory),
        source,
        f"{PRINTING}sub main() {{ df x; set(1, x); show(x); }}\n",
    )


PRINTING = "import c_set(value, name) as set;\nimport c_show(value) as show;\n"


@needs("tailrace-fragments")
@pytest.mark.parametrize(("statements", "expected"), MEANINGS, ids=range(len(MEANINGS)))
def test_statements_mean_the_same_on_any_number_of_ranks(statements, expected, printing):
    Path("p.fa").write_text(f"{PRINTING}sub main(int n) {{ df x, y; {statements} }}\n")
    Path("p.json").write_text(json.dumps(lower(check_program(Path("p.fa"))[0])))
    lines = [f"{one:.6f}" if isinstance(one, float) else str(one) for one in expected]
    for ranks in (1, 2, 3):
        words = ["--transport", f"local:{ranks}", "--bodies", printing, "p.json", "3"]
        done = subprocess.run(
            [find_program("tailrace-fragments"), *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert sorted(done.stdout.splitlines()) == sorted("\n".join(lines).splitlines())


def test_places_and_recommendations_are_in_the_document():
    Path("p.fa").write_text(POWERS)
    document = lower(check_program(Path("p.fa"))[0])
    loop = document["subs"]["powers"]["body"][2]
    call = loop["body"][0]
    assert (loop["at"], call["at"]) == ([0, 6, 5], [0, 6, 28])
    assert call["id"][-1] == {"id": "step", "at": [0, 6, 19], "n": 1}
    (rule,) = document["subs"]["main"]["rules"]
    assert (rule["ruletype"], rule["ref"], rule["indices"]) == ("map", "x", ["i"])
    assert document["files"][0]["text"] == POWERS


def test_the_target_of_a_push_is_in_the_document():
    text = "C++ sub f(name r) ${{ r = 1; $}} C++ sub g(value v) ${{ v; $}}\n"
    text += "sub main() { df x; cf a[2]: g(x); f(x) @ { afterpush x => a[1 + 1]; }; }\n"
    Path("p.fa").write_text(text)
    (rule,) = lower(check_program(Path("p.fa"))[0])["subs"]["main"]["body"][2]["rules"]
    assert rule["to"][:2] == [1, 1] and rule["to"][3]["id"] == "a" and rule["ref"][0]["id"] == "x"


def test_a_program_with_its_bodies(capfd):
    compiled, problems, document = built(POWERS)
    assert sorted(compiled) == ["double_it", "one", "program", "show"] and problems.errors == []
    bodies = bodies_of(Path("p.so"), document)
    waiting, seen = evaluated(document, bodies, 10)
    assert waiting == 0
    assert seen == sorted([("even", 2), ("even", 8), ("even", 32), ("first over 100:", 128)])
    assert evaluated(document, bodies, 3) == (2, [("even", 2), ("even", 8)])
    library = ctypes.CDLL(str(Path("p.so").resolve()))
    size = ctypes.c_ulonglong.in_dll(library, "tailrace_fragments_program_size").value
    text = (ctypes.c_char * size).in_dll(library, "tailrace_fragments_program").raw
    assert json.loads(text) == document


BLOCKS = """C++ head ${{
#include <numeric>
$}}
import c_fill(int n, name r) as fill;
import c_sum(value, real, name) as sum;
C++ sub twice(value &v, name r) ${<END}
  double *a = v.getData<double>();
  for (size_t i = 0; i < v.getSize() / sizeof(double); ++i) a[i] *= 2;
  r.copy(v);
END
C++ sub text(string s, name r) ${{ r = std::string(s) + "!"; $}}
C++ sub show(string s) ${{ puts(s); $}}
sub main(int n) { df a, b, s, t; fill(n, a); twice(a, b); sum(b, 0.5, s); text("sum " + s, t); show(t); }
"""
SOURCE = """#include <ucenv.h>
// void c_fill(int) {}
extern "C" void c_fill(int n, OutputDF &out) {
  double *a = out.create<double>(n, 1.5);
  if (n > 1) a[1] = 2;
}
extern "C" void c_sum(const InputDF &in, const double more, OutputDF &out) {
  double sum = more;
  for (size_t i = 0; i < in.getSize() / 8; ++i) sum += in.getData<double>()[i];
  out = sum;
}
"""


IMPORTED = '#include <ucenv.h>\nextern "C" void f(OutputDF &r) { r = 1; }\n'


def test_blocks_and_imported_functions():
    _, problems, document = built(BLOCKS, bodies=SOURCE)
    assert problems.errors == []
    bodies = bodies_of(Path("p.so"), document)
    assert evaluated(document, bodies, 3) == (0, [("sum 10.500000!",)])


def test_sources_may_have_any_letters_in_their_paths(tmp_path, monkeypatch):
    (tmp_path / "año").mkdir()
    monkeypatch.chdir(tmp_path / "año")
    _, problems, document = built("import f(name r); sub main() { df x; f(x); }", körper=IMPORTED)
    assert problems.errors == [], problems.as_text()
    assert evaluated(document, bodies_of(Path("p.so"), document)) == (0, [])


def test_imports_are_checked_against_the_functions():
    text = "import f(int, name);\nimport g(value) as h;\nimport nowhere(int) as f2;\nsub main() f2(2, 1);\n"
    Path("p.fa").write_text(text)
    Path("p.cpp").write_text(
        '#include <ucenv.h>\n/* void f(int, OutputDF &) {}\n*/ extern "C" void f(double,\n'
        "  OutputDF &) {}\nvoid g(InputDF &) {}\n"
    )
    for option in ([], ["--check"]):
        answer = command.tailrace("compile", "p.fa", "--json", *option)
        problems = [one for one in json.loads(answer.out)["problems"] if one["severity"] == "error"]
        found = [(one["code"], one["line"], one["column"]) for one in problems]
        assert found == [("SYN10", 3, 8), ("SYN3", 4, 12)]
        assert problems[0]["fix"].startswith("define it in a *.cpp beside the program"), problems
        assert problems[0]["fix"].endswith("looked in p.cpp"), problems
    Path("p.fa").write_text("import f(int, name);\nimport g(value) as h;\nsub main() h(1);\n")
    answer = command.tailrace("compile", "p.fa")
    wrong = "the C++ function is f(double, OutputDF &), the import f(int, name). Declared at p.cpp:3:20."
    assert answer.status == 2 and f"p.fa:1:8: error: {wrong} [SYN12]" in answer.err
    assert 'Fix: extern "C" void f(int, OutputDF &)' in answer.err and ":2:8" not in answer.err
    assert not Path("p.so").exists()


# Types of an import's parameter, with those that the function's may have, and others that it may not.
FORMS = {
    "int": (["int", "const int"], ["long", "double", "int &", "const int &", "short", "bool"]),
    "real": (["double", "const double"], ["float", "int", "double &"]),
    "string": (["const char *", "const char *const"], ["char *", "std::string", "const std::string &"]),
    "value": (["const InputDF &", "InputDF &", "const luna::ucenv::InputDF &"], ["OutputDF &", "int", "InputDF *"]),
    "value &": (["const InputDF &", "InputDF &"], ["const OutputDF &", "double"]),
    "name": (["OutputDF &", "luna::ucenv::OutputDF &"], ["const OutputDF &", "InputDF &", "OutputDF *"]),
}  # fmt: skip


def with_forms(column: int) -> list[str]:
    """Writes a program that imports a function of each form; the C++ types in their order."""
    forms = [(kind, form) for kind, both in FORMS.items() for form in both[column]]
    imports = [f"import f{n}({kind} p);" for n, (kind, _) in enumerate(forms)]
    functions = [f'extern "C" void f{n}({form} p) {{ (void)p; }}' for n, (_, form) in enumerate(forms)]
    kinds = {"name": "x", "string": '"a"'}
    calls = "".join(f"f{n}({kinds.get(kind, '1')}); " for n, (kind, _) in enumerate(forms))
    Path("p.fa").write_text("\n".join([*imports, f"sub main() {{ df x; {calls}}}", ""]))
    Path("p.cpp").write_text("\n".join(["#include <ucenv.h>", *functions, ""]))
    return [form for _, form in forms]


def test_every_form_of_a_parameter_is_accepted():
    assert len(with_forms(0)) == 13
    answer = command.tailrace("compile", "p.fa", "--warnings", "off")
    assert (answer.status, answer.err) == (0, "")


def test_other_forms_are_refused_with_both_signatures_and_places():
    forms = with_forms(1)
    answer = command.tailrace("compile", "p.fa", "--json", "--warnings", "off")
    problems = json.loads(answer.out)["problems"]
    assert answer.status == 2 and len(problems) == len(forms) == 20
    for number, (problem, form) in enumerate(zip(problems, forms, strict=True)):
        place = (problem["code"], problem["line"], problem["column"])
        assert place == ("SYN12", number + 1, 8)
        assert f"the C++ function is f{number}({form} p), the import f{number}(" in problem["text"]
        assert f"Declared at p.cpp:{number + 2}:17." in problem["text"]


FOUND = """import in_header(name r) as a;
import by_macro(int, name r) as b;
import never_called(int);
sub main() { df x, y; a(x); b(x, y); }
"""


def test_functions_in_headers_and_of_macros_are_found(monkeypatch):
    Path("p.fa").write_text(FOUND)
    Path("own.h").write_text(
        '#pragma once\n#include <ucenv.h>\nextern "C" void in_header(OutputDF &r) { r = 1; }\n'
    )
    Path("p.cpp").write_text(
        '#include "own.h"\n#define BODY(n) extern "C" void by_##n\n\nBODY(macro)(int a, OutputDF &r) { r = a; }\n'
    )
    answer = command.tailrace("compile", "p.fa", "--json")
    found = [(one["severity"], one["code"], one["line"]) for one in json.loads(answer.out)["problems"]]
    assert answer.status == 0 and ("warning", "SYN10", 3) in found, answer
    Path("p.fa").write_text(FOUND.replace("by_macro(int", "by_macro(real"))
    answer = command.tailrace("compile", "p.fa")
    assert answer.status == 2 and "Declared at p.cpp:4:1. [SYN12]" in answer.err, answer
    assert "own.h" not in answer.err
    monkeypatch.setenv("CXX", "/nowhere/g++")
    answer = command.tailrace("compile", "--check", "p.fa")
    assert answer.status == 2 and "there is no C++ function by_macro" in answer.err, answer


def test_the_compiler_points_into_the_program():
    Path("p.fa").write_text("sub main() f(1);\n\n  C++ sub f(int a) ${{ int b = a +\n   nonsense; $}}\n")
    answer = command.tailrace("compile", "p.fa")
    assert answer.status == 2 and "p.fa:4:4: error" in answer.err
    assert not Path("p.so").exists()


def test_only_what_changed_is_compiled_again():
    Path("more.h").write_text("#define MORE 0.5\n")
    source = SOURCE.replace("double sum = more", "double sum = more + MORE").replace(
        "<ucenv.h>", '"more.h"', 0
    )
    source = '#include "more.h"\n' + source
    assert sorted(built(BLOCKS, bodies=source)[0]) == ["bodies.cpp", "program", "show", "text", "twice"]
    assert built(BLOCKS, bodies=source)[0] == []
    assert sorted(built(BLOCKS.replace('"!"', '"?"'), bodies=source)[0]) == ["program", "text"]
    Path("more.h").write_text("#define MORE 1.5\n")
    assert built(BLOCKS, bodies=source)[0] == ["bodies.cpp"]
    kept = max(Path("cache").rglob("*.o"), key=lambda one: one.stat().st_mtime_ns)  # one that was just used
    kept.write_bytes(b"damaged")
    assert len(built(BLOCKS, bodies=source)[0]) == 1


def test_the_document_alone_needs_no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/nowhere/g++")
    Path("p.fa").write_text(POWERS)
    assert command.tailrace("compile", "p.fa", "-o", "q.json").status == 0
    assert json.loads(Path("q.json").read_text())["name"] == "p"
    answer = command.tailrace("compile", "p.fa")
    assert answer.status == 2 and "set CXX" in answer.err and not Path("p.so").exists()
    answer = command.tailrace("compile", "p.fa", "-o", "none/p.json")
    assert answer.status == 2 and "there is no directory none" in answer.err


def test_no_source_is_overwritten_and_no_file_made_that_does_not_run(monkeypatch):
    monkeypatch.setenv("CXX", "/nowhere/g++")
    Path("p.fa").write_text(POWERS)
    Path("u.cpp").write_text("// mine\n")
    for target in ("p.fa", "u.cpp", "p.out", "p"):
        answer = command.tailrace("compile", "p.fa", "-o", target)
        assert answer.status == 2 and f"-o {target}: no form of a compiled program" in answer.err
    Path("inc.json").write_text(POWERS)
    Path("q.fa").write_text('#include "inc.json"\n')
    answer = command.tailrace("compile", "q.fa", "-o", "inc.json")
    assert answer.status == 2 and "inc.json: the program is made of it" in answer.err
    for option in ("--check", "--format"):
        answer = command.tailrace("compile", "p.fa", option, "-o", "p.json")
        assert answer.status == 2 and "-o: not with --check" in answer.err
    files = {path.name: path.read_text() for path in Path().iterdir() if path.is_file()}
    sources = {"p.fa": POWERS, "q.fa": '#include "inc.json"\n', "inc.json": POWERS, "u.cpp": "// mine\n"}
    assert files == sources
