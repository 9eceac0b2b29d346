// SPDX-License-Identifier: BSD-3-Clause
// What is said of programs that cannot finish, and of documents that are none.
#include <doctest/doctest.h>

#include "error_of.hpp"
#include "fragments/id.hpp"
#include "fragments_bodies.hpp"

namespace tailrace::test {

namespace {

const std::string powers =
    "sub one_and_more(name x, int n) {\n"
    "    set(1, x[0]);\n"
    "    for i=1..n cf step[i]: add(x[i-1], x[i-1], x[i]) @ { locator_cyclic: i; };\n"
    "}\n"
    "sub main(int n) {\n"
    "    df x, big;\n"
    "    one_and_more(x, n);\n"
    "    while x[k] < 100, k=0..out big\n"
    "        if k % 2 == 1 show(\"odd\", x[k]);\n"
    "    show(\"first over 100:\", x[big]);\n"
    "}\n";

fragments::Ending run(const std::string& program, Printed& printed,
                      const std::vector<std::string>& words = {}) {
  return fragments::interpret(test_image(program), test_bodies(printed), words);
}
std::string error_of_program(const std::string& program) {
  Printed printed;
  const auto ending = run(program, printed);
  return fmt::format("{}", fmt::join(ending.errors, "\n--\n"));
}

}  // namespace

TEST_CASE("verdict: a loop that reads what nobody writes, with all that is known") {
  Printed printed, short_of;
  CHECK(run(powers, printed, {"10"}).succeeded());
  CHECK(printed.sorted() == "first over 100: 128; odd 2; odd 32; odd 8");
  const auto ending = run(powers, short_of, {"3"});
  REQUIRE(ending.errors.size() == 1);
  CHECK(ending.waiting == 2);
  CHECK(ending.errors[0] ==
        "test.fa:8:5: error: the program cannot finish: 2 fragments wait. Nobody writes x[4]. [SEM3]\n"
        "    while x[k] < 100, k=0..out big\n"
        "    ^ needs x[4] at k = 4\n"
        "  x[0] is written at test.fa:2:5, x[1..3] at "
        "test.fa:3:28, "
        "called from test.fa:7:5 as one_and_more(x, 3)");
  CHECK(short_of.sorted() == "odd 2; odd 8");
}

TEST_CASE("verdict: several causes, each with all that wait for it, in the order of places") {
  const auto text = error_of_program(
      "sub main() { df a, b;\n show(\"1\", b[1]);\n show(\"2\", a);\n show(\"3\", b[1] + a);\n set(1, b[0]); "
      "}");
  CHECK(
      text ==
      "test.fa:2:2: error: the program cannot finish: 3 fragments wait. Nobody writes b[1]. [SEM3]\n"
      " show(\"1\", b[1]);\n ^ needs b[1]\n"
      "  b[0] is written at test.fa:5:2\n"
      "  test.fa:4:2 needs b[1] too\n"
      "--\n"
      "test.fa:3:2: error: Nobody writes a. [SEM3]\n show(\"2\", a);\n ^ needs a\n  test.fa:4:2 needs a too");
}

TEST_CASE("verdict: who waits for another that waits is no cause") {
  const auto text = error_of_program(
      "sub main() { df a, b, c;\n copy(a, b);\n copy(b, c);\n for i=c..2 copy(b, c[i]);\n show(\"\", c[1]); "
      "}");
  CHECK(text ==
        "test.fa:2:2: error: the program cannot finish: 4 fragments wait. Nobody writes a. [SEM3]\n"
        " copy(a, b);\n ^ needs a");
}

TEST_CASE("verdict: a cycle names its members in order, and not who waits for it") {
  const auto text = error_of_program(
      "sub main() { df a, b, c, d;\n copy(c, a);\n copy(a, b);\n copy(b, c);\n copy(c, d); }");
  CHECK(text ==
        "test.fa:2:2: error: the program cannot finish: 4 fragments wait. cycle: these fragments wait for "
        "each other. [SEM3]\n"
        " copy(c, a);\n ^ needs c\n  test.fa:4:2 needs b\n  test.fa:3:2 needs a"
        "\n  Fix: have one of them need something that is written without the others");
}

TEST_CASE("verdict: a fragment that failed explains who waits for it") {
  const auto text =
      error_of_program("sub main() { df x, y;\n fails(1, x);\n copy(x, y);\n show(\"y\", y); }");
  CHECK(text == "test.fa:2:2: error: fails failed: no luck\n fails(1, x);\n ^");
}

TEST_CASE("verdict: a body that failed in a loop says where in it") {
  CHECK(error_of_program("sub main() { df x; for i = 1..3 if i == 2\n fails(i, x[i + 1]); }") ==
        "test.fa:2:2: error: fails failed: no luck\n fails(i, x[i + 1]); }\n ^ was to write x[3]");
  CHECK(error_of_program("sub main() { df x; let k = 1 + 1\n fails(k, x); }") ==
        "test.fa:2:2: error: fails failed: no luck\n fails(k, x); }\n ^ with 2");
}

TEST_CASE("verdict: a condition that may write what it waits for is no cycle") {
  const auto text =
      error_of_program("sub main() { df x;\n if x[0] set(1, x[1]);\n for i=x[1]..2 set(i, x[0]); }");
  CHECK(text.starts_with("test.fa:2:2: error: the program cannot finish: 2 fragments wait. cycle"));
  const auto other = error_of_program("sub main() { df x;\n if x[0] set(1, x[1]);\n if x[1] set(1, x[2]); }");
  CHECK(other.starts_with(
      "test.fa:2:2: error: the program cannot finish: 2 fragments wait. Nobody writes x[0]. [SEM3]"));
  CHECK(other.find("--") == std::string::npos);
}

TEST_CASE("verdict: a part of a call that waits for what follows the call is a cycle") {
  const auto text = error_of_program(
      "sub f(name y) {\n nothing() @ { request y; }; }\nsub main() { df y;\n f(y) >> (y); }");
  CHECK(text ==
        "test.fa:2:2: error: the program cannot finish: 1 fragment waits. cycle: these fragments wait for "
        "each other. [SEM3]\n"
        " nothing() @ { request y; }; }\n ^ needs y\n  called from test.fa:4:2 as f(y)\n"
        "  test.fa:4:2 waits for all that it created"
        "\n  Fix: have one of them need something that is written without the others");
}

TEST_CASE("verdict: of many causes twenty are shown") {
  std::string program = "sub main() { df x;\n";
  for (int i = 0; i < 30; ++i) program += fmt::format("show(\"\", x[{}]);\n", i);
  Printed printed;
  const auto ending = run(program + "}", printed);
  REQUIRE(ending.errors.size() == 21);
  CHECK(ending.errors.back() == "and 10 further errors");
}

TEST_CASE("verdict: deleted and exhausted names are distinguished from those that nobody writes") {
  CHECK(error_of_program("sub d(name v) {\n nothing() @ { request v; delete v; }; }\nsub main() { df x, y;\n "
                         "set(1, x); set(1, y);\n d(x) >> (y[1]);\n if y[1] show(\"\", x); }") ==
        "test.fa:6:10: error: the program cannot finish: 1 fragment waits. x was deleted at test.fa:2:2. "
        "[SEM3.6]\n"
        " if y[1] show(\"\", x); }\n         ^ needs x\n  deleted: called from test.fa:5:2 as d(x)"
        "\n  Fix: delete it with the last fragment that reads it");
}

TEST_CASE("verdict: both writers of a name, with their calls") {
  CHECK(error_of_program("sub w(name line, int v) {\n set(v, line[1]); }\nsub main() { df grid;\n w(grid[4], "
                         "1);\n w(grid[4], 2); }") ==
        "test.fa:2:2: error: grid[4][1] is written twice [SEM2.1]\n set(v, line[1]); }\n ^\n"
        "  called from test.fa:5:2 as w(grid[4], 2)\n  also written at test.fa:2:2\n    called from "
        "test.fa:4:2 as w(grid[4], 1)"
        "\n  Fix: write it once, or give each value an index of its own");
}

TEST_CASE("leftovers and executed fragments are counted") {
  Printed printed;
  const auto ending =
      run("sub main() { df x; set(1, x); block(100, x[1]); copy(x[1], x[2]) --> (x[1]); }", printed);
  CHECK(ending.left_count == 2);
  CHECK(ending.left_bytes == 104);
  CHECK(ending.executed == 4);
}

TEST_CASE("words of main that do not fit are refused, all together") {
  Printed printed;
  const std::string program = "sub main(int i, real r) { nothing(); }";
  const auto of = [&](const std::vector<std::string>& words) {
    const auto error = error_of([&] { run(program, printed, words); });
    return error ? error->message : "";
  };
  CHECK(of({"1"}) == "main takes 2 arguments (int i, real r), got 1");
  const auto both = of({"12x", "1e400"});
  CHECK(both.find("i: '12x' is no int. Fix: a whole number from -2147483648 to 2147483647") !=
        std::string::npos);
  CHECK(both.find("r: '1e400' is no real") != std::string::npos);
}

TEST_CASE("documents that are none are refused with the place") {
  const auto of = [](const std::string& program) {
    const auto error = error_of([&] { test_image(program); });
    return error ? error->message : "";
  };
  CHECK(of("sub main() { doubel(); }").find("test.fa:1:14: unknown subroutine 'doubel'") !=
        std::string::npos);
  CHECK(of("sub main() { show(\"x\"); }").find("test.fa:1:14: show takes 2 arguments, got 1") !=
        std::string::npos);
  CHECK(of("sub main() { df x, x; nothing(); }").find("'x' is declared twice") != std::string::npos);
  CHECK(of("sub main() { show(\"x\", y); }").find("test.fa:1:24: unknown name 'y'") != std::string::npos);
  CHECK(of("sub main(int i) { show(\"x\", i[1]); }").find("test.fa:1:29: 'i' takes no 1 indices") !=
        std::string::npos);
  CHECK(of("sub main(int i) { set(1, i + 1); }").find("a name of a data fragment is expected") !=
        std::string::npos);
  CHECK(of("sub f() { nothing(); }").find("there is no subroutine 'main'") != std::string::npos);
  CHECK(of("sub f() { nothing(); } @ { nfparam r; } sub main() { f(); }")
            .find("the parameter 'r' of f is not given") != std::string::npos);
  CHECK(of("sub f() { show(\"\", r); } @ { nfparam r; } sub main() { f() @ { nfparam r => 1; }; }")
            .find("'r' is for recommendations only") != std::string::npos);
  const auto compiled = [](const std::string& text) {
    const auto error = error_of([&] { fragments::compile(text, "p.json"); });
    return error ? error->message : "";
  };
  CHECK(compiled("{").starts_with("p.json is no fragment program"));
  CHECK(compiled("[]").find("an object is expected") != std::string::npos);
  CHECK(compiled(R"({"tailrace_fragments": 2})").find("known is version 1") != std::string::npos);
  CHECK(compiled(R"({"tailrace_fragments": 1, "subs": {}, "extra": 1})").find("unknown field 'extra'") !=
        std::string::npos);
}

TEST_CASE("a body that is not there is refused before anything runs") {
  const auto image = test_image("sub main() { nothing(); }");
  const auto error = error_of([&] { fragments::interpret(image, {}, {}); });
  REQUIRE(error);
  CHECK(error->message.find("the body 'nothing' of nothing is not there") != std::string::npos);
}

TEST_CASE("ids with the same indices are equal however they came about, others differ") {
  fragments::Id a(1, 7), b(1, 7);
  std::vector<std::uint64_t> hashes{a.hash()};
  for (int i = 0; i < 8; ++i) {
    a.take(i * i), b.take(i * i);
    CHECK(a == b);
    CHECK(std::ranges::find(hashes, a.hash()) == hashes.end());
    hashes.push_back(a.hash());
    auto other = b;
    other.take(0);
    CHECK_FALSE(other == a);
    CHECK(a < other);
    CHECK_FALSE(other < a);
  }
  CHECK(a.indices().size() == 8);
  CHECK(a.base() == fragments::Id(1, 7));
  CHECK_FALSE(fragments::Id(1, 7) == fragments::Id(7, 1));
}

TEST_CASE("verdict: a name that the place knows by another one is said by both") {
  CHECK(error_of_program(
            "sub line(name g, name h) {\n copy(g[1], h); }\nsub main() { df x, y;\n line(x[3], y); }") ==
        "test.fa:2:2: error: the program cannot finish: 1 fragment waits. Nobody writes x[3][1]. [SEM3]\n "
        "copy(g[1], "
        "h); }\n ^ needs x[3][1] (here g[1])\n  called from test.fa:4:2 as line(x[3], y)");
}

TEST_CASE("failures: a wrong type is said with the data fragment's writer") {
  CHECK(error_of_program(
            "sub w(name g) {\n setr(1.5, g[1]); }\nsub main() { df x, y;\n w(x[3]);\n add(x[3][1], 1, y); "
            "}") ==
        "test.fa:5:2: error: x[3][1] has type real, wanted is int [SEM1]\n add(x[3][1], 1, y); }\n ^\n  "
        "x[3][1] is "
        "written at test.fa:2:2\n    called from test.fa:4:2 as w(x[3])\n  Fix: int(...) makes an int of it");
}

}  // namespace tailrace::test
