// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/system.hpp"
#include "exchange/line.hpp"
#include "temp_dir.hpp"

using namespace tailrace;

namespace {

/// Starts a job that a fault ends, within 10 s, and returns what it printed.
std::string said_by(int ranks, const std::string& fault) {
  CAPTURE(ranks);
  CAPTURE(fault);
  constexpr double longest_end_s = 10;
  const test::TempDir directory;
  const auto file = directory.file("said.txt");
  const double start_s = monotonic_s();
  const auto command =
      fmt::format("timeout 20 {} {} {} {} > {} 2>&1", MPIEXEC, ranks, KILL_TARGET, fault, file);
  CHECK(std::system(command.c_str()) != 0);  // NOLINT: a command of our own
  CHECK(monotonic_s() - start_s < longest_end_s);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a rank that is killed inside a flight ends the job") {
  said_by(3, "kill 1 4 shared");
}

TEST_CASE("a rank that stops inside a flight is named, and ends the job") {
  // Its own values have come; those for it are too many to be kept on the way.
  const auto said = said_by(2, "stop 1 5 isend");
  CHECK_MESSAGE(said.find("messages to ranks 1 were not all taken for 3 s") != std::string::npos, said);
}

TEST_CASE("full: a rank that is killed inside a flight of any transport ends the job of 2, 3 and 7 ranks") {
  for (const exchange::Transport& transport : exchange::transports())
    for (const int ranks : {2, 3, 7})
      if (transport.obstacle.empty())
        said_by(ranks,
                fmt::format("kill {} {} {}", ranks == 3 ? 0 : ranks - 1, 4 + ranks % 2, transport.name));
}
