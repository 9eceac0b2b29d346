// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>

#include "output/planner/planner.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

/// N = 50 outputs with C and W on `ranks` ranks of one node, whose writers burn `phi` and of whose cores
/// `free` do not compute; measured well, the interference as assumed.
Measurements node_of(int ranks, int free, double phi, double compute_s, double write_s) {
  Measurements m;
  m.outputs_left = 50;
  m.compute_s = {compute_s, 0.01 * compute_s};
  m.write.write_s = write_s;
  m.write_error = 0.02;
  m.phi = {phi, 0.1 * phi};
  m.bytes = 64 << 20;
  m.largest_rank_bytes = m.staging_bytes = m.bytes / ranks;
  m.machine.ranks = m.machine.ranks_per_node = m.writers = ranks;
  m.machine.free_cores = free;
  return m;
}

/// As if MPI had been started for a single thread.
void refuse_threads(Measurements& m) {
  for (const auto strategy : {Strategy::threads, Strategy::leaders, Strategy::uring})
    m.refused.push_back({strategy, "one thread per process"});
}

bool some_reason_has(const Decision& decision, const std::string& text) {
  return std::any_of(decision.reasons.begin(), decision.reasons.end(),
                     [&](const auto& reason) { return reason.find(text) != std::string::npos; });
}

const Prediction& prediction_of(const Decision& decision, Strategy strategy) {
  const auto found = std::find_if(decision.predictions.begin(), decision.predictions.end(),
                                  [&](const auto& p) { return p.candidate.strategy == strategy; });
  REQUIRE(found != decision.predictions.end());
  return *found;
}

}  // namespace

// The rules of thumb that others give for choosing a strategy follow from the laws.

TEST_CASE("writing of less than two percent stays in the step") {
  for (const int ranks : {1, 4, 24}) {
    const auto decision = choose(node_of(ranks, 0, 0.05, 1, 0.019));
    CHECK(decision.strategy() == "blocking");
    CHECK(!decision.last_blocking);
  }
}

TEST_CASE("writing of less than two percent goes asynchronously once the gain is certain") {
  auto m = node_of(4, 4, 0.05, 1, 0.019);
  m.interference = {0.001, 0.002};
  CHECK(choose(m).strategy() == "threads:2");
}

TEST_CASE("without threads beside MPI only dedicated ranks hide the writing") {
  auto m = node_of(4, 0, 0.05, 1, 0.5);
  refuse_threads(m);
  CHECK(choose(m).strategy() == "blocking");
  m.machine.dedicated_ranks = 1;
  CHECK(choose(m).strategy() == "ranks:1");
}

TEST_CASE("writers that use the processor get the free cores, in groups inside the node") {
  // The layout that the study of a 24-core node recommends: 22 ranks compute, two groups of 11, two writers.
  const auto decision = choose(node_of(22, 2, 0.5, 1, 0.15));
  CHECK(decision.strategy() == "leaders:11,buffers=2");
  CHECK(decision.group == 11);
  CHECK(predict(node_of(22, 2, 0.5, 1, 0.15), decision.candidate).compute_s == doctest::Approx(1.02));
}

TEST_CASE("without a free core a thread is taken as long as its processor time is less than what it hides") {
  for (const double ratio : {0.25, 0.5, 1.0, 2.0}) {  // of W to C
    CAPTURE(ratio);
    const double limit = std::min(1 / ratio, 1.0);
    CHECK(choose(node_of(8, 0, 0.3 * limit, 1, ratio)).strategy() == "threads:2");
  }
  for (const double ratio : {0.25, 0.5, 1.0})
    CHECK(choose(node_of(8, 0, 1.0, 1, ratio)).strategy() == "blocking");
}

TEST_CASE(
    "a dedicated rank is worth its core from about a dozen ranks on, and only advice if none was given") {
  const auto many = choose(node_of(24, 0, 1.0, 1, 0.5));
  CHECK(many.strategy() == "blocking");
  CHECK(!prediction_of(many, Strategy::ranks).possible);
  CHECK(prediction_of(many, Strategy::ranks).extra_processes == 0);
  auto m = node_of(24, 0, 1.0, 1, 0.5);
  m.phi = {0.04, 0};
  refuse_threads(m);
  CHECK(some_reason_has(choose(m), "start it with --write ranks:1 and one rank more"));
  CHECK(!some_reason_has(choose(node_of(2, 0, 1.0, 1, 0.5)), "start it with"));
  m.machine.dedicated_ranks = 1;
  CHECK(choose(m).strategy() == "ranks:1");
}

