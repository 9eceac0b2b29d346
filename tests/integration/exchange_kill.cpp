// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <string_view>

#include "exchange/line.hpp"
#include "kill_job.hpp"

using namespace tailrace;
using test::said_by;

namespace {

/// Has a rank fail in one of the flights by a transport; the job ends, and what it said is returned.
std::string said_with(const char* kind, int ranks, int rank, int flight, std::string_view transport) {
  const auto said = said_by(ranks, fmt::format("{} {} {} {}", kind, rank, flight, transport));
  CHECK_MESSAGE(
      said.find(fmt::format("rank {} will {} in flight {}", rank, kind, flight)) != std::string::npos, said);
  return said;
}

/// In turns in a gather and in a scatter-add, and the first and the last rank.
void kill_in_flights_of_all_transports(int ranks) {
  int flight = 4;
  for (const exchange::Transport& transport : exchange::transports()) {
    if (!transport.obstacle.empty()) continue;
    said_with("kill", ranks, flight % 4 < 2 ? 0 : ranks - 1, flight, transport.name);
    ++flight;
  }
}

}  // namespace

TEST_CASE("a rank that is killed inside a flight ends the job") {
  said_with("kill", 3, 1, 4, "shared");
}

TEST_CASE("a rank that stops inside a flight is named, and ends the job") {
  // Its own values have come; those for it are too many to be kept on the way.
  const auto said = said_with("stop", 2, 1, 5, "isend");
  CHECK_MESSAGE(said.find("messages to ranks 1 were not all taken for 3 s") != std::string::npos, said);
}

TEST_CASE("full: a rank that is killed inside a flight of any transport ends the job of 2 ranks") {
  kill_in_flights_of_all_transports(2);
}
TEST_CASE("full: a rank that is killed inside a flight of any transport ends the job of 3 ranks") {
  kill_in_flights_of_all_transports(3);
}
TEST_CASE("full: a rank that is killed inside a flight of any transport ends the job of 7 ranks") {
  kill_in_flights_of_all_transports(7);
}
