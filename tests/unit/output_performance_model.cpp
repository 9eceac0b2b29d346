// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "output/core/meter.hpp"
#include "output/planner/control_group.hpp"
#include "output/planner/host.hpp"
#include "output/planner/performance_model.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using namespace tailrace::output;
using tailrace::test::TempDir;

namespace {

constexpr Candidate blocking{.strategy = Strategy::blocking, .buffers = 1};
constexpr Candidate threads{.strategy = Strategy::threads, .number = 2};

/// Four ranks on a node without a free core.
Measurements load() {
  Measurements m;
  m.bytes = 4 << 20;
  m.largest_rank_bytes = 1 << 20;
  m.machine.ranks = m.machine.ranks_per_node = 4;
  return m;
}

Observation seen(double compute_s, double write_s, double cpu_s) {
  Observation o;
  o.compute_s = {compute_s, 0.001};
  o.jobs = 3;
  o.write_s = write_s;
  o.write_error = 0.001;
  o.cpu_s = cpu_s;
  return o;
}

Host host(const std::string& name, int free_cores, int computing) {
  Host h;
  h.name = name;
  h.free_cores = free_cores;
  h.threads = computing;
  h.memory_free_bytes = 8LL << 30;
  h.dirty_limit_bytes = 1LL << 30;
  return h;
}

}  // namespace

TEST_CASE("what is seen of writing in the step is taken as it is") {
  PerformanceModel performance_model(load());
  performance_model.learn(seen(1, 0.4, 0.1), blocking);
  const auto m = performance_model.measurements(7);
  CHECK(m.outputs_left == 7);
  CHECK(m.compute_s.value == 1);
  CHECK(m.write.write_s == 0.4);
  CHECK(m.phi.value == doctest::Approx(0.25));
  CHECK(m.writers == 4);
  CHECK(m.interference == assumed_interference);
  CHECK(!performance_model.has_measured_interference());
}

TEST_CASE("what is seen of asynchronous writing is freed of the disturbance") {
  PerformanceModel performance_model(load());
  performance_model.learn(seen(1.12, 0.408, 0.1), threads);
  const auto m = performance_model.measurements(7);
  CHECK(m.write.write_s == doctest::Approx(0.4));
  CHECK(m.compute_s.value == doctest::Approx((1.12 - 0.1) / 1.02));
  CHECK(predict(m, threads).compute_s == doctest::Approx(1.12));
  CHECK(predict(m, threads).write_s == doctest::Approx(0.408));
}

TEST_CASE("after both ways of writing the interference is measured, whichever came first") {
  for (const bool blocking_first : {true, false}) {
    CAPTURE(blocking_first);
    PerformanceModel performance_model(load());
    const auto alone = seen(1, 0.4, 0.1), beside = seen(1.2, 0.5, 0.1);
    if (blocking_first) performance_model.learn(alone, blocking);
    performance_model.learn(beside, threads);
    if (!blocking_first) performance_model.learn(alone, blocking);
    CHECK(performance_model.has_measured_interference());
    const auto m = performance_model.measurements(7);
    CHECK(m.interference.value == doctest::Approx(0.1).epsilon(0.1));  // 0.1 of the 0.2 s took the writer
    CHECK(m.interference.error < assumed_interference.error);
    CHECK(m.write_interference.value == doctest::Approx(0.25).epsilon(0.05));
    CHECK(m.compute_s.value == doctest::Approx(1).epsilon(0.02));
  }
}

TEST_CASE("what noise hides is taken as the usual few percent") {
  PerformanceModel performance_model(load());
  auto alone = seen(1, 0.4, 0), beside = seen(1.5, 0.4, 0);
  alone.compute_s.error = beside.compute_s.error = 1;
  performance_model.learn(alone, blocking);
  performance_model.learn(beside, threads);
  CHECK(performance_model.measurements(7).interference.value == doctest::Approx(0.02).epsilon(0.1));
}

TEST_CASE("when other processes write, what was known of writing stays") {
  PerformanceModel performance_model(load());
  performance_model.learn(seen(1, 0.4, 0.1), blocking);
  auto elsewhere = seen(1.1, 0, 0);
  elsewhere.jobs = 0;
  performance_model.learn(elsewhere, {.strategy = Strategy::ranks, .number = 1});
  CHECK(performance_model.measurements(7).write.write_s == 0.4);
}

