// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "output/planner/model.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

constexpr Candidate blocking{.strategy = Strategy::blocking, .buffers = 1};
Candidate threads(int buffers) {
  return {.strategy = Strategy::threads, .number = buffers, .buffers = buffers};
}
Candidate leaders(int group) {
  return {.strategy = Strategy::leaders, .number = group};
}
Candidate ranks(int number) {
  return {.strategy = Strategy::ranks, .number = number};
}

/// N outputs with C and W, exactly known and without disturbance.
Measurements run_of(std::int64_t outputs, double compute_s, double write_s) {
  Measurements m;
  m.outputs_left = outputs;
  m.compute_s = {compute_s, 0};
  m.write.write_s = write_s;
  m.interference = m.write_interference = {0, 0};
  m.bytes = m.largest_rank_bytes = 16 << 20;
  m.staging_bytes = m.bytes;
  return m;
}

/// The same on `ranks` ranks of one node with `free` cores that do not compute; a writer burns `phi`.
Measurements node_of(int ranks, int free, double phi, double compute_s, double write_s) {
  auto m = run_of(50, compute_s, write_s);
  m.machine.ranks = m.machine.ranks_per_node = m.writers = ranks;
  m.machine.free_cores = free;
  m.largest_rank_bytes = m.bytes / ranks;
  m.staging_bytes = m.largest_rank_bytes;
  m.phi = {phi, 0};
  return m;
}

}  // namespace

TEST_CASE("the laws give the measured run times within the rounding of C and W") {
  // docs/explain/planner.md, "Against measured runs": outputs, C, W, buffers (0: synchronous), measured
  // seconds. C and W are known to 0.005 s each.
  struct Row {
    std::int64_t outputs;
    double compute_s, write_s;
    int buffers;
    double measured_s;
  };
  for (const auto& row :
       {Row{8, 0.82, 0.36, 0, 9.45}, Row{8, 0.935, 0.337, 1, 10.21}, Row{6, 0.39, 1.00, 0, 8.37},
        Row{6, 0.39, 0.84, 1, 7.38}, Row{6, 0.39, 0.83, 4, 5.35}}) {
    CAPTURE(row.measured_s);
    const auto m = run_of(row.outputs, row.compute_s, row.write_s);
    const auto found = predict(m, row.buffers == 0 ? blocking : threads(row.buffers));
    const double rounding_s = 0.01 * static_cast<double>(row.outputs);
    CHECK(std::abs(found.run_s - row.measured_s) <= rounding_s);
  }
}

TEST_CASE("two buffers took a time between undisturbed computing and that of the run with one buffer") {
  // 7.35 s were measured; that run's own C is not known, only those of its neighbours are.
  CHECK(predict(run_of(8, 0.82, 0.36), threads(2)).run_s < 7.35);
  CHECK(predict(run_of(8, 0.935, 0.337), threads(2)).run_s > 7.35);
}

TEST_CASE("overlap wins most where computing and writing take the same time, and at most a factor of two") {
  const auto speed_up = [](double compute_s, double write_s) {
    const auto m = run_of(1000, compute_s, write_s);
    return predict(m, blocking).run_s / predict(m, threads(2)).run_s;
  };
  CHECK(speed_up(1, 1) == doctest::Approx(2).epsilon(0.002));
  CHECK(speed_up(1, 0.2) == doctest::Approx(1.2).epsilon(0.002));
  CHECK(speed_up(0.2, 1) == doctest::Approx(1.2).epsilon(0.002));
  // With the fifty outputs of the benchmark one write remains visible.
  const auto m = run_of(50, 1, 1);
  CHECK(predict(m, blocking).run_s / predict(m, threads(2)).run_s == doctest::Approx(100.0 / 51));
}

TEST_CASE("with one buffer nothing overlaps, and more than two change nothing under a constant load") {
  for (const double write_s : {0.3, 1.0, 3.0}) {
    const auto m = run_of(20, 1, write_s);
    CHECK(predict(m, threads(1)).run_s == predict(m, blocking).run_s);
    CHECK(predict(m, threads(2)).run_s < predict(m, blocking).run_s);
    CHECK(predict(m, threads(6)).run_s == predict(m, threads(2)).run_s);
  }
}

TEST_CASE("a single output has nothing to hide behind, and none takes no time") {
  const auto one = run_of(1, 1, 0.5);
  CHECK(predict(one, threads(2)).run_s == predict(one, blocking).run_s);
  CHECK(predict(run_of(0, 1, 0.5), threads(2)).run_s == 0);
}

