// SPDX-License-Identifier: BSD-3-Clause
#include "kill_job.hpp"

using tailrace::test::said_by;

TEST_CASE("a rank that is killed among messages ends the job") {
  for (const char* fault : {"kill 0 1", "kill 2 500"}) said_by(3, fault);
}

TEST_CASE("an exception in a handler ends the job with its message") {
  CHECK(said_by(3, "throw 1 100").find("error of rank 1: thrown on purpose") != std::string::npos);
}

TEST_CASE("a rank that stops looking is named, and ends the job") {
  CHECK(said_by(3, "stop 1 200").find("rank 1 has not answered for 1") != std::string::npos);
}
