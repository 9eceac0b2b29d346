// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "fragments_bodies.hpp"

namespace tailrace::test {

/// A program, and what it does.
struct Meaning {
  std::string what;
  std::string program;
  std::string printed;               ///< lines in alphabetical order, separated by "; "
  std::vector<std::string> errors;   ///< how each error begins
  std::vector<std::string> words{};  ///< arguments of `main`
};

/// A line so many times.
inline std::string repeated(const std::string& line, int count) {
  std::string all = line;
  for (int i = 1; i < count; ++i) all += "; " + line;
  return all;
}

inline const std::string stuck = "the program cannot finish: 1 fragment waits. ";

/// One row per sentence of what programs mean.
inline const std::vector<Meaning> meanings = {
    // values and names
    {"an int", "sub main() { df x; set(7, x); show(\"x\", x); }", "x 7", {}},
    {"a real", "sub main() { df x; setr(1.5, x); show(\"x\", x); }", "x 1.5", {}},
    {"a string", "sub main() { df x; sets(\"abc\", x); show(\"x\", x); }", "x \"abc\"", {}},
    {"a block", "sub main() { df x; block(24, x); show(\"x\", x); }", "x a value of 24 bytes", {}},
    {"a block of no bytes", "sub main() { df x; block(0, x); show(\"x\", x); }", "x a value of 0 bytes", {}},
    {"names with other numbers of indices differ",
     "sub main() { df x; set(1, x); set(2, x[0]); set(3, x[0][0]); show(\"a\", x); show(\"b\", x[0]); "
     "show(\"c\", x[0][0]); }",
     "a 1; b 2; c 3",
     {}},
    {"negative indices", "sub main() { df x; set(1, x[-3]); show(\"x\", x[2 - 5]); }", "x 1", {}},
    {"30 indices",
     "sub main() { df x; set(1, "
     "x[1][2][3][4][5][6][7][8][9][10][11][12][13][14][15][16][17][18][19][20][21][22][23][24][25][26][27]["
     "28][29][30]);"
     " show(\"x\", "
     "x[1][2][3][4][5][6][7][8][9][10][11][12][13][14][15][16][17][18][19][20][21][22][23][24][25][26][27]["
     "28][29][30]); }",
     "x 1",
     {}},
    {"an index that reads data",
     "sub main() { df x, i; set(2, i[1]); set(9, x[2]); show(\"x\", x[i[1]]); }",
     "x 9",
     {}},
    {"an output's index that reads data",
     "sub main() { df x, i; set(2, i); set(9, x[i]); show(\"x\", x[2]); }",
     "x 9",
     {}},
    {"a name argument keeps its index",
     "sub inner(name line) { set(5, line[1]); } sub main() { df grid; inner(grid[4]); show(\"g\", "
     "grid[4][1]); }",
     "g 5",
     {}},
    {"df makes new data fragments per iteration",
     "sub main() { for i=1..3 { df t; set(i, t); show(\"t\", t); } }",
     "t 1; t 2; t 3",
     {}},
    {"df makes new data fragments per call",
     "sub f(int i) { df t; set(i, t); show(\"t\", t); } sub main() { f(1); f(2); }",
     "t 1; t 2",
     {}},
    {"an inner name hides an outer one",
     "sub main() { df x; set(1, x); if 1 { df x; set(2, x); show(\"in\", x); } show(\"out\", x); }",
     "in 2; out 1",
     {}},
    {"the order of statements has no meaning",
     "sub main() { df x, y; show(\"y\", y); add(x, 1, y); set(1, x); }",
     "y 2",
     {}},
    {"a subroutine may come after its call",
     "sub main() { f(3); } sub f(int i) { show(\"i\", i); }",
     "i 3",
     {}},
    // statements
    {"for includes both ends", "sub main() { for i=2..4 show(\"i\", i); }", "i 2; i 3; i 4", {}},
    {"for is empty when first > last", "sub main() { for i=1..0 show(\"i\", i); nothing(); }", "nothing", {}},
    {"for bounds may be data",
     "sub main() { df n; set(2, n); for i=n..n + 1 show(\"i\", i); }",
     "i 2; i 3",
     {}},
    {"for up to the largest int",
     "sub main() { for i=2147483646..2147483647 show(\"i\", i); }",
     "i 2147483646; i 2147483647",
     {}},
    {"for of more iterations than a batch",
     "sub main() { df s; set(0, s[0]); for i=1..500 add(s[i - 1], i, s[i]); show(\"s\", s[500]); }",
     "s 125250",
     {}},
    {"while runs while its condition is true",
     "sub main() { df x, n; set(1, x[0]); while x[k] < 10, k=0..out n add(x[k], x[k], x[k + 1]); "
     "show(\"n\", n); }",
     "n 4",
     {}},
    {"while that is false at once",
     "sub main() { df n; while 0, k=5..out n nothing(); show(\"n\", n); }",
     "n 5",
     {}},
    {"while with a real condition",
     "sub main() { df n; while 0.0, k=5..out n nothing(); show(\"n\", n); }",
     "n 5",
     {}},
    {"while starts at a data fragment",
     "sub main() { df a, n; set(3, a); while k < 5, k=a..out n nothing(); show(\"n\", n); }",
     "n 5; nothing; nothing",
     {}},
    {"if with an int", "sub main() { if 2 nothing(); if 0 show(\"no\", 1); }", "nothing", {}},
    {"if with a real", "sub main() { if 0.5 nothing(); if 0.0 show(\"no\", 1); }", "nothing", {}},
    {"if with a string is an error",
     "sub main() { if \"yes\" nothing(); }",
     "",
     {"test.fa:1:14: error: a condition is an int or a real, \"yes\" is a string [SEM1]"}},
    {"let means its expression", "sub main() { df x; let y = x + 1 show(\"y\", y); set(4, x); }", "y 5", {}},
    {"let may mean a name", "sub main() { df x; let y = x[1] { set(3, y); show(\"y\", x[1]); } }", "y 3", {}},
    {"let is not caught by inner names",
     "sub main() { df x; set(1, x); let y = x + 1 { df x; set(5, x); show(\"y\", y); show(\"x\", x); } }",
     "x 5; y 2",
     {}},
    // expressions
    {"int division truncates",
     "sub main() { show(\"a\", 7 / 2); show(\"b\", -7 / 2); show(\"c\", -7 % 2); }",
     "a 3; b -3; c -1",
     {}},
    {"an int beside a real", "sub main() { show(\"a\", 1 / 2.0); }", "a 0.5", {}},
    {"comparisons give 0 or 1", "sub main() { show(\"a\", (1 < 2) + (2.5 >= 2) + (1 != 1)); }", "a 2", {}},
    {"and, or", "sub main() { show(\"a\", 2 && 0.5); show(\"b\", 0 || 0.0); }", "a 1; b 0", {}},
    {"?: takes the common type", "sub main() { show(\"a\", 1 ? 2 : 0.5); }", "a 2", {}},
    {"?: groups to the left", "sub main() { show(\"a\", 0 ? 1 : 1 ? 2 : 3); }", "a 2", {}},
    {"a fault in the branch that is not taken is none",
     "sub main() { df z; set(0, z); show(\"a\", z == 0 ? 5 : 1 / z); }",
     "a 5",
     {}},
    {"a left side that decides",
     "sub main() { df z; set(0, z); show(\"a\", z != 0 && 1 / z > 0); }",
     "a 0",
     {}},
    {"both sides are needed",
     "sub main() { df y; show(\"a\", 0 && y); }",
     "",
     {"test.fa:1:20: error: " + stuck + "Nobody writes y. [SEM3]"}},
    {"both branches are needed",
     "sub main() { df y; show(\"a\", 1 ? 2 : y); }",
     "",
     {"test.fa:1:20: error: " + stuck + "Nobody writes y. [SEM3]"}},
    {"strings are joined",
     "sub main() { df x; set(3, x); show(\"a\", \"x=\" + x); show(\"b\", \"r=\" + 1.5); }",
     "a \"x=3\"; b \"r=1.500000\"",
     {}},
    {"strings are compared", "sub main() { show(\"a\", (\"u\" == \"u\") + (\"u\" != \"v\")); }", "a 2", {}},
    {"other operators on strings",
     "sub main() { df s; sets(\"u\", s); show(\"a\", s >= \"v\"); }",
     "",
     {"test.fa:1:46: error: invalid operation on strings: >= [SEM1]"}},
    {"division by zero",
     "sub main() { df z; set(0, z); show(\"a\", 1 / z); }",
     "",
     {"test.fa:1:43: error: division by zero"}},
    {"overflow", "sub main() { show(\"a\", 2147483647 + 1); }", "", {"test.fa:1:35: error: int overflow"}},
    {"casts",
     "sub main() { takes(int(2.9), real(3), string(4)); takes(int(\"5\"), real(\"0.5\"), string(0.25)); }",
     "2 3 \"4\"; 5 0.5 \"0.250000\"",
     {}},
    {"a cast towards zero", "sub main() { show(\"a\", int(-2.9)); }", "a -2", {}},
    {"a cast out of range",
     "sub main() { show(\"a\", int(3000000000.0)); }",
     "",
     {"test.fa:1:24: error: 3000000000 is out of the range of int"}},
    {"a cast of what is no number",
     "sub main() { show(\"a\", int(\"12x\")); }",
     "",
     {"test.fa:1:24: error: \"12x\" is no int"}},
    // conversions of arguments
    {"int to real", "sub main() { df i; set(2, i); takes(1, i, \"\"); }", "1 2 \"\"", {}},
    {"a real formula to int", "sub main() { df r; setr(2.7, r); takes(r * 2, 0.0, \"\"); }", "5 0 \"\"", {}},
    {"a real data fragment to int",
     "sub main() { df r; setr(2.5, r); set(r, r[1]); }",
     "",
     {"test.fa:1:34: error: r has type real, wanted is int [SEM1]"}},
    {"a real parameter to int",
     "sub f(real r) { df y; set(r, y); } sub main() { f(1.5); }",
     "",
     {"test.fa:1:23: error: argument 1 of set has type real, wanted is int [SEM1]"}},
    {"int to string", "sub main() { takes(1, 0.0, 7); }", "1 0 \"7\"", {}},
    {"a real data fragment to string",
     "sub main() { df r; setr(2.5, r); takes(1, 0.0, r); }",
     "1 0 \"2.500000\"",
     {}},
    {"a real constant to string",
     "sub main() { takes(1, 0.0, 2.5); }",
     "",
     {"test.fa:1:14: error: argument 3 of takes has type real, wanted is string [SEM1]"}},
    {"string to int",
     "sub main() { df s; sets(\"1\", s); set(s, s[1]); }",
     "",
     {"test.fa:1:34: error: s has type string, wanted is int [SEM1]"}},
    {"a parameter of a structured subroutine is converted",
     "sub f(real r) { show(\"r\", r / 2); } sub main() { f(1); }",
     "r 0.5",
     {}},
    {"a value parameter of a structured subroutine",
     "sub f(value v) { show(\"v\", v); } sub main() { df x; block(8, x); f(x); }",
     "v a value of 8 bytes",
     {}},
    {"an index that is no int",
     "sub main() { df x; show(\"x\", x[0.5]); }",
     "",
     {"test.fa:1:30: error: an index of x is 0.5, a real, not an int [SEM1]"}},
    // what follows a fragment
    {">> sets y", "sub main() { df y; nothing() >> (y); show(\"y\", y); }", "nothing; y 1", {}},
    {">> at a structured fragment waits for all it created",
     "sub f() { for i=1..2 { g(i); } } sub g(int i) { show(\"g\", i); } sub main() { df y; f() >> (y); if "
     "y == 1 show(\"y\", y); }",
     "g 1; g 2; y 1",
     {}},
    {">> waits for what cannot run",
     "sub f(name x) { show(\"x\", x); } sub main() { df x, y; f(x) >> (y); show(\"y\", y); }",
     "",
     {"test.fa:1:17: error: the program cannot finish: 2 fragments wait. Nobody writes x. [SEM3]"}},
    {"--> deletes",
     "sub main() { df x, y; set(1, x); copy(x, y) --> (x); if y show(\"x\", x); }",
     "",
     {"test.fa:1:59: error: " + stuck + "x was deleted at test.fa:1:34. [SEM3.6]"}},
    {"delete at a structured fragment",
     "sub f(name x) { copy(x, x[1]); } sub main() { df x; set(1, x); f(x) >> (x[2]) @ { delete x; } if "
     "x[2] show(\"x\", x); }",
     "",
     {"test.fa:1:103: error: " + stuck + "x was deleted at test.fa:1:64. [SEM3.6]"}},
    {"the idiom of request and delete",
     "sub main() { df x; set(1, x); nothing() @ { request x; delete x; }; }",
     "nothing",
     {}},
    // recommendations
    {"copies on all ranks change nothing",
     "sub main() { df x, y; for i=0..9 set(i, x[i]) @ { locator_cyclic: i; }; for i=0..9 for j=0..9 "
     "add(x[j], i, y[i][j]) @ { locator_cyclic: i; }; for i=0..9 show(\"y\", y[i][9 - i]) @ { "
     "locator_cyclic: "
     "1; }; } @ { locator_replicating x => all; locator_cyclic x[i] => 2 * i; }",
     repeated("y 9", 10),
     {}},
    {"copies at distances that indices and parameters say",
     "sub f(name y, int n) { df x; for i=0..4 { block(i, x[i]) @ { locator_cyclic: 1; }; for j=0..4 "
     "copy(x[i], "
     "y[i][j]) @ { locator_cyclic: j; }; } } @ { locator_replicating x[i] => n - i; } sub main() { df y; "
     "f(y, "
     "4); for i=0..4 show(\"y\", y[i][4]); }",
     "y a value of 0 bytes; y a value of 1 bytes; y a value of 2 bytes; y a value of 3 bytes; y a value of 4 "
     "bytes",
     {}},
    {"copies of a value with a use count are not made, and its uses are counted",
     "sub main() { df x, y; set(7, x) @ { req_count x = 4; locator_cyclic: 1; }; for i=1..4 copy(x, y[i]) @ "
     "{ "
     "locator_cyclic: i; }; show(\"y\", y[1] + y[2] + y[3] + y[4]); } @ { locator_replicating x => all; }",
     "y 28",
     {}},
    {"copies are deleted with their value",
     "sub main() { df x, y, d; set(7, x) @ { locator_cyclic: 1; }; for i=0..4 copy(x, y[i]) @ { "
     "locator_cyclic: i; }; nothing() @ { request y[0], y[1], y[2], y[3], y[4], x; delete x; }; show(\"y\", "
     "y[4]); } @ { locator_replicating x => 2; }",
     "nothing; y 7",
     {}},
    {"nobody writes what there are to be copies of",
     "sub main() { df x, y; copy(x, y) @ { locator_cyclic: 3; }; show(\"z\", 1); } @ { locator_replicating x "
     "=> "
     "all; }",
     "z 1",
     {"test.fa:1:23: error: " + stuck + "Nobody writes x. [SEM3]"}},
    {"a value with copies is written once",
     "sub main() { df x, y; set(1, x) @ { locator_cyclic: 1; }; set(1, x) @ { locator_cyclic: 2; }; copy(x, "
     "y) @ "
     "{ locator_cyclic: 3; }; show(\"y\", y); } @ { locator_replicating x => all; }",
     "y 1",
     {"test.fa:1:59: error: x is written twice"}},
    {"locators change nothing",
     "sub main() { df x; for i=0..9 cf c[i]: set(i, x[i]) @ { locator_cyclic: -i; }; for i=0..9 "
     "show(\"x\", x[i]) @ { locator_cyclic: x[i]; };"
     " } @ { locator_cyclic x[i] => i * 3 - 7; locator_cyclic c[j] => j; }",
     "x 0; x 1; x 2; x 3; x 4; x 5; x 6; x 7; x 8; x 9",
     {}},
    {"request of what nobody writes",
     "sub main() { df x; nothing() @ { request x; }; }",
     "",
     {"test.fa:1:20: error: " + stuck + "Nobody writes x. [SEM3]"}},
    {"wait without a push", "sub main() { df x; set(1, x); nothing() @ { wait x; }; }", "nothing", {}},
    {"afterpush",
     "sub main() { df x; cf c[1]: copy(x, x[1]) @ { wait x; }; set(1, x) @ { afterpush x => c[1]; }; "
     "show(\"x\", x[1]); }",
     "x 1",
     {}},
    {"a push by one that does not write",
     "sub main() { df x, y; cf c[1]: copy(x, y) @ { wait x; }; copy(x, x[2]) @ { afterpush x => c[1]; }; "
     "set(1, x); show(\"y\", y + x[2]); } @ { locator_cyclic c[i] => i; }",
     "y 2",
     {}},
    {"a push is no use, who takes it is",
     "sub main() { df x, y; for i=0..4 set(i, x[i]) @ { req_count x[i] = 2; afterpush x[i] => c[i]; "
     "afterpush x[i] => d; }; for i=0..4 { cf c[i]: copy(x[i], y[i]) @ { wait x[i]; }; show(\"x\", x[i]); } "
     "cf d: show(\"d\", y[2]) @ { wait y[2]; }; } @ { locator_cyclic c[i] => 2 * i; }",
     "d 2; x 0; x 1; x 2; x 3; x 4",
     {}},
    {"two fragments of one label, two pushes, and waits for what is not pushed",
     "sub main() { df x, y, z; set(1, x) @ { afterpush x => c; }; set(2, y) @ { afterpush x => c; }; cf c: "
     "copy(x, z[1]) @ { wait x, y; }; cf c: copy(x, z[2]) @ { wait x; request y; }; "
     "show(\"z\", z[1] + z[2]); }",
     "z 2",
     {}},
    {"a push of a use too many",
     "sub main() { df x, y; set(1, x) @ { req_count x = 1; afterpush x => c; }; cf c: copy(x, y) @ { wait x; "
     "}; if y show(\"x\", x); }",
     "",
     {"test.fa:1:112: error: " + stuck +
      "The use count of x is exhausted, it is set at test.fa:1:37. [SEM3.5]"}},
    {"a use count that fits",
     "sub main() { df x; set(1, x) @ { req_count x = 2; }; copy(x, x[1]); copy(x, x[2]); show(\"x\", x[1] "
     "+ x[2]); }",
     "x 2",
     {}},
    {"one use more",
     "sub main() { df x, y; set(1, x) @ { req_count x = 1; }; copy(x, y); if y show(\"x\", x); }",
     "",
     {"test.fa:1:74: error: " + stuck +
      "The use count of x is exhausted, it is set at test.fa:1:37. [SEM3.5]"}},
    {"a fragment that names a value twice uses it once",
     "sub main() { df x, y; set(1, x) @ { req_count x = 1; }; add(x, x + x, y); show(\"y\", y); }",
     "y 3",
     {}},
    {"a while uses a value of its condition once",
     "sub main() { df n, m; set(3, n) @ { req_count n = 1; }; while k < n, k=0..out m nothing(); "
     "show(\"m\", m); }",
     "m 3; nothing; nothing; nothing",
     {}},
    {"a count that reads the fragment's own output",
     "sub main() { df x, y; set(2, x) @ { req_count x = x; }; copy(x, y); copy(x, y[1]); show(\"y\", y + "
     "y[1]); }",
     "y 4",
     {}},
    {"a count of 0",
     "sub main() { df x, y; set(1, x) >> (y) @ { req_count x = 0; }; if y show(\"x\", x); }",
     "",
     {"test.fa:1:69: error: " + stuck + "The use count of x is exhausted"}},
    {"a negative count",
     "sub main() { df x; set(1, x) @ { req_count x = -1; }; }",
     "",
     {"test.fa:1:34: error: the use count of x is -1"}},
    {"a count at a while's out name",
     "sub main() { df n, y; while k < 2, k=0..out n { nothing(); } @ { req_count n = 1; } copy(n, y); if y "
     "show(\"n\", n); }",
     "nothing; nothing",
     {"test.fa:1:102: error: " + stuck + "The use count of n is exhausted"}},
    {"nfparam",
     "sub f(int i) { show(\"i\", i) @ { locator_cyclic: r; }; } @ { nfparam r; } sub main() { f(1) @ { "
     "nfparam r => 5; }; }",
     "i 1",
     {}},
    {"stealable, unroll_at_once",
     "sub main() { for i=1..100 { nothing() @ { stealable; }; } @ { unroll_at_once; } }",
     repeated("nothing", 100),
     {}},
    // main
    {"words of main",
     "sub main(int i, real x, string s) { takes(i, x, s); }",
     "-3 0.5 \"a b\"",
     {},
     {"-3", "0.5", "a b"}},
    // errors at run time
    {"written twice",
     "sub main() { df x;\n set(1, x); set(2, x); }",
     "",
     {"test.fa:2:13: error: x is written twice [SEM2.1]"}},
    {"written twice by one fragment",
     "sub main() { df x; two(1, x, x); }",
     "",
     {"test.fa:1:20: error: x is written twice [SEM2.1]"}},
    {"an output that is not set",
     "sub main() { df x; unset(x[3]); nothing(); }",
     "nothing",
     {"test.fa:1:20: error: unset has not set its output x[3]"}},
    {"a body that throws",
     "sub main() { df x; fails(1, x); nothing(); show(\"x\", x); }",
     "nothing",
     {"test.fa:1:20: error: fails failed: no luck"}},
    {"what does not depend on the fault runs",
     "sub main() { df x, y; show(\"x\", x); show(\"y\", y); set(1, y); }",
     "y 1",
     {"test.fa:1:23: error: " + stuck + "Nobody writes x. [SEM3]"}},
    {"a cycle",
     "sub main() { df a, b;\n copy(a, b); copy(b, a); show(\"a\", a); }",
     "",
     {"test.fa:2:2: error: the program cannot finish: 3 fragments wait. cycle: these fragments wait for "
      "each other. [SEM3]"}},
    {"a fragment that waits for itself",
     "sub main() { df a; copy(a, a); }",
     "",
     {"test.fa:1:20: error: " + stuck + "cycle"}},
    {"recursion without end",
     "sub f(int i) { f(i + 1); } sub main() { f(0); }",
     "",
     {"test.fa:1:16: error: calls are nested more than 10000 deep [SEM8]"}},
    {"value& may be changed, others keep theirs",
     "sub main() { df x, y; block(1, x); change(x, y); join(\"x\" + 1, \"y\", x[1]); show(\"x\", x[1]); "
     "show(\"y\", y); }",
     "x \"x1y\"; y a value of 1 bytes",
     {}},
};

/// Whether the row is a mistake whose outcome depends on chance on ranks: a fragment whose outputs are there
/// deletes something only then, so that a reader that waited for these outputs may come before or after.
inline bool left_to_chance(const Meaning& row) {
  return !row.errors.empty() && row.errors[0].find(" was deleted ") != std::string::npos;
}

/// Compares errors with those of a row.
inline void check_errors(const Meaning& row, const fragments::Ending& ending) {
  REQUIRE_MESSAGE(ending.errors.size() == row.errors.size(),
                  fmt::format("{}", fmt::join(ending.errors, "\n")));
  for (std::size_t i = 0; i < row.errors.size(); ++i)
    CHECK(ending.errors[i].substr(0, row.errors[i].size()) == row.errors[i]);
}

}  // namespace tailrace::test