TEST_CASE(
    "a writer that polls on a core that computes makes the computation as slow as synchronous writing") {
  const auto m = node_of(8, 0, 1.0, 1, 0.5);
  const auto beside = predict(m, threads(2));
  CHECK(beside.compute_s == doctest::Approx(1.5));
  CHECK(beside.run_s >= predict(m, blocking).run_s);
  CHECK(predict(node_of(8, 8, 1.0, 1, 0.5), threads(2)).compute_s == 1);
  CHECK(predict(node_of(8, 0, 0.05, 1, 0.5), threads(2)).compute_s == doctest::Approx(1.025));
}

TEST_CASE("threads of a rank share what its writer takes from them") {
  auto m = node_of(2, 0, 1.0, 1, 0.8);
  m.machine.threads_per_rank = 4;
  CHECK(predict(m, threads(2)).compute_s == doctest::Approx(1.2));
}

TEST_CASE("copying and interference lengthen the computation, interference the writing") {
  auto m = run_of(10, 1, 0.5);
  m.copy_s = 0.1;
  m.interference = {0.05, 0};
  m.write_interference = {0.2, 0};
  const auto found = predict(m, threads(2));
  CHECK(found.compute_s == doctest::Approx(1.15));
  CHECK(found.write_s == doctest::Approx(0.6));
  CHECK(predict(m, blocking).per_output_s == doctest::Approx(1.6));
}

TEST_CASE("a dedicated rank without a core of its own takes what it needs of the processor, like a thread") {
  // Its processor seconds for the data of all 8 ranks are 8 times 0.05 of 0.5 s, on one of 8 cores.
  const auto m = node_of(8, 0, 0.05, 1, 0.5);
  CHECK(predict(m, ranks(1)).compute_s == doctest::Approx(1.025).epsilon(0.01));
  CHECK(predict(m, ranks(1)).extra_processes == 1);
  const auto reason = predict(m, ranks(1)).reason;
  CHECK(reason == "the job has no dedicated ranks; start it with --write ranks:1 and one rank more");
  CHECK(predict(m, ranks(2)).reason.find("--write ranks:2 and 2 ranks more") != std::string::npos);
  CHECK(predict(m, threads(2)).extra_processes == 0);
  CHECK(predict(m, {.strategy = Strategy::spawn, .number = 3}).extra_processes == 3);
}

TEST_CASE("a rank that gives up computing costs its share: 4 % of 24, everything of 2") {
  // Writing that uses the processor all the time: 0.5 s on each core would be more than a core of 24.
  const auto many = predict(node_of(24, 0, 1, 1, 0.5), ranks(1));
  CHECK(many.compute_s == doctest::Approx(24.0 / 23).epsilon(0.01));
  CHECK(many.extra_processes == 0);
  CHECK(many.reason.find("--write ranks:1 and one rank less to compute") != std::string::npos);
  CHECK(predict(node_of(2, 0, 1, 1, 1.5), ranks(1)).compute_s == doctest::Approx(2).epsilon(0.02));
  CHECK(predict(node_of(1, 0, 1, 1, 0.5), ranks(1)).extra_processes == 1);  // nobody would compute
  // Idle cores, or ranks that were set aside at the start, cost nothing.
  CHECK(predict(node_of(8, 1, 1, 1, 1), ranks(1)).compute_s == doctest::Approx(1).epsilon(0.01));
  auto given = node_of(8, 0, 0, 1, 1);
  given.machine.dedicated_ranks = 1;
  CHECK(predict(given, ranks(1)).compute_s == doctest::Approx(1).epsilon(0.01));
  CHECK(predict(given, ranks(1)).possible);
  CHECK(predict(given, ranks(1)).extra_processes == 0);
  CHECK(!predict(node_of(8, 1, 0, 1, 1), ranks(1)).possible);
}

TEST_CASE("messages are copied as fast as a rank packs, if that was measured") {
  auto m = node_of(9, 9, 0, 1, 0.5);
  m.copy_s = 0.02;
  m.machine.message_s = 0.001;
  const auto found = predict(m, ranks(1));
  CHECK(found.compute_s == doctest::Approx(1 + 0.02 + 0.021));
  CHECK(found.write_s == doctest::Approx(0.5 + 9 * 0.021));
}

TEST_CASE("uring: as a thread that no one else knows, but the simulation hands over each dataset") {
  auto m = node_of(4, 0, 0.1, 1, 0.5);
  m.datasets = 256;
  m.machine.submission_s = 1e-4;
  const Candidate uring{.strategy = Strategy::uring, .number = 2};
  CHECK(predict(m, uring).compute_s == doctest::Approx(1 + 256e-4 + 0.1 * 0.5));
  CHECK(predict(m, uring).write_s == doctest::Approx(0.5));
  CHECK(taken_s(m, uring) == doctest::Approx(256e-4 + 0.05));
}

