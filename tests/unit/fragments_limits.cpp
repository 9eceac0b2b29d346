// SPDX-License-Identifier: BSD-3-Clause
// Limits of live fragments and bytes, with graphs that a throttle without an end would never finish, and
// fragments that move to ranks without work.
#include <doctest/doctest.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "am/launch.hpp"
#include "error_of.hpp"
#include "fragments/diffusion.hpp"
#include "fragments/runtime.hpp"
#include "fragments_bodies.hpp"
#include "random_fragments.hpp"

namespace tailrace::test {

namespace {

struct All {
  std::vector<fragments::Ending> ranks;
  std::string printed;
};

All run_limited(int ranks, const fragments::Options& options, const std::string& program,
                const fragments::Bodies& more = {}) {
  Printed printed;
  const auto image = test_image(program);
  auto bodies = test_bodies(printed);
  for (const auto& [name, body] : more) bodies[name] = body;
  std::vector<fragments::Ending> endings(static_cast<std::size_t>(ranks));
  am::launch_local({.local_ranks = ranks, .faults = {}, .options = {}}, [&](am::Endpoint& endpoint) {
    endings[static_cast<std::size_t>(endpoint.rank())] =
        fragments::run(endpoint, image, bodies, {}, {options, nullptr, false});
  });
  return {std::move(endings), printed.sorted()};
}

/// Programs whose early fragments need what is created last.
const std::vector<std::string> needs_what_is_last{
    "sub main() { df x; show(\"\", x[0]); for i=1..300 copy(x[i], x[i - 1]); set(5, x[300]); }",
    "sub main() { df x; for i=1..300 show(\"\", x[i]); for i=1..300 set(i, x[i]); }",
    "sub main() { df a, b; for i=1..100 { copy(a[i], b[i]) @ { locator_cyclic: i; }; } for i=1..100 { "
    "copy(b[i - 1], a[i]) @ { locator_cyclic: i + 1; }; } set(3, b[0]); show(\"\", b[100]); }",
    "sub main() { df b, c; for i=1..100 block(1000, b[i]) @ { req_count b[i] = 1; }; for i=1..100 copy(b[i], "
    "c[i]) @ { req_count c[i] = 1; }; for i=1..100 show(\"\", c[101 - i]); }",
    "sub fib(name r, int n) { df a, b; if n < 2 set(n, r); if n > 1 { add(a, b, r); fib(a, n - 1); fib(b, n "
    "- 2); } "
    "} sub main() { df r; show(\"\", r); fib(r, 11); }",
    "sub main() { df x, n; while x[k] < 50, k=0..out n { if x[k] * 0 == 0 add(x[k], 1, x[k + 1]); } for "
    "i=n..n + 20 "
    "show(\"\", x[n]); for i=1..50 nothing(); set(0, x[0]); }"};

}  // namespace

TEST_CASE("limits: programs that need what is created last end with the interpreter's results") {
  for (const auto& program : needs_what_is_last) {
    CAPTURE(program);
    Printed alone;
    const auto expected = fragments::interpret(test_image(program), test_bodies(alone), {});
    REQUIRE(expected.succeeded());
    for (const int ranks : {1, 2, 3})
      for (const std::int64_t limit : {1, 10, 1000}) {
        CAPTURE(ranks);
        CAPTURE(limit);
        const fragments::Options options{
            .workers = 1 + static_cast<int>(limit % 2), .live_fragments = limit, .live_bytes = limit * 100};
        const auto all = run_limited(ranks, options, program);
        CHECK(all.ranks[0].errors == std::vector<std::string>{});
        CHECK(all.printed == alone.sorted());
      }
  }
}

TEST_CASE("limits: random graphs end with the interpreter's results, however fragments move") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const auto program = RandomFragments(seed).program();
    Printed alone;
    REQUIRE(fragments::interpret(test_image(program), test_bodies(alone), {}).succeeded());
    const fragments::Options options{.workers = 1 + static_cast<int>(seed % 2),
                                     .live_fragments = static_cast<std::int64_t>(1 + seed % 5),
                                     .balance = fragments::balance_words[seed % 4]};
    const auto all = run_limited(2 + static_cast<int>(seed % 3), options, program);
    CHECK(all.ranks[0].errors == std::vector<std::string>{});
    CHECK(all.printed == alone.sorted());
  }
}

