// SPDX-License-Identifier: BSD-3-Clause
// Bodies on worker threads, and what they print.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <set>
#include <thread>

#include "am/launch.hpp"
#include "error_of.hpp"
#include "fragments/runtime.hpp"
#include "fragments_bodies.hpp"

namespace tailrace::test {

namespace {

/// Waits until it is opened; false if nobody does within 20 s.
class Gate {
 public:
  void open() { open_.store(true); }
  bool pass() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!open_.load() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    return open_.load();
  }

 private:
  std::atomic<bool> open_{false};
};

struct RankCosts {
  fragments::Ending ending;
  am::Costs costs;
};

/// The endings of all ranks, and what waiting cost them.
std::vector<RankCosts> run_bodies(int ranks, int workers, const std::string& program,
                                  const fragments::Bodies& more) {
  Printed printed;
  const auto image = test_image(program);
  auto bodies = test_bodies(printed);
  for (const auto& [name, body] : more) bodies[name] = body;
  std::vector<RankCosts> all(static_cast<std::size_t>(ranks));
  am::launch_local({.local_ranks = ranks, .faults = {}, .options = {}}, [&](am::Endpoint& endpoint) {
    auto ending = fragments::run(endpoint, image, bodies, {}, {{.workers = workers}});
    all[static_cast<std::size_t>(endpoint.rank())] = {std::move(ending), endpoint.costs()};
  });
  CHECK(all[0].ending.errors == std::vector<std::string>{});
  return all;
}

}  // namespace

TEST_CASE("as many bodies run at once as there are workers") {
  for (const int workers : {1, 3}) {
    std::atomic<int> at_work{0}, largest{0};
    std::set<std::thread::id> threads;
    std::mutex mutex;
    Gate all_there;
    run_bodies(1, workers, "sub main() { for i=1..30 nothing(); }",
               {{"nothing", [&](tailrace_call&) {
                   const int now = ++at_work;
                   {
                     const std::scoped_lock lock(mutex);
                     threads.insert(std::this_thread::get_id());
                     largest = std::max(largest.load(), now);
                   }
                   if (now == workers) all_there.open();
                   CHECK(all_there.pass());
                   --at_work;
                 }}});
    CHECK(largest == workers);
    CHECK(threads.size() == static_cast<std::size_t>(workers));
  }
}

TEST_CASE("bodies that run long on all workers of a rank do not stop its messages") {
  std::atomic<int> holding{0};
  Gate both_hold, opened;
  const fragments::Bodies bodies{{"nothing",
                                  [&](tailrace_call&) {
                                    if (++holding == 2) both_hold.open();
                                    CHECK(opened.pass());
                                  }},
                                 {"set",
                                  [&](tailrace_call& call) {
                                    CHECK(both_hold.pass());
                                    fragments::set_output(call, 1, call.parameters[0].value);
                                  }},
                                 {"copy", [&](tailrace_call& call) {
                                    opened.open();
                                    fragments::set_output(call, 1, call.parameters[0].value);
                                  }}};
  // The home of y[1] is rank 1, which both writer and reader have to ask.
  run_bodies(2, 2,
             "sub main() { df y; for i=1..2 nothing() @ { locator_cyclic: 1; };"
             " set(7, y[1]) @ { locator_cyclic: 0; }; copy(y[1], y[0]) @ { locator_cyclic: 0; }; }",
             bodies);
}

TEST_CASE("who waits for a body sleeps: its own thread and other ranks") {
  const auto all = run_bodies(
      2, 2, "sub main() { nothing() @ { locator_cyclic: 0; }; }",
      {{"nothing", [](tailrace_call&) { std::this_thread::sleep_for(std::chrono::milliseconds(400)); }}});
  for (const auto& rank : all) {
    CHECK(rank.costs.sleeps > 0);
    CHECK(rank.costs.looks < 2000);  // without sleep it looks some million times
  }
}

TEST_CASE("a body has the memory of its input alone at the last use, on any thread") {
  for (const int workers : {1, 2}) {
    const void* made = nullptr;
    const void* changed = nullptr;
    const fragments::Bodies bodies{
        {"block",
         [&](tailrace_call& call) { made = fragments::body_interface().create_block(&call, 1, 100); }},
        {"change", [&](tailrace_call& call) {
           changed = fragments::body_interface().change_bytes(&call, 0, nullptr);
           fragments::body_interface().share(&call, 1, 0);
         }}};
    run_bodies(1, workers, "sub main() { df x; block(1, x) @ { req_count x = 1; }; change(x, x[1]); }",
               bodies);
    CHECK(changed == made);
    run_bodies(1, workers, "sub main() { df x; block(1, x) @ { req_count x = 2; }; change(x, x[1]); }",
               bodies);
    CHECK(changed != made);
  }
}

TEST_CASE("a use count may be an input of its fragment") {
  const auto all = run_bodies(
      2, 2,
      "sub main() { df n, x; set(2, n); copy(n, x) @ { req_count x = n; }; show(\"\", x); show(\"\", x); }",
      {});
  CHECK(all[0].ending.left_count == 1);
}

TEST_CASE("no workers are refused") {
  const auto error = error_of([] { run_bodies(1, 0, "sub main() { nothing(); }", {}); });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::usage);
  CHECK(error->message == "0 worker threads cannot run a body");
}

TEST_CASE("lines that threads print at the same time are whole") {
  std::string text;
  {
    fragments::PrintedLines printed(false);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([thread] {
        for (int line = 0; line < 200; ++line) {
          std::printf("%d says ", thread);
          if (thread % 2 == 0)
            std::cout << line << " times\n";
          else
            std::printf("%d times\n", line);
        }
        std::printf("last of %d", thread);
      });
    for (auto& thread : threads) thread.join();
    text = printed.take() + "|";
    text += printed.take_rest();
  }
  const auto end = text.find('|');
  std::multiset<std::string> lines, expected;
  for (std::size_t at = 0; at < end; at = text.find('\n', at) + 1)
    lines.insert(text.substr(at, text.find('\n', at) - at));
  for (int thread = 0; thread < 4; ++thread)
    for (int line = 0; line < 200; ++line) expected.insert(fmt::format("{} says {} times", thread, line));
  CHECK(lines == expected);
  for (int thread = 0; thread < 4; ++thread)
    CHECK(text.find(fmt::format("last of {}", thread), end) != std::string::npos);
}

}  // namespace tailrace::test
