// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "described.hpp"

namespace tailrace::test::described {

/// One row per sentence of the meaning that a description in C++ can say: values, names, statements and
/// expressions.
inline const std::vector<Described> statements = {
    {"an int",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(7).into(x);
       s.call(b.show).with(T("x"), x);
     },
     "x 7"},
    {"a real",
     [](S& s, const B& b) {
       const auto x = s.data<double>("x");
       s.call(b.setr).with(0.1).into(x);
       s.call(b.showr).with(T("x"), x);
     },
     "x 0.1"},
    {"a string",
     [](S& s, const B& b) {
       const auto x = s.data<std::string>("x");
       s.call(b.sets).with(T("a \"b\"\n")).into(x);
       s.call(b.shows).with(T("x"), x);
     },
     "x a \"b\"\n"},
    {"a block, and one without bytes",
     [](S& s, const B& b) {
       const auto x = s.data<Bytes>("x");
       s.call(b.block).with(24).into(x[1]);
       s.call(b.block).with(0).into(x[2]);
       s.call(b.size).with(T("one"), x[1]);
       s.call(b.size).with(T("two"), x[2]);
     },
     "one 24; two 0"},
    {"a block that is handed on",
     [](S& s, const B& b) {
       const auto x = s.data<Bytes>("x");
       s.call(b.block).with(100'000).into(x[0]).reads(x[0], 1);
       s.for_each(1, 5,
                  [&](S& t, const I& i) { t.call(b.pass).with(x[i - 1]).into(x[i]).reads(x[i], 1).on(i); });
       s.call(b.size).with(T("x"), x[5]);
     },
     "x 100000",
     {},
     0},
    {"names with other numbers of indices differ",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(1).into(x);
       s.call(b.set).with(2).into(x[0]);
       s.call(b.set).with(3).into(x[0][0]);
       s.call(b.show).with(T("a"), x);
       s.call(b.show).with(T("b"), x[0]);
       s.call(b.show).with(T("c"), x[0][0]);
     },
     "a 1; b 2; c 3"},
    {"negative indices",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.for_each(2, 2, [&](S& t, const I& i) { t.call(b.set).with(i).into(x[i - 5]); });
       s.call(b.show).with(T("x"), x[-3]);
     },
     "x 2"},
    {"nine indices",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       const auto at = x[1][2][3][4][5][6][7][8][9];
       s.call(b.set).with(9).into(at);
       s.call(b.show).with(T("x"), at);
     },
     "x 9"},
    {"an index that reads data, also one with an index",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x"), i = s.data<int>("i");
       s.call(b.set).with(2).into(i[1]);
       s.call(b.set).with(9).into(x[2]);
       s.call(b.show).with(T("x"), x[I(i[1])]);
     },
     "x 9"},
    {"an output's index that reads data",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x"), i = s.data<int>("i");
       s.call(b.set).with(2).into(i);
       s.call(b.set).with(9).into(x[I(i)]);
       s.call(b.show).with(T("x"), x[2]);
     },
     "x 9"},
    {"data of a loop are new in each iteration",
     [](S& s, const B& b) {
       s.for_each(1, 3, [&](S& t, const I& i) {
         const auto x = t.data<int>("x");
         t.call(b.set).with(i).into(x);
         t.call(b.show).with(T("x"), x);
       });
     },
     "x 1; x 2; x 3"},
    {"two names of the same text are different data",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x"), y = s.data<int>("x");
       s.call(b.set).with(1).into(x);
       s.call(b.set).with(2).into(y);
       s.call(b.show).with(T("x"), x);
       s.call(b.show).with(T("y"), y);
     },
     "x 1; y 2"},
    {"the order of calls has no meaning",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x"), y = s.data<int>("y");
       s.call(b.show).with(T("y"), y);
       s.call(b.add).with(x, 1).into(y);
       s.call(b.set).with(1).into(x);
     },
     "y 2"},
    {"a body with two outputs",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x"), y = s.data<int>("y");
       s.call(b.two).with(4).into(x, y);
       s.call(b.show).with(T("x"), x);
       s.call(b.show).with(T("y"), y);
     },
     "x 4; y -4"},
    {"a body without inputs and outputs",
     [](S& s, const B& b) { s.for_each(1, 3, [&](S& t, const I&) { t.call(b.nothing).with(); }); },
     "nothing; nothing; nothing"},
    {"both ends of a loop are in it",
     [](S& s, const B& b) { s.for_each(-1, 1, [&](S& t, const I& i) { t.call(b.show).with(T("i"), i); }); },
     "i -1; i 0; i 1"},
    {"a loop whose first is above its last is empty",
     [](S& s, const B& b) {
       s.for_each(2, 1, [&](S& t, const I& i) { t.call(b.show).with(T("i"), i); });
       s.call(b.nothing).with();
     },
     "nothing"},
    {"a loop of one",
     [](S& s, const B& b) { s.for_each(5, 5, [&](S& t, const I& i) { t.call(b.show).with(T("i"), i); }); },
     "i 5"},
    {"bounds that read data, and loops inside loops",
     [](S& s, const B& b) {
       const auto n = s.data<int>("n");
       s.for_each(1, n, [&](S& t, const I& i) {
         t.for_each(i, I(n), [&](S& u, const I& j) { u.call(b.show).with(T("ij"), i * 10 + j); });
       });
       s.call(b.set).with(2).into(n);
     },
     "ij 11; ij 12; ij 22"},
    {"while: its output is the first index without, and bodies may overlap",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x"), last = s.data<int>("last");
       s.call(b.set).with(1).into(x[0]);
       s.repeat_while(
           last, 0, [&](const I& k) { return x[k] < 20; },
           [&](S& t, const I& k) { t.call(b.add).with(x[k], x[k]).into(x[k + 1]); });
       s.call(b.show).with(T("last"), last);
       s.call(b.show).with(T("x"), x[I(last)]);
     },
     "last 5; x 32"},
    {"while: false at once",
     [](S& s, const B& b) {
       const auto last = s.data<int>("last");
       s.repeat_while(
           last, 7, [](const I& k) { return k < 3; }, [&](S& t, const I&) { t.call(b.nothing).with(); });
       s.call(b.show).with(T("last"), last);
     },
     "last 7"},
    {"if: what is not 0 holds",
     [](S& s, const B& b) {
       for (const int value : {0, 1, -2})
         s.when(value, [&](S& t) { t.call(b.show).with(T("holds"), value); });
     },
     "holds -2; holds 1"},
    {"if: a condition that reads data",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(3).into(x);
       s.when(x > 2, [&](S& t) { t.call(b.show).with(T("large"), x); });
       s.when(x > 3, [&](S& t) { t.call(b.show).with(T("larger"), x); });
     },
     "large 3"},
    {"ints divide towards zero, and have a remainder of the sign of the first",
     [](S& s, const B& b) {
       s.for_each(-7, -7, [&](S& t, const I& i) {
         t.call(b.show).with(T("quotient"), i / 2);
         t.call(b.show).with(T("rest"), i % 2);
       });
     },
     "quotient -3; rest -1"},
    {"an int beside a real becomes a real",
     [](S& s, const B& b) {
       const auto x = s.data<double>("x");
       s.for_each(3, 3, [&](S& t, const I& i) { t.call(b.setr).with(i / 2.0).into(x); });
       s.call(b.showr).with(T("x"), x + 1);
     },
     "x 2.5"},
    {"comparisons and logic give 0 or 1",
     [](S& s, const B& b) {
       s.for_each(3, 3, [&](S& t, const I& i) {
         t.call(b.show).with(T("sum"), (i < 4) + (i <= 3) + (i > 3) + (i >= 3) + (i == 3) + (i != 3));
         t.call(b.show).with(T("both"), i > 2 && i < 9);
         t.call(b.show).with(T("one"), i > 5 || i < 0);
       });
     },
     "both 1; one 0; sum 4"},
    {"both sides of && are needed",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x"), y = s.data<int>("y");
       s.call(b.set).with(0).into(x);
       s.call(b.show).with(T("both"), x && y);
     },
     "",
     {"Nobody writes y"}},
    {"an expression of data as an argument",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.for_each(1, 3, [&](S& t, const I& i) { t.call(b.set).with(i * i).into(x[i]); });
       s.call(b.show).with(T("x"), x[1] + x[2] * x[3]);
     },
     "x 37"},
    {"a loop up to the largest int",
     [](S& s, const B& b) {
       s.for_each(2147483646, 2147483647, [&](S& t, const I& i) { t.call(b.show).with(T("i"), i); });
     },
     "i 2147483646; i 2147483647"},
    {"a loop of more iterations than are unfolded at once",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(0).into(x[0]);
       s.for_each(1, 300, [&](S& t, const I& i) { t.call(b.add).with(x[i - 1], i).into(x[i]); });
       s.call(b.show).with(T("x"), x[300]);
     },
     "x 45150"},
    {"while: starts at a value of data",
     [](S& s, const B& b) {
       const auto first = s.data<int>("first"), last = s.data<int>("last");
       s.repeat_while(
           last, first, [](const I& k) { return k < 5; }, [&](S& t, const I&) { t.call(b.nothing).with(); });
       s.call(b.set).with(3).into(first);
       s.call(b.show).with(T("last"), last);
     },
     "last 5; nothing; nothing"},
    {"while: inside a loop each has an output of its own",
     [](S& s, const B& b) {
       const auto last = s.data<int>("last");
       s.for_each(0, 2, [&](S& t, const I& i) {
         t.repeat_while(
             last[i], 0, [&](const I& k) { return k < i; },
             [&](S& u, const I& k) { u.call(b.show).with(T("ik"), i * 10 + k); });
         t.call(b.show).with(T("last"), last[i]);
       });
     },
     "ik 10; ik 20; ik 21; last 0; last 1; last 2"},
    {"data of an if are new in it, and may have an outer name",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(1).into(x);
       s.when(x == 1, [&](S& t) {
         const auto inner = t.data<int>("x");
         t.call(b.set).with(2).into(inner);
         t.call(b.show).with(T("in"), inner);
       });
       s.call(b.show).with(T("out"), x);
     },
     "in 2; out 1"},
    {"an int as an argument of a real",
     [](S& s, const B& b) {
       const auto i = s.data<int>("i");
       const auto x = s.data<double>("x");
       s.call(b.set).with(3).into(i);
       s.call(b.setr).with(i * 1.0).into(x);
       s.call(b.showr).with(T("x"), x / 2);
     },
     "x 1.5"}};

}  // namespace tailrace::test::described
