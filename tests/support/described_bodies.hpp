// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <tuple>

#include "../unit/fragments_bodies.hpp"
#include "tailrace/fragments/program.hpp"

namespace tailrace::test {

/// The bodies of programs that are described in C++.
struct DescribedBodies {
  using Bytes = fragments::Block<char>;
  template <class... In>
  using Ins = std::tuple<In...>;

  DescribedBodies(fragments::Program& program, Printed& printed)
      : set(program.atomic("set", [](int v) { return v; })),
        setr(program.atomic("setr", [](double v) { return v; })),
        sets(program.atomic("sets", [](const std::string& v) { return v; })),
        add(program.atomic("add", [](int a, int b) { return a + b; })),
        sum(program.atomic("sum", [](double a, double b) { return a + b; })),
        half(program.atomic("half", [](int v) { return v / 2; })),
        two(program.atomic("two", [](int v) { return std::tuple(v, -v); })),
        fails(program.atomic("fails", [](int) -> int { throw std::runtime_error("no luck"); })),
        block(program.atomic("block", [](int n) { return Bytes(static_cast<std::size_t>(n)); })),
        pass(program.atomic("pass", [](const Bytes& v) { return v; })),
        nothing(program.atomic("nothing", [&printed] { printed.add("nothing"); })),
        show(program.atomic("show", [&printed](const std::string& what,
                                               int v) { printed.add(fmt::format("{} {}", what, v)); })),
        showr(program.atomic("showr", [&printed](const std::string& what,
                                                 double v) { printed.add(fmt::format("{} {}", what, v)); })),
        shows(program.atomic("shows",
                             [&printed](const std::string& what, const std::string& v) {
                               printed.add(fmt::format("{} {}", what, v));
                             })),
        size(program.atomic("size", [&printed](const std::string& what, const Bytes& v) {
          printed.add(fmt::format("{} {}", what, v.size()));
        })) {}

  fragments::Atomic<Ins<int>, Ins<int>> set;
  fragments::Atomic<Ins<double>, Ins<double>> setr;
  fragments::Atomic<Ins<std::string>, Ins<std::string>> sets;
  fragments::Atomic<Ins<int, int>, Ins<int>> add;
  fragments::Atomic<Ins<double, double>, Ins<double>> sum;
  fragments::Atomic<Ins<int>, Ins<int>> half;
  fragments::Atomic<Ins<int>, Ins<int, int>> two;
  fragments::Atomic<Ins<int>, Ins<int>> fails;
  fragments::Atomic<Ins<int>, Ins<Bytes>> block;
  fragments::Atomic<Ins<Bytes>, Ins<Bytes>> pass;
  fragments::Atomic<Ins<>, Ins<>> nothing;
  fragments::Atomic<Ins<std::string, int>, Ins<>> show;
  fragments::Atomic<Ins<std::string, double>, Ins<>> showr;
  fragments::Atomic<Ins<std::string, std::string>, Ins<>> shows;
  fragments::Atomic<Ins<std::string, Bytes>, Ins<>> size;
};

}  // namespace tailrace::test