TEST_CASE("uring is predicted from its own measurements once there are some") {
  auto m = node_of(4, 0, 0.1, 1, 0.5);
  m.datasets = 256;
  m.queue = QueueTime{.submit_s = 0.01, .write_s = 0.4, .cpu_s = 0.2, .interference = {0, 0}};
  const Candidate uring{.strategy = Strategy::uring, .number = 2};
  CHECK(predict(m, uring).compute_s == doctest::Approx(1.21));
  CHECK(predict(m, uring).write_s == doctest::Approx(0.4));
  CHECK(predict(m, threads(2)).compute_s == doctest::Approx(1.05));
  m.machine.free_cores = 4;
  CHECK(predict(m, uring).compute_s == doctest::Approx(1.01));
  m.write_interference = {0.1, 0};
  CHECK(predict(m, uring).write_s == doctest::Approx(0.44));
}

TEST_CASE("uring waits for the flush where a buffer is needed before its rank has looked in three times") {
  auto m = node_of(1, 1, 0, 1, 0.1);
  m.each_flushed = true;
  m.write.flush_s = 0.4;
  m.machine.submission_s = 0;
  const auto uring = [&](int buffers) {
    return predict(m, {.strategy = Strategy::uring, .number = buffers, .buffers = buffers});
  };
  CHECK(uring(2).per_output_s == doctest::Approx(1.4));  // in the step: the flush, not the writing
  CHECK(uring(3).per_output_s == doctest::Approx(1));
  m.steps_between = 2;
  CHECK(uring(2).per_output_s == doctest::Approx(1));
  m.steps_between = 1;
  m.each_flushed = false;
  CHECK(uring(2).per_output_s == doctest::Approx(1));
}

TEST_CASE("few writers are as fast as many where the device is the limit, slower where the processor is") {
  const auto device = node_of(8, 1, 0.05, 1, 0.5);
  CHECK(predict(device, leaders(8)).write_s == doctest::Approx(0.5));
  const auto processor = node_of(8, 1, 1.0, 1, 0.5);
  CHECK(predict(processor, leaders(8)).write_s == doctest::Approx(4));
  CHECK(predict(processor, leaders(4)).write_s == doctest::Approx(2));
  CHECK(predict(processor, leaders(1)).write_s == doctest::Approx(0.5));
}

TEST_CASE("a pace per process makes few writers slow though they use no processor") {
  auto m = node_of(4, 0, 0.01, 1, 0.5);
  m.machine.writer_limit_bytes_s = static_cast<double>(m.largest_rank_bytes) / 0.5;
  CHECK(predict(m, leaders(1)).write_s == doctest::Approx(0.5));
  CHECK(predict(m, leaders(2)).write_s == doctest::Approx(1));
  CHECK(predict(m, leaders(4)).write_s == doctest::Approx(2));
}

TEST_CASE("what a paced writer took beyond its pace stays") {
  auto m = node_of(1, 0, 0.01, 1, 0.6);
  m.machine.writer_limit_bytes_s = static_cast<double>(m.largest_rank_bytes) / 0.5;
  CHECK(predict(m, threads(2)).write_s == doctest::Approx(0.6));
}

TEST_CASE("where one rank owns all, leaders have no more to write than threads") {
  auto m = node_of(8, 1, 1.0, 1, 0.5);
  m.largest_rank_bytes = m.bytes;
  CHECK(predict(m, leaders(8)).write_s == doctest::Approx(0.5));
}

TEST_CASE("messages cost the sender one copy and the writer one per rank that it serves") {
  auto m = node_of(9, 0, 0, 1, 0.5);
  m.machine.dedicated_ranks = 1;
  m.machine.message_s = 0;
  m.machine.copy_bytes_s = static_cast<double>(m.largest_rank_bytes) / 0.01;
  const auto found = predict(m, ranks(1));
  CHECK(found.compute_s == doctest::Approx(1.01));
  CHECK(found.write_s == doctest::Approx(0.59));
}

TEST_CASE("the flush counts when outputs are flushed or the run is larger than the page cache keeps") {
  // 150 snapshots of 440^3 values fitted into the memory that Linux keeps dirty of 256 GB, those of 504^3 did
  // not: the knee in a published study.
  const auto snapshots = [](double edge) {
    auto m = run_of(150, 1, 0.5);
    m.write.flush_s = 2;
    m.bytes = static_cast<std::int64_t>(4 * edge * edge * edge);
    m.run_bytes = 150 * m.bytes;
    m.machine.dirty_limit_bytes = static_cast<std::int64_t>(0.2 * 256e9);
    return m;
  };
  CHECK(write_time(snapshots(440)) == 0.5);
  CHECK(write_time(snapshots(504)) == 2.5);
  auto flushed = snapshots(120);
  flushed.each_flushed = true;
  CHECK(write_time(flushed) == 2.5);
  auto unknown = snapshots(504);
  unknown.machine.dirty_limit_bytes = 0;
  CHECK(write_time(unknown) == 0.5);
}

