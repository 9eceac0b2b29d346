// SPDX-License-Identifier: BSD-3-Clause
// The meaning of programs that are described in C++, sentence by sentence, on one thread and on ranks that
// are threads.
#include "described_lifetimes.hpp"

#include <doctest/doctest.h>

#include "am/launch.hpp"
#include "fragments/runtime.hpp"

namespace tailrace::test {

namespace {

fragments::Bodies bodies_of(const fragments::Program& program) {
  return {program.bodies().begin(), program.bodies().end()};
}

}  // namespace

TEST_CASE("described: each sentence on one thread") {
  CHECK(described::all().size() >= 60);
  for (const auto& row : described::all()) {
    CAPTURE(row.what);
    Printed printed;
    const auto program = row.program(printed);
    const auto ending = fragments::interpret(program.image(), bodies_of(program), {});
    CHECK(printed.sorted() == row.printed);
    REQUIRE_MESSAGE(ending.errors.size() == row.found.size(),
                    fmt::format("{}", fmt::join(ending.errors, "\n")));
    for (std::size_t i = 0; i < row.found.size(); ++i) {
      CAPTURE(ending.errors[i]);
      CHECK(ending.errors[i].find(row.found[i]) != std::string::npos);
    }
    if (row.left >= 0) CHECK(ending.left_count == row.left);
  }
}

TEST_CASE("described: each sentence on ranks with 1, 2 and 4 workers, balanced or not, as on one thread") {
  for (const auto& row : described::all())
    for (const int ranks : {1, 2, 3, 4, 7})
      for (const int workers : {1, 2, 4})
        for (const std::string balance : {"off", "auto"}) {
          CAPTURE(row.what);
          CAPTURE(ranks);
          CAPTURE(workers);
          CAPTURE(balance);
          Printed alone, printed;
          const auto one = row.program(alone), program = row.program(printed);
          const auto expected = fragments::interpret(one.image(), bodies_of(one), {});
          const auto bodies = bodies_of(program);
          std::vector<fragments::Ending> endings(static_cast<std::size_t>(ranks));
          const auto image = program.image();
          am::launch_local({.local_ranks = ranks, .faults = {}, .options = {}}, [&](am::Endpoint& endpoint) {
            endings[static_cast<std::size_t>(endpoint.rank())] =
                fragments::run(endpoint, image, bodies, {}, {{.workers = workers, .balance = balance}});
          });
          for (const auto& ending : endings) {
            CHECK(ending.errors == expected.errors);
            CHECK(ending.left_count == expected.left_count);
            CHECK(ending.left_bytes == expected.left_bytes);
          }
          CHECK(printed.sorted() == alone.sorted());
        }
}

}  // namespace tailrace::test
