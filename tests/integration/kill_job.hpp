// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/system.hpp"
#include "temp_dir.hpp"

namespace tailrace::test {

/// Starts a job of so many ranks of the kill target that a fault ends, within 10 s, and returns what it
/// printed. `prefix`: a command that starts it.
inline std::string said_by(int ranks, const std::string& fault, const std::string& prefix = "") {
  CAPTURE(ranks);
  CAPTURE(fault);
  constexpr double longest_end_s = 10;
  const TempDir directory;
  const auto file = directory.file("said.txt");
  const double start_s = monotonic_s();
  const auto command =
      fmt::format("timeout 20 {} {} {} {} {} > {} 2>&1", prefix, MPIEXEC, ranks, KILL_TARGET, fault, file);
  CHECK(std::system(command.c_str()) != 0);  // NOLINT: a command of our own
  CHECK(monotonic_s() - start_s < longest_end_s);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace tailrace::test
