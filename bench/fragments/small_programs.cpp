// SPDX-License-Identifier: BSD-3-Clause
#include "small_programs.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/system.hpp"
#include "heap.hpp"

namespace tailrace::bench {

using namespace fragments;

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// Describes the end of a chain, which checks its value.
void add_end(Program& program, Scope& main, const Data<int>& last, const Int& n) {
  const auto end = program.atomic(
      "end", [](int value, int wanted) { require(value == wanted, "a fragment was left out"); });
  main.call(end).with(last, n);
}

auto first_body(Program& program) {
  return program.atomic("first", [] { return 0; });
}
auto next_body(Program& program) {
  return program.atomic("next", [](int value) { return value + 1; });
}

}  // namespace

Program chain(bool alternates) {
  Program program("chain");
  program.main<int>([&](Scope& main, const Int& n) {
    const auto x = main.data<int>("x");
    main.call(first_body(program)).into(x[0]).reads(x[0], 1);
    main.for_each(1, n, [&](Scope& one, const Int& i) {
      auto call = one.call(next_body(program)).with(x[i - 1]).into(x[i]).reads(x[i], 1);
      if (alternates) call.on(i);
    });
    add_end(program, main, x[n], n);
  });
  return program;
}

Program remote_values() {
  Program program("remote values");
  program.main<int>([&](Scope& main, const Int& n) {
    const auto x = main.data<int>("x");
    main.call(first_body(program)).into(x[0][1]).on(0).reads(x[0][1], 1);
    main.for_each(1, n, [&](Scope& one, const Int& i) {
      one.call(next_body(program)).with(x[i - 1][1]).into(x[i][1]).on(0).reads(x[i][1], 1);
    });
    add_end(program, main, x[n][1], n);
  });
  return program;
}

Program independent() {
  Program program("independent fragments");
  program.main<int>([&](Scope& main, const Int& n) {
    const auto x = main.data<int>("x");
    const auto eat = program.atomic("eat", [](int value) { require(value == 0, "a wrong value"); });
    main.call(first_body(program)).into(x);
    main.for_each(1, n, [&](Scope& one, const Int& /*i*/) { one.call(eat).with(x); });
  });
  return program;
}

Program stencil() {
  Program program("stencil");
  const auto next = program.atomic("next", [](int left, int here, int right) {
    require(left == here && here == right, "a wrong value");
    return here + 1;
  });
  const auto end = program.atomic("end", [](int left, int here, int right, int wanted) {
    require(left == wanted && here == wanted && right == wanted, "a step was left out");
  });
  program.main<int>([&](Scope& main, const Int& n) {
    const auto x = main.data<int>("x");
    const auto first = first_body(program);
    const auto beside = [](const Int& point, int by) { return (point + by) % ring_points; };
    main.for_each(0, ring_points - 1,
                  [&](Scope& one, const Int& i) { one.call(first).into(x[0][i]).reads(x[0][i], 3); });
    main.for_each(1, n, [&](Scope& step, const Int& k) {
      step.for_each(0, ring_points - 1, [&](Scope& one, const Int& i) {
        one.call(next)
            .with(x[k - 1][beside(i, ring_points - 1)], x[k - 1][i], x[k - 1][beside(i, 1)])
            .into(x[k][i])
            .reads(x[k][i], 3);
      });
    });
    main.for_each(0, ring_points - 1, [&](Scope& one, const Int& i) {
      one.call(end).with(x[n][beside(i, ring_points - 1)], x[n][i], x[n][beside(i, 1)], n);
    });
  });
  return program;
}