TEST_CASE("an observation comes back as it was sent") {
  auto o = seen(1, 2, 3);
  o.period_s = 4;
  o.copy_s = 5;
  o.write_slowest_s = 6;
  o.commit_mark_s = 7;
  o.flush_s = 8;
  o.flush_pending = 1;
  o.submit_s = 9;
  o.waited_s = 10;
  o.steps = 11;
  o.bytes = 12;
  const auto numbers = o.numbers();
  CHECK(Observation::of(numbers).numbers() == numbers);
  CHECK(Observation::of(numbers).flush_pending == 1);
  CHECK(Observation::of(numbers).cpu_s == 3);
  CHECK(Observation::of(numbers).submit_s == 9);
  CHECK(Observation::of(numbers).waited_s == 10);
  CHECK(Observation::of(numbers).steps == 11);
  CHECK(Observation::of(numbers).bytes == 12);
}

TEST_CASE("what is seen of uring is its own, and a time that nobody waited for is no more than a thread's") {
  constexpr Candidate uring{.strategy = Strategy::uring, .number = 2};
  PerformanceModel performance_model(load());
  performance_model.learn(seen(1.12, 0.408, 0.1), threads);
  performance_model.learn(seen(1, 0.4, 0.1), blocking);
  const auto before = performance_model.measurements(7);
  CHECK(!performance_model.has_measured_queue());
  auto o = seen(1.25, 1.2, 0.2);  // complete after 0.4 s perhaps, but seen after a step
  o.submit_s = 0.01;
  performance_model.learn(o, uring);
  CHECK(performance_model.has_measured_queue());
  auto m = performance_model.measurements(7);
  REQUIRE(m.queue);
  CHECK(m.queue->submit_s == 0.01);
  CHECK(m.queue->cpu_s == 0.2);
  CHECK(m.queue->write_s == doctest::Approx(0.4));
  CHECK(m.write == before.write);
  CHECK(m.phi.value == before.phi.value);
  CHECK(m.interference == before.interference);
  CHECK(m.compute_s == before.compute_s);
  CHECK(m.queue->interference.value == doctest::Approx(0.04).epsilon(0.05));  // 0.21 of the 0.25 s it took
  CHECK(predict(m, uring).compute_s == doctest::Approx(1.25).epsilon(0.01));
  o.write_s = 1.5;
  o.waited_s = 0.3;
  performance_model.learn(o, uring);
  m = performance_model.measurements(7);
  CHECK(m.queue->write_s == doctest::Approx(1.5 / (1 + m.write_interference.value)));
}

TEST_CASE("a meter counts what submitting took") {
  Meter meter;
  meter.add(1, {.write_s = 1, .submit_s = 0.25, .bytes = 10});
  meter.add(2, {.write_s = 1, .submit_s = 0.5, .bytes = 10});
  CHECK(meter.read().cost.submit_s == 0.75);
}

TEST_CASE("control groups of both versions withhold cores and memory, and so do those above") {
  const TempDir root;
  const auto put = [&](const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root.file(file)).parent_path());
    std::ofstream(root.file(file)) << text;
  };
  put("listing", "3:cpu,cpuacct:/job\n2:memory:/job/step\n1:name=systemd:/x\n0::/slurm/job\n");
  const auto groups = [&] { return ControlGroups(root.file("listing"), root.file("")); };
  CHECK(!groups().cores());
  CHECK(!groups().memory_free_bytes());
  put("slurm/job/cpu.max", "max 100000\n");
  put("slurm/cpu.max", "350000 100000\n");
  CHECK(groups().cores() == 3.5);
  put("cpu/job/cpu.cfs_period_us", "100000\n");
  put("cpu/job/cpu.cfs_quota_us", "-1\n");
  CHECK(groups().cores() == 3.5);
  put("cpu/job/cpu.cfs_quota_us", "150000\n");
  CHECK(groups().cores() == 1.5);
  put("slurm/job/memory.max", "max\n");
  put("slurm/job/memory.current", "500\n");
  CHECK(!groups().memory_free_bytes());
  CHECK(!groups().memory_limit_bytes());
  put("slurm/memory.max", "10000\n");
  CHECK(groups().memory_limit_bytes() == 10000);
  put("slurm/memory.current", "7000\n");
  CHECK(groups().memory_free_bytes() == 3000);
  put("slurm/memory.stat", "anon 1\ninactive_file 1500\nactive_file 9\n");
  CHECK(groups().memory_free_bytes() == 4500);
  put("memory/job/memory.limit_in_bytes", "4000\n");
  put("memory/job/memory.usage_in_bytes", "3000\n");
  put("memory/job/step/memory.limit_in_bytes", "9223372036854771712\n");
  put("memory/job/step/memory.usage_in_bytes", "3000\n");
  CHECK(groups().memory_free_bytes() == 1000);
  put("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 200\n");
  CHECK(groups().memory_free_bytes() == 1200);
  CHECK(groups().memory_limit_bytes() == 4000);
  std::filesystem::remove_all(root.file("slurm"));
  std::filesystem::remove_all(root.file("memory/job/memory.limit_in_bytes"));
  CHECK(!groups().memory_free_bytes());  // version 1 has a number for "no limit"
}

