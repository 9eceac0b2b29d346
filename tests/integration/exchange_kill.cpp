// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/line.hpp"
#include "kill_job.hpp"

using namespace tailrace;
using test::said_by;

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