Program matrix_product() {
  Program program("matrix product");
  const auto entry = program.atomic("entry", [](int i, int j) { return i + j; });
  const auto zero = program.atomic("zero", [] { return 0; });
  const auto add = program.atomic("add", [](int a, int b, int c) { return c + a * b; });
  const auto take = program.atomic("take", [](int c) { require(c >= 0, "a wrong value"); });
  program.main<int>([&](Scope& main, const Int& n) {
    const auto a = main.data<int>("a"), b = main.data<int>("b"), c = main.data<int>("c");
    main.for_each(0, n - 1, [&](Scope& row, const Int& i) {
      row.for_each(0, n - 1, [&](Scope& one, const Int& j) {
        one.call(entry).with(i, j).into(a[i][j]).reads(a[i][j], n);
        one.call(entry).with(i, j).into(b[i][j]).reads(b[i][j], n);
        one.call(zero).into(c[i][j][0]).reads(c[i][j][0], 1);
        one.for_each(1, n, [&](Scope& each, const Int& k) {
          each.call(add).with(a[i][k - 1], b[k - 1][j], c[i][j][k - 1]).into(c[i][j][k]).reads(c[i][j][k], 1);
        });
        one.call(take).with(c[i][j][n]);
      });
    });
  });
  return program;
}

Program structured() {
  Program program("structured fragments");
  program.main<int>([&](Scope& main, const Int& n) {
    main.for_each(1, n, [&](Scope& one, const Int& i) { one.when(i < 0, [](Scope& /*nothing*/) {}); });
  });
  return program;
}

Program blocks(bool counts_uses) {
  Program program("blocks");
  const auto eat = program.atomic("eat", [](int value) { require(value == 0, "a wrong value"); });
  program.main<int>([&](Scope& main, const Int& n) {
    const auto first = first_body(program);
    main.for_each(1, n, [&](Scope& block, const Int& i) {
      const auto x = block.data<int>("x");
      auto call = block.call(first).into(x[i]);
      if (counts_uses) call.reads(x[i], 1);
      block.call(eat).with(x[i]);
    });
  });
  return program;
}

namespace {

/// Works for so many microseconds of the processor's time.
void work_us(int us) {
  const double until_s = thread_cpu_s() + 1e-6 * us;
  while (thread_cpu_s() < until_s) {
  }
}

}  // namespace

Unbalanced unbalanced_tree() {
  constexpr int branches = 40, each_us = 200;
  Unbalanced unbalanced{Program("unbalanced tree")};
  const auto leaf = unbalanced.program.atomic("leaf", [] { work_us(each_us); });
  unbalanced.program.main([&](Scope& main) {
    main.for_each(1, branches, [&](Scope& branch, const Int& i) {
      branch.for_each(1, i * i / branches, [&](Scope& one, const Int& /*j*/) { one.call(leaf); });
    });
  });
  for (int i = 1; i <= branches; ++i) unbalanced.work_s += 1e-6 * each_us * (i * i / branches);
  return unbalanced;
}

Unbalanced unbalanced_graph() {
  constexpr int points = 16, steps = 60, each_us = 30, ranks = 2;
  Unbalanced unbalanced{Program("unbalanced graph")};
  auto& program = unbalanced.program;
  const auto first = program.atomic("first", [] { return 0; });
  const auto next = program.atomic("next", [](int point, int left, int here, int right) {
    require(left == here && here == right, "a wrong value");
    work_us(each_us * (point + 1));
    return here + 1;
  });
  program.main([&](Scope& main) {
    const auto x = main.data<int>("x");
    const auto rank_of = [](int point) { return point * ranks / points; };
    const auto slot = [&](int point) { return point * ranks + rank_of(point); };
    for (int point = 0; point < points; ++point) {
      const int rank = rank_of(point);
      const int left = slot(std::max(point - 1, 0)), right = slot(std::min(point + 1, points - 1));
      main.call(first).into(x[0][slot(point)]).on(rank);
      main.for_each(1, steps,
                    [&](Scope& one, const Int& k) {
                      one.call(next)
                          .with(point, x[k - 1][left], x[k - 1][slot(point)], x[k - 1][right])
                          .into(x[k][slot(point)])
                          .on(rank)
                          .stealable();
                    })
          .on(rank);
      unbalanced.work_s += 1e-6 * each_us * (point + 1) * steps;
    }
  });
  return unbalanced;
}