TEST_CASE("limits: a program that can never end has the same verdict") {
  const std::string program =
      "sub main() { df x, y; for i=1..100 copy(x[i], y[i]); for i=1..99 set(i, x[i]); show(\"\", y[7]); }";
  Printed alone;
  const auto expected = fragments::interpret(test_image(program), test_bodies(alone), {});
  REQUIRE(expected.errors.size() == 1);
  const auto all = run_limited(3, {.live_fragments = 5}, program);
  CHECK(all.ranks[0].errors == expected.errors);
  CHECK(all.printed == alone.sorted());
}

TEST_CASE("limits: what waits for a slow fragment stays within them") {
  const fragments::Bodies slow{{"set", [](tailrace_call& call) {
                                  std::this_thread::sleep_for(std::chrono::milliseconds(200));
                                  fragments::set_output(call, 1, call.parameters[0].value);
                                }}};
  const auto all = run_limited(1, {.workers = 2, .live_fragments = 500},
                               "sub main() { df x, y; set(1, x); for i=1..20000 copy(x, y[i]); }", slow);
  CHECK(all.ranks[0].executed == 20003);
  CHECK(all.ranks[0].peak_fragments <= 500 + 64 + 2);  // and a batch, the loop and `set`
}

TEST_CASE("limits: a rank that others send fragments to stays within them, and what is under way") {
  const fragments::Bodies bodies{{"nothing", [](tailrace_call&) {}}};
  const auto all = run_limited(2, {.live_fragments = 500},
                               "sub main() { for i=1..50000 nothing() @ { locator_cyclic: 1; }; }", bodies);
  CHECK(all.ranks[1].executed == 50000);
  CHECK(all.ranks[1].peak_fragments < 10000);
}

TEST_CASE("balance: bodies that nothing places run on all ranks, placed ones only if they are stealable") {
  const fragments::Bodies slow{
      {"nothing", [](tailrace_call&) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }}};
  const auto executed = [&](const std::string& balance, const std::string& rules) {
    const auto all =
        run_limited(4, {.balance = balance}, "sub main() { for i=1..400 nothing()" + rules + "; }", slow);
    std::vector<std::int64_t> counts;
    for (const auto& rank : all.ranks) counts.push_back(rank.executed);
    CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == 402);
    return counts;
  };
  using Counts = std::vector<std::int64_t>;
  CHECK(executed("off", "") == Counts{402, 0, 0, 0});
  for (const auto* const way : {"steal", "diffuse", "auto"})
    CHECK(executed(way, " @ { locator_cyclic: 2; }") == Counts{2, 0, 400, 0});
  for (const auto* const rules : {"", " @ { locator_cyclic: 2; stealable; }"})
    for (const auto* const way : {"steal", "diffuse", "auto"})
      for (const auto count : executed(way, rules)) CHECK(count > 20);
}

TEST_CASE("balance: neighbours on a torus that is as square as it can be") {
  using Ranks = std::vector<int>;
  const auto neighbours = fragments::Diffusion::neighbours_of;
  CHECK(neighbours(0, 1) == Ranks{});
  CHECK(neighbours(1, 2) == Ranks{0});
  CHECK(neighbours(0, 5) == Ranks{1, 4});
  CHECK(neighbours(0, 6) == Ranks{1, 2, 4});
  CHECK(neighbours(5, 12) == Ranks{2, 3, 4, 8});
  for (const int size : {2, 3, 4, 7, 12, 16, 30})
    for (int rank = 0; rank < size; ++rank)
      for (const int other : neighbours(rank, size)) {
        const auto back = neighbours(other, size);
        CHECK(std::ranges::find(back, rank) != back.end());
      }
}

TEST_CASE("balance: a word that is not known is refused, with those that are") {
  for (const std::string word : {"", "shift", "Steal"}) {
    const auto error = error_of([&] { run_limited(2, {.balance = word}, "sub main() { nothing(); }"); });
    REQUIRE(error);
    CHECK(error->kind == ErrorKind::usage);
    CHECK(error->message == "balance '" + word + "' is not known");
    CHECK(error->hint == "give one of off, steal, diffuse, auto");
  }
  const auto error = error_of([] { run_limited(1, {.live_bytes = 0}, "sub main() { nothing(); }"); });
  REQUIRE(error);
  CHECK(error->message.find("below 1") != std::string::npos);
}

}  // namespace tailrace::test
