// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/system.hpp"
#include "temp_dir.hpp"

using namespace tailrace;

namespace {

/// Starts a job of 3 ranks that a fault ends, within 10 s, and returns what it printed.
std::string said_by(const std::string& fault) {
  constexpr double longest_end_s = 10;
  const test::TempDir directory;
  const auto file = directory.file("said.txt");
  const double start_s = monotonic_s();
  const auto command = fmt::format("timeout 20 {} 3 {} {} > {} 2>&1", MPIEXEC, KILL_TARGET, fault, file);
  CHECK(std::system(command.c_str()) != 0);  // NOLINT: a command of our own
  CHECK(monotonic_s() - start_s < longest_end_s);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a rank that is killed among messages ends the job") {
  for (const char* fault : {"kill 0 1", "kill 2 500"}) said_by(fault);
}

TEST_CASE("an exception in a handler ends the job with its message") {
  CHECK(said_by("throw 1 100").find("error of rank 1: thrown on purpose") != std::string::npos);
}

TEST_CASE("a rank that stops looking is named, and ends the job") {
  CHECK(said_by("stop 1 200").find("rank 1 has not answered for 1") != std::string::npos);
}
