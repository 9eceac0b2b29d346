// SPDX-License-Identifier: BSD-3-Clause
// What is called between fragments, and may end the program.
#include <doctest/doctest.h>

#include <atomic>
#include <vector>

#include "am/launch.hpp"
#include "fragments/runtime.hpp"
#include "fragments_bodies.hpp"

namespace tailrace::test {

namespace {

constexpr int ranks = 3;
const std::string chain =
    "sub main() { df x; set(0, x[0]); for i=1..20000 { add(x[i - 1], 1, x[i]) @ { locator_cyclic: i; "
    "req_count x[i] = 1; }; } }";

/// How often each rank was called while fragments ran and when none will; it ends the program after so many
/// calls on rank 1.
struct Calls {
  explicit Calls(int last_call) : last(last_call) {}
  int last;
  std::atomic<int> between{0}, on_rank_1{0}, over{0};

  bool operator()(int rank, bool is_over) {
    ++(is_over ? over : between);
    return rank == 1 && ++on_rank_1 >= last;
  }
};

std::vector<fragments::Ending> run(Calls& calls, int workers, const std::string& program = chain) {
  Printed printed;
  const auto image = test_image(program);
  const auto bodies = test_bodies(printed);
  std::vector<fragments::Ending> endings(ranks);
  am::launch_local({.local_ranks = ranks, .faults = {}, .options = {}}, [&](am::Endpoint& endpoint) {
    const int rank = endpoint.rank();
    endings[static_cast<std::size_t>(rank)] = fragments::run(
        endpoint, image, bodies, {},
        {{.workers = workers, .between = [&calls, rank](bool over) { return calls(rank, over); }}});
  });
  return endings;
}

}  // namespace

TEST_CASE("between: called on each rank while fragments run, and once when it is over") {
  Calls calls(1'000'000'000);
  for (const auto& ending : run(calls, 1)) {
    CHECK(ending.succeeded());
    CHECK(!ending.stopped);
  }
  CHECK(calls.between > 100);
  CHECK(calls.over == ranks);
}

TEST_CASE("between: ends the program on all ranks where it is") {
  for (const int workers : {1, 2}) {
    CAPTURE(workers);
    Calls calls(20);
    std::int64_t executed = 0;
    for (const auto& ending : run(calls, workers)) {
      CHECK(ending.stopped);
      CHECK(ending.errors.empty());
      executed += ending.executed;
    }
    CHECK(executed < 20'000);
    CHECK(calls.over == ranks);
  }
}

TEST_CASE("between: not called at the end of a program that failed") {
  Calls calls(1'000'000'000);
  const auto endings = run(calls, 1, "sub main() { df x; show(\"x\", x); }");
  CHECK(endings[0].errors.size() == 1);
  CHECK(calls.over == 0);
}

}  // namespace tailrace::test
