// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/system.hpp"
#include "error_of.hpp"
#include "tasks/pool.hpp"

using namespace tailrace;

namespace {

struct Counted : tasks::Job {
  std::atomic<int> runs{0};
  std::atomic<int> abandoned{0};
  void run() override { ++runs; }
  void abandon() noexcept override { ++abandoned; }
};

tasks::WorkerCounts all_counts(const tasks::Pool& pool) {
  tasks::WorkerCounts sum;
  for (int worker = 0; worker < pool.workers(); ++worker) {
    const auto one = pool.counts(worker);
    sum.jobs += one.jobs;
    sum.stolen += one.stolen;
    sum.looks += one.looks;
    sum.sleeps += one.sleeps;
  }
  return sum;
}

/// Adds up Fibonacci's tree: a job for each call.
void spread(tasks::Pool& pool, int n, std::atomic<std::int64_t>& sum) {
  if (n < 2) {
    sum += n;
    return;
  }
  pool.submit([&pool, n, &sum] { spread(pool, n - 1, sum); });
  pool.submit([&pool, n, &sum] { spread(pool, n - 2, sum); },
              n % 3 == 0 ? tasks::Priority::urgent : tasks::Priority::normal);
}

/// Waits for what other threads do, without a limit: the runner of tests has one.
template <class Met>
void wait_until(Met met) {
  Backoff backoff;
  while (!met()) backoff.pause();
}

}  // namespace

TEST_CASE("a deque gives each job to one thread, however it grows") {
  constexpr int count = 20'000, thieves = 3;
  std::vector<Counted> jobs(count);
  tasks::JobDeque deque;
  std::atomic<bool> ended{false};
  std::vector<std::thread> threads;
  for (int thief = 0; thief < thieves; ++thief)
    threads.emplace_back([&] {
      while (!ended.load())
        if (tasks::Job* job = deque.steal()) job->run();
    });
  for (int i = 0; i < count; ++i) {
    deque.push(&jobs[static_cast<std::size_t>(i)]);
    if (i % 3 == 0)
      if (tasks::Job* job = deque.pop()) job->run();
  }
  while (tasks::Job* job = deque.pop()) job->run();
  ended = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(std::ranges::all_of(jobs, [](const Counted& job) { return job.runs == 1; }));
}

TEST_CASE("the owner takes the newest job, a thief the oldest") {
  std::vector<Counted> jobs(200);
  tasks::JobDeque deque;
  CHECK(deque.pop() == nullptr);
  CHECK(deque.steal() == nullptr);
  for (Counted& job : jobs) deque.push(&job);
  CHECK(deque.steal() == &jobs[0]);
  CHECK(deque.steal() == &jobs[1]);
  CHECK(deque.pop() == &jobs[199]);
  for (std::size_t i = 199; i-- > 2;) CHECK(deque.pop() == &jobs[i]);
  CHECK(deque.pop() == nullptr);
}

TEST_CASE("jobs that make jobs all run, on any number of workers") {
  for (const int workers : {1, 2, 4, 8}) {
    tasks::Pool pool(workers);
    for (int round = 0; round < 3; ++round) {
      std::atomic<std::int64_t> sum{0};
      spread(pool, 18, sum);
      pool.wait_idle();
      CHECK(sum == 2584);
      CHECK(pool.pending() == 0);
    }
    CHECK(all_counts(pool).jobs == 3 * (2 * 4181 - 2));  // calls of fib(18), but for the first
  }
}

TEST_CASE("workers take what another thread has added") {
  tasks::Pool pool(3);
  std::vector<Counted> jobs(1000);
  for (Counted& job : jobs) pool.submit(job);
  wait_until([&] { return pool.pending() == 0; });  // worker 0 does nothing
  CHECK(pool.counts(0).jobs == 0);
  CHECK(pool.counts(1).stolen + pool.counts(2).stolen == 1000);
  std::thread([&] {
    for (Counted& job : jobs) pool.submit(job, tasks::Priority::urgent);
  }).join();
  pool.wait_idle();
  CHECK(std::ranges::all_of(jobs, [](const Counted& job) { return job.runs == 2; }));
  CHECK(all_counts(pool).stolen == 1000);  // what came from outside was nobody's
}