namespace {

auto before_body(Program& program, Seen& seen) {
  return program.atomic("before", [&seen](int n) {
    seen.fragments = 0;
    seen.heap_before = heap_bytes();
    return n;
  });
}
/// The heap when exactly so many fragments have run.
auto look_body(Program& program, Seen& seen, bool all_have_run) {
  return program.atomic("look", [&seen, all_have_run](int n) {
    require(seen.fragments == (all_have_run ? n : 0), "the heap was looked at too early or too late");
    seen.heap_full = heap_bytes();
    return n;
  });
}

}  // namespace

Program waiting(Seen& seen, bool own_names) {
  Program program("waiting fragments");
  const auto pair = program.atomic("pair", [&seen](double a, double b) {
    require(a == b, "a wrong value");
    ++seen.fragments;
  });
  const auto make = program.atomic("make", [] { return 1.0; });
  program.main<int>([&](Scope& main, const Int& n) {
    const auto a = main.data<double>("a"), b = main.data<double>("b");
    const auto count = main.data<int>("count"), go = main.data<int>("go");
    main.call(before_body(program, seen)).with(n).into(count);
    main.for_each(1, count, [&](Scope& one, const Int& i) {
      one.call(pair).with(a[own_names ? i : Int(0)], b[own_names ? i : Int(0)]);
      one.when(i == n, [&](Scope& end) { end.call(look_body(program, seen, false)).with(n).into(go); });
    });
    main.for_each(own_names ? Int(1) : Int(0), own_names ? Int(go) : go - n,
                  [&](Scope& one, const Int& i) { one.call(make).into(a[i]), one.call(make).into(b[i]); });
  });
  return program;
}

Program blocks_over(Seen& seen) {
  Program program("blocks that are over");
  const auto make = program.atomic("make", [&seen] {
    ++seen.fragments;
    return 1.0;
  });
  program.main<int>([&](Scope& main, const Int& n) {
    const auto count = main.data<int>("count"), go = main.data<int>("go");
    main.call(before_body(program, seen)).with(n).into(count);
    main.for_each(1, count, [&](Scope& block, const Int& i) {
      const auto x = block.data<double>("x");
      block.call(make).into(x[i]);
      block.when(i == n, [&](Scope& end) { end.call(look_body(program, seen, true)).with(n).into(go); });
    });
  });
  return program;
}

Program live_reals(Seen& seen) {
  Program program("live reals");
  const auto make = program.atomic("make", [&seen] {
    ++seen.fragments;
    return 1.0;
  });
  program.main<int>([&](Scope& main, const Int& n) {
    const auto x = main.data<double>("x");
    const auto count = main.data<int>("count"), go = main.data<int>("go");
    main.call(before_body(program, seen)).with(n).into(count);
    main.for_each(1, count, [&](Scope& one, const Int& i) {
      one.call(make).into(x[i]);
      one.when(i == n, [&](Scope& end) { end.call(look_body(program, seen, true)).with(n).into(go); });
    });
  });
  return program;
}

/// A body that works on the last rank.
static void add_body(Program& program, Scope& main, Seen& seen, double seconds) {
  const auto work = program.atomic("work", [&seen, seconds] {
    const double until_s = monotonic_s() + seconds;
    while (monotonic_s() < until_s) {
    }
    seen.ended_s = monotonic_s();
  });
  main.call(work).on(-1);
}

Program one_body(Seen& seen, double seconds) {
  Program program("one body");
  program.main([&](Scope& main) { add_body(program, main, seen, seconds); });
  return program;
}

Program never_ends(Seen& seen, double seconds, bool cycle) {
  constexpr int members = 10;
  Program program("a program that cannot finish");
  program.main<int>([&](Scope& main, const Int& n) {
    add_body(program, main, seen, seconds);
    const auto x = main.data<int>("x");
    const auto next = next_body(program);
    main.for_each(cycle ? 1 : 0, n, [&](Scope& one, const Int& i) {
      one.call(next).with(x[cycle ? i - 1 : i + 1]).into(x[i]);
    });
    if (cycle) main.call(next).with(x[members - 1]).into(x[0]);
  });
  return program;
}

}  // namespace tailrace::bench