TEST_CASE("what cannot be taken is predicted all the same, with the reason") {
  auto m = node_of(4, 0, 0.05, 1, 0.5);
  m.refused = {{Strategy::threads, "no threads here"}, {Strategy::uring, "no io_uring here"}};
  CHECK(!predict(m, threads(2)).possible);
  CHECK(predict(m, leaders(4)).possible);
  CHECK(predict(m, blocking).possible);
  CHECK(!predict(node_of(1, 0, 0.05, 1, 0.5), leaders(1)).possible);
  const auto uring = predict(m, {.strategy = Strategy::uring});
  CHECK(!uring.possible);
  CHECK(uring.reason.find("io_uring") != std::string::npos);
  CHECK(uring.run_s > 0);
  const Candidate spawn{.strategy = Strategy::spawn, .number = 2};
  CHECK(!predict(m, spawn).possible);
  m.machine.spawning = Spawning::works;
  m.machine.spawn_slots = 2;
  CHECK(predict(m, spawn).possible);
  CHECK(predict(m, ranks(1)).reason.find("--write ranks:1") != std::string::npos);
}

TEST_CASE("buffers that the memory has no room for make a strategy impossible") {
  auto m = node_of(4, 0, 0.05, 1, 0.5);
  m.machine.memory_free_bytes = 2 * 4 * m.staging_bytes;
  CHECK(predict(m, threads(2)).possible);
  CHECK(!predict(m, threads(3)).possible);
  CHECK(predict(m, blocking).possible);
}

TEST_CASE("spawned processes take their time to start") {
  auto m = node_of(4, 2, 0.05, 1, 0.5);
  m.machine.spawn_s = 0.5;
  const auto found = predict(m, {.strategy = Strategy::spawn, .number = 2});
  m.machine.spawn_s = 0;
  CHECK(found.run_s == doctest::Approx(predict(m, {.strategy = Strategy::spawn, .number = 2}).run_s + 1));
}

TEST_CASE("the uncertainty of a gain is that of what matters for it") {
  auto m = run_of(100, 1, 0.5);
  CHECK(gain_s(m, threads(2), blocking).error == 0);
  // In a run that computing bounds the gain is the writing: an error of C moves both run times alike.
  m.compute_s.error = 0.1;
  CHECK(gain_s(m, threads(2), blocking).value == doctest::Approx(49.5));
  CHECK(gain_s(m, threads(2), blocking).error == doctest::Approx(0).epsilon(1e-9));
  m.write_error = 0.1;
  CHECK(gain_s(m, threads(2), blocking).error == doctest::Approx(4.5));  // 49.5 - 49.5 / 1.1
  m.write_error = 9;  // known to a factor of ten: there is still something to gain
  CHECK(gain_s(m, threads(2), blocking).error == doctest::Approx(0.9 * 49.5));
  m.write_error = 0;
  m.interference.error = 0.02;
  CHECK(gain_s(m, threads(2), blocking).error == doctest::Approx(2));
}

TEST_CASE("estimates: mean, Student's interval, and two as one") {
  const auto same = estimate_of(std::array{2.0, 2.0, 2.0});
  CHECK(same == Estimate{2, 0});
  const auto three = estimate_of(std::array{1.0, 2.0, 3.0});
  CHECK(three.value == 2);
  CHECK(three.error == doctest::Approx(4.30 / std::sqrt(3.0)));
  CHECK(estimate_of(std::array{5.0}) == Estimate{5, 5});
  const auto both = combine({1, 0.1}, {2, 0.1});
  CHECK(both.value == doctest::Approx(1.5));
  CHECK(both.error == doctest::Approx(0.1 / std::sqrt(2.0)));
  CHECK(combine({1, 0}, {2, 0.1}) == Estimate{1, 0});
  CHECK(combine({1, 1e9}, {2, 0.1}).value == doctest::Approx(2));
}

TEST_CASE("candidates are written as --write takes them") {
  CHECK(to_string(blocking) == "blocking");
  CHECK(to_string(threads(3)) == "threads:3");
  CHECK(to_string(leaders(4)) == "leaders:4,buffers=2");
  CHECK(to_string(Candidate{.strategy = Strategy::uring, .number = 2}) == "uring:2");
  CHECK(to_string(ranks(2)) == "ranks:2");
  CHECK(to_string(Candidate{.strategy = Strategy::spawn, .number = 2}) == "spawn:2");
}
