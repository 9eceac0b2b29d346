// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "described_bodies.hpp"

namespace tailrace::test {

/// A program that is described in C++, and what it does.
struct Described {
  using S = fragments::Scope;
  using I = fragments::Int;
  using B = DescribedBodies;
  using Describe = std::function<void(S&, const B&)>;

  std::string what;
  Describe main;
  std::string printed;               ///< lines in alphabetical order, separated by "; "
  std::vector<std::string> found{};  ///< texts that its errors, in their order, contain
  std::int64_t left = -1;            ///< data fragments at its end; -1: any number

  /// Its bodies print to `printed`, which outlives it.
  [[nodiscard]] fragments::Program program(Printed& to) const {
    fragments::Program program("described");
    const B bodies(program, to);
    program.main([&](S& scope) { main(scope, bodies); });
    return program;
  }
};

namespace described {
using S = Described::S;
using I = Described::I;
using B = Described::B;
using Bytes = DescribedBodies::Bytes;
using T = std::string;

}  // namespace described

}  // namespace tailrace::test