TEST_CASE("the last output is written by all ranks if they are surely faster") {
  auto m = node_of(8, 2, 1.0, 1, 0.15);
  const auto grouped = choose(m);
  CHECK(grouped.candidate.strategy == Strategy::leaders);
  CHECK(grouped.last_blocking);
  CHECK(!choose(node_of(8, 8, 0.05, 1, 0.5)).last_blocking);
}

TEST_CASE("the simplest of equals is taken, and what would gain a little is named") {
  auto m = node_of(4, 4, 0.05, 1, 0.5);
  CHECK(choose(m).strategy() == "threads:2");
  auto close = node_of(4, 4, 0.05, 1, 0.06);
  const auto decision = choose(close);
  CHECK(decision.strategy() == "blocking");
  CHECK(some_reason_has(decision, "threads:2 would gain"));
}

TEST_CASE("noise makes the planner cautious where the gain is small, not where it is large") {
  auto m = node_of(2, 0, 0.05, 1, 0.9);
  m.compute_s.error = 0.3;
  m.write_error = 0.3;
  CHECK(choose(m).strategy() == "threads:2");
  m.write.write_s = 0.04;
  CHECK(choose(m).strategy() == "blocking");
}

TEST_CASE("what is in force stays unless another one surely gains over it") {
  auto m = node_of(4, 4, 0.05, 1, 0.06);
  const Candidate threads{.strategy = Strategy::threads, .number = 2};
  CHECK(choose(m).strategy() == "blocking");
  CHECK(choose(m, threads).strategy() == "threads:2");
  m.phi = {1, 0};
  m.machine.free_cores = 0;
  m.interference = {0.2, 0.01};
  CHECK(choose(m, threads).strategy() == "blocking");
  const auto other =
      choose(node_of(4, 4, 0.05, 1, 0.5), {.strategy = Strategy::threads, .number = 5, .buffers = 5});
  CHECK(other.strategy() == "threads:5");  // what is no candidate by itself has a prediction, too
  CHECK(other.prediction().run_s > 0);
}

TEST_CASE("a decision has a prediction of every candidate, and reasons") {
  const auto decision = choose(node_of(4, 0, 0.05, 1, 0.5));
  for (const auto strategy : {Strategy::blocking, Strategy::threads, Strategy::leaders, Strategy::uring,
                              Strategy::ranks, Strategy::spawn})
    CHECK(prediction_of(decision, strategy).run_s > 0);
  REQUIRE(!decision.reasons.empty());
  CHECK(decision.reasons.front().find("instead of 75 s with blocking") != std::string::npos);
  CHECK(decision.prediction().candidate == decision.candidate);
}

TEST_CASE("reasons name the page cache when its limit is known") {
  auto m = node_of(2, 0, 0.05, 1, 0.5);
  m.run_bytes = 8LL << 30;
  m.machine.dirty_limit_bytes = 4LL << 30;
  CHECK(some_reason_has(choose(m), "planned with the device's speed"));
  m.machine.dirty_limit_bytes = 16LL << 30;
  CHECK(some_reason_has(choose(m), "planned with the page cache's speed"));
}

TEST_CASE("two buffers absorb any constant load") {
  for (const double write_s : {0.1, 0.9, 3.0}) CHECK(choose_buffers(node_of(2, 0, 0, 1, write_s)).count == 2);
}

