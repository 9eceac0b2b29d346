// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "environment.hpp"
#include "temp_dir.hpp"

using namespace tailrace;

namespace {

/// Bytes that a map took of the heap of any rank: in the end, at most, and in the largest allocation.
struct Footprint {
  std::int64_t live = 0, most = 0, largest = 0;
};

Footprint footprint(int ranks, const std::string& transport) {
  const test::TempDir directory;
  const auto file = directory.file("said.txt");
  const auto command =
      fmt::format("timeout 100 {} {} {} {} > {}", MPIEXEC, ranks, FOOTPRINT_TARGET, transport, file);
  REQUIRE(std::system(command.c_str()) == 0);  // NOLINT: a command of our own
  Footprint found;
  std::string word;
  std::ifstream(file) >> word >> found.live >> word >> found.most >> word >> found.largest;
  REQUIRE(found.live > 0);
  return found;
}

/// A map whose ranks have the same neighbours has nothing that grows with the number of ranks: not a byte for
/// each of those that are added.
void check_same(const std::string& transport, int few, int many) {
  const test::Environment nodes("TAILRACE_RANKS_PER_NODE", "2");
  CAPTURE(transport);
  const Footprint small = footprint(few, transport), large = footprint(many, transport);
  CHECK(large.live - small.live < many - few);
  CHECK(large.most - small.most < many - few);
  CHECK(large.largest - small.largest < many - few);
}

}  // namespace

TEST_CASE("memory of a map does not grow with the number of ranks") {
  check_same("persistent", 4, 12);
}

TEST_CASE("full: memory of a map on 64 ranks is that on 7") {
  for (const char* const transport : {"persistent", "isend", "shared"}) check_same(transport, 7, 64);
}
