// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "described_programs.hpp"

namespace tailrace::test::described {

/// The same: how long values live, where fragments run, and faults.
inline const std::vector<Described> lifetimes = {
    {"a use count: one fragment that names a value twice is one use",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x"), y = s.data<int>("y");
       s.call(b.set).with(21).into(x).reads(x, 1);
       s.call(b.add).with(x, x).into(y).reads(y, 1);
       s.call(b.show).with(T("y"), y);
     },
     "y 42",
     {},
     0},
    {"a use count: each fragment of a loop counts",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(6).into(x).reads(x, 3);
       s.for_each(1, 3, [&](S& t, const I& i) { t.call(b.show).with(T("x"), x + i); });
     },
     "x 7; x 8; x 9",
     {},
     0},
    {"a use count: a bound is a use of the loop, a condition of the if",
     [](S& s, const B& b) {
       const auto n = s.data<int>("n");
       s.call(b.set).with(2).into(n).reads(n, 2);
       s.for_each(1, n, [&](S& t, const I& i) { t.call(b.show).with(T("i"), i); });
       s.when(n == 2, [&](S& t) { t.call(b.nothing).with(); });
     },
     "i 1; i 2; nothing",
     {},
     0},
    {"a use count: that of a condition of while, at each index",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x"), last = s.data<int>("last");
       s.call(b.set).with(3).into(x[0]).reads(x[0], 2);
       s.repeat_while(
           last, 0, [&](const I& k) { return x[k] > 0; },
           [&](S& t, const I& k) {
             t.call(b.add).with(x[k], -1).into(x[k + 1]).reads(x[k + 1], 1 + (k < 2));
           });
       s.call(b.show).with(T("last"), last);
     },
     "last 3",
     {},
     0},
    {"a use count that reads data",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x"), n = s.data<int>("n");
       s.call(b.set).with(2).into(n);
       s.call(b.set).with(5).into(x).reads(x, n);
       s.for_each(1, 2, [&](S& t, const I&) { t.call(b.show).with(T("x"), x); });
     },
     "x 5; x 5",
     {},
     1},
    {"a use count that reads the output itself",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(2).into(x).reads(x, x);
       s.for_each(1, 2, [&](S& t, const I&) { t.call(b.show).with(T("x"), x); });
     },
     "x 2; x 2",
     {},
     0},
    {"a use count of 0 deletes at once",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(2).into(x).reads(x, 0);
     },
     "",
     {},
     0},
    {"a use count below 0 is an error",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(2).into(x).reads(x, -1);
     },
     "",
     {"-1"}},
    {"one use more than counted is an error",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(2).into(x).reads(x, 1);
       s.for_each(1, 2, [&](S& t, const I&) { t.call(b.half).with(x).into(t.data<int>("y")); });
     },
     "",
     {"xhausted"}},
    {"fewer uses than counted leave the value",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(2).into(x).reads(x, 3);
       s.call(b.show).with(T("x"), x);
     },
     "x 2",
     {},
     1},
    {"then_delete: after the fragment has run",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(2).into(x);
       s.call(b.show).with(T("x"), x).then_delete(x);
     },
     "x 2",
     {},
     0},
    {"without counts values stay",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.for_each(1, 9, [&](S& t, const I& i) { t.call(b.set).with(i).into(x[i]); });
     },
     "",
     {},
     9},
    {"no count is needed where the scope of a name has all of its readers",
     [](S& s, const B& b) {
       s.for_each(1, 3, [&](S& t, const I& i) {
         const auto x = t.data<int>("x"), y = t.data<int>("y");
         t.call(b.set).with(i).into(x).on(i);
         t.call(b.half).with(x).into(y).on(i + 1);
         t.call(b.show).with(T("xy"), x * 10 + y).on(i + 2);
       });
     },
     "xy 10; xy 21; xy 31",
     {},
     0},
    {"a name that is read within a loop stays",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(4).into(x);
       s.for_each(1, 2, [&](S& t, const I& i) { t.call(b.show).with(T("x"), x + i).on(i); });
     },
     "x 5; x 6",
     {},
     1},
    {"each output of a body has its own count",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x"), y = s.data<int>("y");
       s.call(b.two).with(4).into(x[0], y[0]).reads(x[0], 1).reads(y[0], 2);
       s.call(b.show).with(T("x"), x[0]);
       s.call(b.show).with(T("y"), y[0]);
       s.call(b.show).with(T("z"), y[0] - 1);
     },
     "x 4; y -4; z -5",
     {},
     0},
    {"then_delete: several names, each after its own fragment",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.for_each(0, 4, [&](S& t, const I& i) {
         t.call(b.set).with(i).into(x[i]).on(i);
         t.call(b.show).with(T("x"), x[i]).on(i + 1).then_delete(x[i]);
       });
     },
     "x 0; x 1; x 2; x 3; x 4",
     {},
     0},
    {"a block whose last reader is elsewhere",
     [](S& s, const B& b) {
       const auto x = s.data<Bytes>("x");
       s.call(b.block).with(100'000).into(x[0]).reads(x[0], 1).on(0);
       s.for_each(1, 5,
                  [&](S& t, const I& i) { t.call(b.pass).with(x[i - 1]).into(x[i]).reads(x[i], 1).on(i); });
       s.call(b.size).with(T("x"), x[5]);
     },
     "x 100000",
     {},
     0},
    {"on: any int is a rank, negative ones too",
     [](S& s, const B& b) {
       s.for_each(-8, 8, [&](S& t, const I& i) {
         t.call(b.nothing).with().on(i);
         t.when(i == 8, [&](S& u) { u.call(b.show).with(T("i"), i).on(0 - i); });
       });
     },
     "i 8; " +
         [] {
           std::string all = "nothing";
           for (int i = 0; i < 16; ++i) all += "; nothing";
           return all;
         }()},
    {"on: a rank that is read from data",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.show).with(T("x"), x).on(x);
       s.call(b.set).with(5).into(x);
     },
     "x 5"},
    {"stealable bodies, and loops that unfold elsewhere",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.for_each(1, 40,
                  [&](S& t, const I& i) {
                    t.call(b.add).with(x[i - 1], i).into(x[i]).on(0).stealable().reads(x[i], 1);
                  })
           .on(1)
           .stealable();
       s.call(b.set).with(0).into(x[0]).reads(x[0], 1);
       s.call(b.show).with(T("x"), x[40]);
     },
     "x 820",
     {},
     0},
    {"a sum of reals in a fixed order",
     [](S& s, const B& b) {
       const auto x = s.data<double>("x"), sum = s.data<double>("sum");
       s.call(b.setr).with(0.0).into(sum[0]);
       s.for_each(1, 100, [&](S& t, const I& i) {
         t.call(b.setr).with(1.0 / (i * 3)).into(x[i]);
         t.call(b.sum).with(sum[i - 1], x[i]).into(sum[i]);
       });
       s.call(b.showr).with(T("sum"), sum[100]);
     },
     [] {
       double sum = 0;
       for (int i = 1; i <= 100; ++i) sum += 1.0 / (i * 3);
       return fmt::format("sum {}", sum);
     }()},
    {"a name that nobody writes",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.for_each(0, 2, [&](S& t, const I& i) { t.call(b.set).with(i).into(x[i]); });
       s.call(b.show).with(T("x"), x[3]);
     },
     "",
     {"Nobody writes x[3]"}},
    {"a cycle",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.for_each(0, 3, [&](S& t, const I& i) { t.call(b.half).with(x[(i + 3) % 4]).into(x[i]).on(i); });
     },
     "",
     {"cycle"}},
    {"a name that is written twice",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(1).into(x[0]);
       s.call(b.set).with(1).into(x[0]);
     },
     "",
     {"x[0] is written twice"}},
    {"an exception of a body, beside what does not depend on it",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.fails).with(1).into(x);
       s.call(b.show).with(T("x"), x);
       s.call(b.nothing).with();
     },
     "nothing",
     {"no luck"}},
    {"a fragment that waits for itself",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.half).with(x[1]).into(x[1]);
     },
     "",
     {"cycle"}},
    {"a name that one fragment writes twice",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.two).with(1).into(x[2], x[2]);
     },
     "",
     {"x[2] is written twice"}},
    {"an int that is too large",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(2147483647).into(x);
       s.call(b.show).with(T("x"), x + 1);
     },
     "",
     {"overflow"}},
    {"the remainder of a division by zero",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(0).into(x);
       s.call(b.show).with(T("x"), 7 % x);
     },
     "",
     {"zero"}},
    {"a division by zero",
     [](S& s, const B& b) {
       const auto x = s.data<int>("x");
       s.call(b.set).with(0).into(x);
       s.call(b.show).with(T("x"), 1 / x);
     },
     "",
     {"zero"}}};

/// All of them.
inline std::vector<Described> all() {
  auto rows = statements;
  rows.insert(rows.end(), lifetimes.begin(), lifetimes.end());
  return rows;
}

}  // namespace tailrace::test::described