TEST_CASE("bursts get the buffers that hold what the writer has not yet taken") {
  auto m = node_of(2, 0, 0, 1, 0.8);
  m.bursts = {.outputs = 5, .interval_s = 0.2, .period_s = 10};
  // B - 1 >= 5 - floor(4 * 0.2 / 0.8) = 4
  CHECK(choose_buffers(m).count == 5);
  m.bursts.interval_s = 0.4;
  CHECK(choose_buffers(m).count == 4);
  m.bursts.interval_s = 1;  // each is written before the next comes
  CHECK(choose_buffers(m).count == 2);
  m.bursts = {.outputs = 5, .interval_s = 0.2, .period_s = 3};  // no number of buffers helps
  CHECK(choose_buffers(m).count == 2);
}

TEST_CASE("buffers cover the slowest of twenty writes where the mean hides") {
  auto m = node_of(2, 0, 0, 1, 0.5);
  m.write_slowest_s = 0.9;
  CHECK(choose_buffers(m).count == 2);
  m.write_slowest_s = 2.5;
  CHECK(choose_buffers(m).count == 4);
  m.write.write_s = 1.5;
  CHECK(choose_buffers(m).count == 2);
}

TEST_CASE("memory caps the buffers, and that is said") {
  auto m = node_of(4, 0, 0, 1, 0.5);
  m.write_slowest_s = 5.5;
  CHECK(choose_buffers(m).count == 7);
  m.machine.memory_free_bytes = 3 * 4 * m.staging_bytes;
  const auto capped = choose_buffers(m);
  CHECK(capped.count == 3);
  CHECK(capped.reason.find("3 instead of 7 buffers") != std::string::npos);
  m.machine.memory_free_bytes = 4 * m.staging_bytes;  // room for one each: nothing can overlap
  CHECK(choose(m).strategy() == "blocking");
}

TEST_CASE("groups of outputs are found in their steps") {
  CHECK(find_bursts({10, 20, 30, 40}, 1).outputs == 1);
  CHECK(find_bursts({}, 1).outputs == 1);
  const auto bursts = find_bursts({100, 101, 102, 200, 201, 202, 300, 301, 302}, 0.5);
  CHECK(bursts.outputs == 3);
  CHECK(bursts.interval_s == 0.5);
  CHECK(bursts.period_s == doctest::Approx(202.0 / 3 * 0.5));
}

TEST_CASE("with uring and a flush of each output there may be buffers until all is done") {
  auto m = node_of(2, 0, 0, 1, 0.5);
  const auto most = [&] {
    int buffers = 0;
    for (const auto& candidate : candidates(m))
      if (candidate.strategy == Strategy::uring) buffers = std::max(buffers, candidate.buffers);
    return buffers;
  };
  CHECK(most() == 2);
  m.each_flushed = true;
  CHECK(most() == 3);
  m.machine.memory_free_bytes = 2 * 2 * m.staging_bytes;
  CHECK(most() == 2);
  m.machine.memory_free_bytes = 0;
  m.steps_between = 2;
  CHECK(most() == 2);
}

TEST_CASE("uring is taken where it was seen to leave more to the computation") {
  auto m = node_of(4, 0, 0.5, 1, 0.5);
  CHECK(choose(m).strategy() == "threads:2");
  m.queue = QueueTime{.submit_s = 0.001, .write_s = 0.5, .cpu_s = 0.01};
  CHECK(choose(m).strategy() == "uring:2");
}

TEST_CASE("what is expected between outputs goes by their steps and bytes") {
  const auto m = node_of(4, 4, 0, 1, 0.5);
  const auto behind = predict(m, {.strategy = Strategy::threads, .number = 2});
  const auto synchronous = predict(m, {.strategy = Strategy::blocking, .buffers = 1});
  CHECK(expected_output_s(behind, 1, 1) == doctest::Approx(behind.per_output_s));
  CHECK(expected_output_s(behind, 0.5, 4) == doctest::Approx(4 * behind.write_s));
  CHECK(expected_output_s(synchronous, 1, 1) == doctest::Approx(1.5));
  CHECK(expected_output_s(synchronous, 0.5, 4) == doctest::Approx(0.5 + 2));
}

TEST_CASE("a prediction is wrong when it is off by more than a fifth") {
  CHECK(!is_wrong(1.0, 1.19));
  CHECK(!is_wrong(1.0, 0.81));
  CHECK(is_wrong(1.0, 1.21));
  CHECK(is_wrong(1.0, 0.79));
}
