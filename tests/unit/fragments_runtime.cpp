// SPDX-License-Identifier: BSD-3-Clause
// Programs on several ranks, which are threads of this process, against the interpreter.
#include "fragments/runtime.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "am/launch.hpp"
#include "error_of.hpp"
#include "fragments_meaning.hpp"
#include "random_fragments.hpp"

namespace tailrace::test {

namespace {

struct Run {
  fragments::Ending ending;
  std::string printed;
};

/// The image of a program, for several runs: making one takes longer than many a run.
struct Source {
  Source(const std::string& program) : image(test_image(program)) {}
  Source(const char* program) : image(test_image(program)) {}
  std::shared_ptr<const fragments::Image> image;
};

Run run_interpreted(const Source& program, const std::vector<std::string>& words = {}) {
  Printed printed;
  auto ending = fragments::interpret(program.image, test_bodies(printed), words);
  return {std::move(ending), printed.sorted()};
}

struct Ranks {
  int count = 1;
  fragments::RunOptions options{};
  std::optional<am::Faults> faults{};
};

Run run_on(const Ranks& ranks, const Source& program, const std::vector<std::string>& words = {}) {
  Printed printed;
  const auto bodies = test_bodies(printed);
  std::vector<fragments::Ending> endings(static_cast<std::size_t>(ranks.count));
  am::launch_local({.local_ranks = ranks.count, .faults = ranks.faults, .options = {}},
                   [&](am::Endpoint& endpoint) {
                     endings[static_cast<std::size_t>(endpoint.rank())] =
                         fragments::run(endpoint, program.image, bodies, words, ranks.options);
                   });
  for (const auto& ending : endings) CHECK(ending.errors == endings[0].errors);
  for (std::size_t rank = 1; rank < endings.size(); ++rank) endings[0].executed += endings[rank].executed;
  return {endings[0], printed.sorted()};
}

void check_same(const Run& run, const Run& expected) {
  CHECK(run.printed == expected.printed);
  CHECK(run.ending.errors == expected.ending.errors);
  CHECK(run.ending.notes == expected.ending.notes);
  CHECK(run.ending.executed == expected.ending.executed);
  CHECK(run.ending.waiting == expected.ending.waiting);
  CHECK(run.ending.left_count == expected.ending.left_count);
  CHECK(run.ending.left_bytes == expected.ending.left_bytes);
}

void check_random(std::uint64_t first, std::uint64_t last) {
  for (auto seed = first; seed <= last; ++seed) {
    CAPTURE(seed);
    const auto text = RandomFragments(seed).program();
    const Source program(text);
    const auto expected = run_interpreted(program);
    REQUIRE_MESSAGE(expected.ending.succeeded(), text);
    const am::Faults faults{
        .seed = seed, .delayed = 0.5, .max_looks = 30, .slow_rank = seed % 3 == 0 ? 1 : -1};
    const fragments::RunOptions options{
        {.workers = 1 + static_cast<int>(seed % 3), .balance = fragments::balance_words[seed / 3 % 4]}};
    check_same(run_on({2 + static_cast<int>(seed % 4), options, faults}, program), expected);
  }
}

}  // namespace

TEST_CASE(
    "meaning: each sentence on ranks with 1, 2 and 4 workers, balanced or not, as on one thread, errors "
    "included") {
  for (const auto& row : meanings) {
    CAPTURE(row.what);
    if (left_to_chance(row)) continue;
    const Source program(row.program);
    const auto expected = run_interpreted(program, row.words);
    for (const int ranks : {1, 2, 3, 4, 7})
      for (const int workers : {1, 2, 4})
        for (const std::string balance : {"off", "auto"}) {
          CAPTURE(ranks);
          CAPTURE(workers);
          CAPTURE(balance);
          const fragments::RunOptions options{{.workers = workers, .balance = balance}};
          check_same(run_on({ranks, options}, program, row.words), expected);
        }
  }
}

// Two cases, each well within its limit of time.
TEST_CASE("random graphs, first half: delayed messages change no result, and no end comes early or never") {
  check_random(1, 1000);
}
TEST_CASE("random graphs, second half") {
  check_random(1001, 2000);
}
// 100,000 in twenty cases.
#define FULL_RANDOM_GRAPHS(first, last)                          \
  TEST_CASE("full: random graphs, seeds " #first " to " #last) { \
    check_random(first, last);                                   \
  }
FULL_RANDOM_GRAPHS(10001, 15000)
FULL_RANDOM_GRAPHS(15001, 20000)
FULL_RANDOM_GRAPHS(20001, 25000)
FULL_RANDOM_GRAPHS(25001, 30000)
FULL_RANDOM_GRAPHS(30001, 35000)
FULL_RANDOM_GRAPHS(35001, 40000)
FULL_RANDOM_GRAPHS(40001, 45000)
FULL_RANDOM_GRAPHS(45001, 50000)
FULL_RANDOM_GRAPHS(50001, 55000)
FULL_RANDOM_GRAPHS(55001, 60000)
FULL_RANDOM_GRAPHS(60001, 65000)
FULL_RANDOM_GRAPHS(65001, 70000)
FULL_RANDOM_GRAPHS(70001, 75000)
FULL_RANDOM_GRAPHS(75001, 80000)
FULL_RANDOM_GRAPHS(80001, 85000)
FULL_RANDOM_GRAPHS(85001, 90000)
FULL_RANDOM_GRAPHS(90001, 95000)
FULL_RANDOM_GRAPHS(95001, 100000)
FULL_RANDOM_GRAPHS(100001, 105000)
FULL_RANDOM_GRAPHS(105001, 110000)
#undef FULL_RANDOM_GRAPHS

TEST_CASE("a cycle over several ranks, and what waits for it elsewhere") {
  const std::string program =
      "sub main() { df x; for i=0..6 copy(x[(i + 6) % 7], x[i]) @ { locator_cyclic: i; }; show(\"\", x[3]); "
      "}";
  const auto expected = run_interpreted(program);
  REQUIRE(expected.ending.errors.size() == 1);
  for (const int ranks : {2, 4})
    check_same(run_on({ranks, {}, am::Faults{.seed = 5, .delayed = 0.5}}, program), expected);
}

TEST_CASE("bodies without a recommendation run on all ranks") {
  std::mutex mutex;
  std::map<std::thread::id, int> bodies_of;
  const auto image = test_image("sub main() { df x; for i=1..40 set(i, x[i]); }");
  Printed printed;
  auto bodies = test_bodies(printed);
  bodies["set"] = [&](tailrace_call& call) {
    const std::scoped_lock lock(mutex);
    ++bodies_of[std::this_thread::get_id()];
    fragments::set_output(call, 1, call.parameters[0].value);
  };
  am::launch_local({.local_ranks = 4, .faults = {}, .options = {}},
                   [&](am::Endpoint& endpoint) { fragments::run(endpoint, image, bodies, {}); });
  REQUIRE(bodies_of.size() == 4);
  for (const auto& [thread, count] : bodies_of) CHECK(count == 10);
}

/// Messages of all ranks of a program on four.
static std::int64_t messages_of(const std::string& program) {
  const auto image = test_image(program);
  Printed printed;
  const auto bodies = test_bodies(printed);
  std::atomic<std::int64_t> messages = 0;
  am::launch_local({.local_ranks = 4, .faults = {}, .options = {}}, [&](am::Endpoint& endpoint) {
    CHECK(fragments::run(endpoint, image, bodies, {}).errors.empty());
    messages += endpoint.messages_sent();
  });
  return messages;
}

TEST_CASE("who reads a value with copies asks no other rank if it has one, and the nearest otherwise") {
  const auto with = [](const std::string& rules) {  // readers of one value are on ranks without its home
    return messages_of(
        "sub main() { df x, y; set(7, x); for i=1..900 copy(x, y[i]) @ { locator_cyclic: i "
        "% 3 + 1; }; } @ { locator_cyclic x => 0; locator_cyclic y[i] => i % 3 + 1; " +
        rules + " }");
  };
  const auto asked = with("");
  CHECK(asked - with("locator_replicating x => all;") >= 1790);  // a question and an answer of each reader
  // ranks 1 and 3 ask 0 and 2
  const auto nearest = with("locator_replicating x => 2;");
  CHECK((asked - nearest >= 590 && asked - nearest <= 610));
}

TEST_CASE("a value that is pushed to a labelled fragment is not asked for") {
  const auto with = [](const std::string& rules) {  // each value has its home on rank 0, its reader elsewhere
    return messages_of("sub main() { df x, y; for i=1..900 set(i, x[i]) @ { locator_cyclic: 0; " + rules +
                       " }; for i=1..900 cf c[i]: copy(x[i], y[i]) @ { wait x[i]; }; } @ { "
                       "locator_cyclic x[i] => 0; locator_cyclic c[i] => i % 3 + 1; locator_cyclic y[i] => i "
                       "% 3 + 1; }");
  };
  const auto fewer = with("") - with("afterpush x[i] => c[i];");
  CHECK((fewer >= 890 && fewer <= 910));  // a question of each reader
}

TEST_CASE("fewer uses than counted are noted with the place of the count, the same on any number of ranks") {
  const std::string program =
      "sub main() { df x, y; for i=0..11 set(i, x[i]) @ { req_count x[i] = i % 3; };\n"
      "for i=2..11 if i % 3 copy(x[i], y[i]); set(1, y) @ { req_count y = 3; }; show(\"y\", y); }";
  const auto expected = run_interpreted(program);
  REQUIRE(expected.ending.notes.size() == 2);
  CHECK(
      expected.ending.notes[0].starts_with("test.fa:1:52: note: 5 values, of which x[1] is the first, were "
                                           "used 5 times less often than this count "
                                           "says in all"));
  CHECK(expected.ending.notes[1].starts_with("test.fa:2:54: note: y was used 2 times less often than"));
  for (const int ranks : {1, 2, 3, 7}) check_same(run_on({ranks}, program), expected);
}

TEST_CASE("ranks whose programs differ are refused") {
  Printed printed;
  const auto bodies = test_bodies(printed);
  const auto error = error_of([&] {
    am::launch_local({.local_ranks = 2, .faults = {}, .options = {}}, [&](am::Endpoint& endpoint) {
      const std::string name = endpoint.rank() == 0 ? "x" : "y";
      const auto image = test_image("sub main() { df " + name + "; for i=1..9 set(i, " + name + "[i]); }");
      fragments::run(endpoint, image, bodies, {});
    });
  });
  REQUIRE(error);
  CHECK(error->message.find("all ranks run the same program") != std::string::npos);
}

}  // namespace tailrace::test