TEST_CASE("a meter counts jobs after a step, and remembers the last flush") {
  Meter meter;
  const auto cost = [](double write_s, double flush_s) {
    return JobCost{.write_s = write_s, .commit_mark_s = 0.5, .flush_s = flush_s, .cpu_s = 0.25, .bytes = 100};
  };
  meter.add(1, cost(1, 4));
  meter.restart(2);
  CHECK(meter.read().jobs == 0);
  CHECK(meter.read().flush_s == 4);
  CHECK(meter.read().flushed_at_s > 0);
  meter.add(2, cost(1, 0));  // was under way when the count began
  meter.add(3, cost(1, 0));
  meter.add(4, cost(2, 0));
  meter.add(4, {});  // a commit mark alone
  const auto totals = meter.read();
  CHECK(totals.jobs == 2);
  CHECK(totals.last_step == 4);
  CHECK(totals.cost.write_s == 3);
  CHECK(totals.cost.commit_mark_s == 1);
  CHECK(totals.cost.cpu_s == 0.5);
  CHECK(totals.cost.bytes == 200);
  CHECK(totals.squares_s2 == doctest::Approx(1.5 * 1.5 + 2.5 * 2.5));
  CHECK(totals.slowest_s == 2.5);
}

TEST_CASE("a meter that continues counts what was under way, each job once") {
  Meter meter;
  const auto add = [&](StepIndex step) { meter.add(step, {.write_s = 1, .bytes = 100}); };
  meter.restart(2);
  meter.next();
  CHECK(meter.read().after == 2);  // nothing came
  add(4);
  meter.next();  // steps up to 8 were taken meanwhile
  CHECK(meter.read().jobs == 0);
  CHECK(meter.read().after == 4);
  add(4);  // of another rank, for which this one writes
  add(6);
  CHECK(meter.read().jobs == 1);
  CHECK(meter.read().last_step == 6);
}

TEST_CASE("a host is reported in a line") {
  auto there = host("node-7", 2, 3);
  there.quota_cores = 1.5;
  there.spawn_slots = 4;
  CHECK(host_from(to_text(there)) == there);
  CHECK(this_host().memory_free_bytes > 0);
}

TEST_CASE("free cores are those that there is processor time for") {
  CHECK(machine_of({host("a", 3, 1)}).free_cores == 3);
  CHECK(machine_of({host("a", 2, 1), host("a", 2, 1)}).free_cores == 2);  // both see the same two
  auto limited = host("a", 3, 1);
  limited.quota_cores = 2.5;
  CHECK(machine_of({limited}).free_cores == 1);
  limited.quota_cores = 0.5;
  CHECK(machine_of({limited}).free_cores == 0);
}

TEST_CASE("the machine is that of the fullest node") {
  const auto m = machine_of({host("a", 1, 1), host("b", 2, 1), host("b", 2, 1)});
  CHECK(m.ranks == 3);
  CHECK(m.nodes == 2);
  CHECK(m.ranks_per_node == 2);
  CHECK(m.free_cores == 2);
  CHECK(m.threads_per_rank == 1);
  CHECK(m.dirty_limit_bytes == 1LL << 30);
  CHECK(m.spawning == Spawning::unknown);
}