TEST_CASE("urgent jobs first, then the newest") {
  tasks::Pool pool(1);
  std::string order;
  for (const char name : {'a', 'b', 'c'}) pool.submit([&order, name] { order += name; });
  for (const char name : {'x', 'y'}) pool.submit([&order, name] { order += name; }, tasks::Priority::urgent);
  CHECK(pool.run_one());
  CHECK(order == "y");
  pool.wait_idle();
  CHECK(order == "yxcba");
  CHECK_FALSE(pool.run_one());
}

TEST_CASE("an exception is kept and reported once, and the other jobs run") {
  tasks::Pool pool(2);
  std::atomic<int> runs{0};
  for (int i = 0; i < 100; ++i)
    pool.submit([&runs, i] {
      ++runs;
      if (i % 10 == 0) throw Error(ErrorKind::input, "on purpose");
    });
  wait_until([&] { return pool.pending() == 0; });
  CHECK(pool.failures() == 10);
  const auto error = test::error_of([&] { pool.wait_idle(); });
  REQUIRE(error);
  CHECK(error->message == "on purpose");
  CHECK(runs == 100);
  CHECK(pool.failures() == 0);
  pool.wait_idle();
}

TEST_CASE("workers without a job sleep and do not look") {
  tasks::Pool pool(4);
  std::atomic<std::int64_t> sum{0};
  spread(pool, 12, sum);
  pool.wait_idle();
  wait_until(
      [&] { return pool.counts(1).sleeps > 0 && pool.counts(2).sleeps > 0 && pool.counts(3).sleeps > 0; });
  sleep_s(20e-3);
  const auto before = all_counts(pool);
  sleep_s(100e-3);
  const auto after = all_counts(pool);
  CHECK(after.looks - before.looks <= 3 * 21);  // one that was about to fall asleep, at most
  CHECK(after.sleeps - before.sleeps <= 3);
  // And a job wakes one of them.
  Counted job;
  pool.submit(job);
  wait_until([&] { return job.runs == 1; });
}

TEST_CASE("a pool that ends abandons the jobs that have not begun") {
  std::vector<Counted> jobs(50);
  auto alive = std::make_shared<int>(0);
  {
    tasks::Pool pool(1);
    for (Counted& job : jobs) pool.submit(job);
    pool.submit([alive] { ++*alive; });
    CHECK(pool.run_one());
    CHECK(*alive == 1);
    pool.submit([alive] { ++*alive; });
  }
  CHECK(*alive == 1);
  CHECK(alive.use_count() == 1);
  CHECK(std::ranges::all_of(jobs, [](const Counted& job) { return job.runs == 0 && job.abandoned == 1; }));
}

TEST_CASE("workers get a core each where the process has as many cores, else run anywhere on its cores") {
  const auto machine = synthetic_topology("core:4 pu:2");
  CHECK(tasks::worker_places(machine, machine.cpus(), 4) ==
        std::vector<Cpus>{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  CHECK(tasks::worker_places(machine, {2, 3, 6}, 2) == std::vector<Cpus>{{2, 3}, {6}});
  CHECK(tasks::worker_places(machine, machine.cpus(), 2) == std::vector<Cpus>(2, machine.cpus()));
  CHECK(tasks::worker_places(machine, {0, 1}, 3) == std::vector<Cpus>(3, Cpus{0, 1}));
}

TEST_CASE("workers run where they are put") {
  const Cpus mine = thread_cpus();
  const Cpus last{mine.back()};
  tasks::Pool pool(2, {mine, last});
  Cpus where;
  pool.submit([&] { where = thread_cpus(); });
  wait_until([&] { return pool.pending() == 0; });
  CHECK(where == last);
  CHECK(thread_cpus() == mine);
}
