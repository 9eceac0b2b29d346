// SPDX-License-Identifier: BSD-3-Clause
#include "run/memory.hpp"

#include <doctest/doctest.h>

namespace tailrace::run {

TEST_CASE("a run that does not fit is refused with what it takes, what there is and what would fit") {
  const auto size = grid_size("case.toml: domain.cells", {4000, 4000, 4000});
  CHECK_FALSE(too_much_memory(24e9, {.bytes = 24e9}, size));
  const auto error = too_much_memory(1.92e12, {.bytes = 24e9}, size);
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::input);
  CHECK(error->message ==
        "case.toml: domain.cells = [4000, 4000, 4000]: the run takes at least 1.9 TB of memory, and this "
        "machine has "
        "24.0 GB");
  CHECK(error->hint == "about 928 x 928 x 928 points at most, or at least 80 machines like this one");
  CHECK(too_much_memory(1e12, {.bytes = 8e9, .of_group = true}, size)->message.find("the control group") !=
        std::string::npos);
}

TEST_CASE("a plane stays one") {
  CHECK(grid_size("x", {400, 400, 1}).fits(0.25) == "about 200 x 200 x 1 points at most");
}

TEST_CASE("this machine has memory") {
  CHECK(memory_limit().bytes > 1e6);
}

}  // namespace tailrace::run
