// SPDX-License-Identifier: BSD-3-Clause
#include "base/rehearsal.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stdexcept>
#include <string>

#include "base/system.hpp"
#include "temp_dir.hpp"

using namespace tailrace;

TEST_CASE("what goes well or throws is no matter, and leaves this process as it was") {
  int value = 1;
  CHECK_FALSE(rehearse([&] { value = 2; }, 10));
  CHECK(value == 1);
  CHECK_FALSE(rehearse([] { throw std::runtime_error("no crash"); }, 10));
}

TEST_CASE("a crash is reported, whatever its signal") {
  for (const int number : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS}) {
    const auto reported = rehearse([&] { std::raise(number); }, 10);
    REQUIRE(reported);
    CHECK(*reported == "was ended by signal " + std::to_string(number));
  }
  CHECK(rehearse([] { ::_exit(1); }, 10) == "ended with status 1");
}

TEST_CASE("a hang ends at the limit") {
  CHECK(rehearse([] { sleep_s(1000); }, 1) == "did not end within 1 s");
}

TEST_CASE("who kills the copy says nothing about the action") {
  for (const int number : {SIGKILL, SIGTERM, SIGINT}) CHECK_FALSE(rehearse([&] { std::raise(number); }, 10));
}

TEST_CASE("files are the same for both") {
  const test::TempDir dir;
  CHECK_FALSE(rehearse([&] { std::ofstream(dir.file("made")) << "x"; }, 10));
  CHECK(std::ifstream(dir.file("made")).good());
}
