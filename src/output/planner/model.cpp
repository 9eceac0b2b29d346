// SPDX-License-Identifier: BSD-3-Clause
#include "output/planner/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.hpp"
#include "base/system.hpp"

namespace tailrace::output {

namespace {

int ceil_div(int a, int b) noexcept {
  return (a + b - 1) / b;
}

/// Who writes under a candidate.
struct Writers {
  int total = 1;          ///< A
  int per_node = 1;       ///< on the fullest node
  int ranks_each = 1;     ///< compute ranks that one of them serves, g
  bool messages = false;  ///< data travel as messages
};

Writers writers_of(const Machine& machine, const Candidate& candidate) noexcept {
  switch (candidate.strategy) {
    case Strategy::leaders: {
      const int group = std::clamp(candidate.number, 1, machine.ranks_per_node);
      const int per_node = ceil_div(machine.ranks_per_node, group);
      return {.total = per_node * machine.nodes, .per_node = per_node, .ranks_each = group};
    }
    case Strategy::ranks:
    case Strategy::spawn:
      return {.total = candidate.number,
              .per_node = ceil_div(candidate.number, machine.nodes),
              .ranks_each = ceil_div(machine.ranks, candidate.number),
              .messages = true};
    case Strategy::blocking:
    case Strategy::threads:
    case Strategy::uring:
      break;
  }
  return {.total = machine.ranks, .per_node = machine.ranks_per_node};
}

/// Bytes of one output that the busiest of these writers writes.
double busiest_bytes(const Measurements& m, int ranks_each) noexcept {
  return std::min(static_cast<double>(m.bytes),
                  static_cast<double>(m.largest_rank_bytes) * static_cast<double>(ranks_each));
}

/// Processor seconds of the busiest writer for one output.
double processor_s(const Measurements& m, const Writers& writers) noexcept {
  const double before = m.phi.value * write_time(m);
  const double measured = busiest_bytes(m, ceil_div(m.machine.ranks, m.writers));
  return measured > 0 ? before * busiest_bytes(m, writers.ranks_each) / measured : before;
}

/// Bytes per second at which a rank copies: as it packs, if that was measured.
double copy_rate(const Measurements& m) noexcept {
  if (m.copy_s <= 0 || m.largest_rank_bytes <= 0) return m.machine.copy_bytes_s;
  return static_cast<double>(m.largest_rank_bytes) / m.copy_s;
}

/// Seconds for the data of one rank to leave it, or to be taken in, as messages.
double message_s(const Measurements& m) noexcept {
  return static_cast<double>(m.largest_rank_bytes) / copy_rate(m) + m.machine.message_s;
}

/// W of these writers: as measured, what --pace holds the busiest of them back more or less than those that
/// were measured included, and no less than one writer needs by itself, which its processor time shows.
double write_time_of(const Measurements& m, const Writers& writers) noexcept {
  double shared_s = write_time(m) - m.write.gather_s;
  if (const double limit = m.machine.writer_limit_bytes_s; limit > 0)
    shared_s +=
        (busiest_bytes(m, writers.ranks_each) - busiest_bytes(m, ceil_div(m.machine.ranks, m.writers))) /
        limit;
  double gather_s = 0;
  if (writers.messages) gather_s = static_cast<double>(writers.ranks_each) * message_s(m);
  return std::max(processor_s(m, writers), shared_s) + gather_s;
}

/// Writer threads or processes per core that computes, of those that find no free core: q.
double sharing(const Machine& machine, const Writers& writers) noexcept {
  const int cores = machine.ranks_per_node * machine.threads_per_rank;
  return static_cast<double>(std::max(0, writers.per_node - machine.free_cores)) / static_cast<double>(cores);
}

/// C (1 + s).
double beside_writing(const Measurements& m, const Candidate& candidate) noexcept {
  const bool by_queue = candidate.strategy == Strategy::uring && m.queue;
  return m.compute_s.value * (1 + (by_queue ? m.queue->interference : m.interference).value);
}

/// C (1 + s) of what is left for the ranks if some of them write instead, and what that saves: they share no
/// core with their writers then.
double computed_by_fewer(const Measurements& m, const Candidate& candidate) noexcept {
  const auto ranks = static_cast<double>(m.machine.ranks);
  return beside_writing(m, candidate) * ranks / (ranks - candidate.number);
}

/// Returns whether dedicated ranks are better made of those that the job has than added to them: the writers
/// find no free core, and take more from the computation than the ranks that they would replace.
bool replaces_ranks(const Measurements& m, const Candidate& candidate) noexcept {
  if (candidate.strategy != Strategy::ranks || m.machine.dedicated_ranks == candidate.number) return false;
  if (2 * candidate.number > m.machine.ranks) return false;  // no fewer may compute than write
  return computed_by_fewer(m, candidate) < beside_writing(m, candidate) + taken_s(m, candidate);
}

/// With `uring` a buffer is free when its rank has looked in after the samples, after the commit mark, and,
/// if each output is flushed, after that, once per time step. Where the buffers are needed sooner, nobody
/// looks in while the simulation computes, and it waits for the flush.
bool waits_for_flush(const Measurements& m, const Candidate& candidate) noexcept {
  constexpr int looks = 3;
  return candidate.strategy == Strategy::uring && m.each_flushed &&
         candidate.buffers * m.steps_between < looks;
}

/// C' of a candidate that writes asynchronously.
double disturbed_compute(const Measurements& m, const Candidate& candidate, const Writers& writers) noexcept {
  double compute_s = replaces_ranks(m, candidate) ? computed_by_fewer(m, candidate)
                                                  : beside_writing(m, candidate) + taken_s(m, candidate);
  if (waits_for_flush(m, candidate)) compute_s += m.write.flush_s;
  return compute_s + m.copy_s + (writers.messages ? message_s(m) : 0);
}

/// W of a candidate, undisturbed.
double written_in(const Measurements& m, const Candidate& candidate, const Writers& writers) noexcept {
  const bool by_queue = candidate.strategy == Strategy::uring && m.queue;
  const double write_s = by_queue ? m.queue->write_s : write_time_of(m, writers);
  return waits_for_flush(m, candidate) ? std::max(0.0, write_s - m.write.flush_s) : write_s;
}

/// Processes that a job would have to have beside its ranks.
int extra_processes(const Measurements& m, const Candidate& candidate) noexcept {
  if (candidate.strategy == Strategy::spawn) return candidate.number;
  if (candidate.strategy != Strategy::ranks || m.machine.dedicated_ranks == candidate.number) return 0;
  return replaces_ranks(m, candidate) ? 0 : candidate.number;
}

/// Returns how to get dedicated ranks.
std::string how_to_start(const Measurements& m, const Candidate& candidate) {
  const auto ranks = candidate.number == 1 ? "one rank" : fmt::format("{} ranks", candidate.number);
  return fmt::format("start it with --write {} and {} {}", to_string(candidate), ranks,
                     extra_processes(m, candidate) > 0 ? "more" : "less to compute");
}

/// Why a candidate cannot be taken, or nothing.
std::string obstacle(const Measurements& m, const Candidate& candidate) {
  const Machine& machine = m.machine;
  const auto memory = static_cast<std::int64_t>(candidate.buffers) * m.staging_bytes * machine.ranks_per_node;
  if (candidate.buffers > 1 && machine.memory_free_bytes > 0 && memory > machine.memory_free_bytes)
    return fmt::format("{} buffers take {} of a node's memory, {} are free", candidate.buffers,
                       human_bytes(static_cast<double>(memory)),
                       human_bytes(static_cast<double>(machine.memory_free_bytes)));
  for (const auto& refusal : m.refused)
    if (refusal.strategy == candidate.strategy) return refusal.reason;
  if (std::find(m.dropped.begin(), m.dropped.end(), to_string(candidate)) != m.dropped.end())
    return "it was tried, and clearly slower than what was in force before";
  switch (candidate.strategy) {
    case Strategy::blocking:
    case Strategy::threads:
    case Strategy::uring:
      break;
    case Strategy::leaders:
      return machine.ranks_per_node > 1 ? "" : "a rank that is alone on its node has nobody to lead";
    case Strategy::ranks:
      if (machine.dedicated_ranks == candidate.number) return {};
      return "the job has no dedicated ranks; " + how_to_start(m, candidate);
    case Strategy::spawn:
      if (machine.spawning == Spawning::works && machine.spawn_slots >= candidate.number) return {};
      return fmt::format("MPI names no room for {} more process{}; start it with --write {} to try",
                         candidate.number, candidate.number > 1 ? "es" : "", to_string(candidate));
  }
  return {};
}

/// 3.1: N outputs whose writing hides asynchronously that follows it, or does not.
double run_time(double outputs, double compute_s, double write_s, bool overlaps) noexcept {
  if (outputs <= 0) return 0;
  if (!overlaps) return outputs * (compute_s + write_s);
  return compute_s + (outputs - 1) * std::max(compute_s, write_s) + write_s;
}

std::string explain(const Prediction& prediction, const Measurements& m, bool overlaps) {
  if (prediction.candidate.strategy == Strategy::blocking)
    return fmt::format("synchronous: {:.3g} s of computing, {:.3g} s of writing", prediction.compute_s,
                       prediction.write_s);
  if (!overlaps) return "with one buffer nothing overlaps";
  const double cost_s = prediction.compute_s - m.compute_s.value - m.copy_s;
  const char* const bound = prediction.write_s > prediction.compute_s ? "computing hides behind writing"
                                                                      : "writing hides behind computing";
  return fmt::format("{}: {:.3g} s of computing, {:.3g} s of writing, disturbance {:.2g} s", bound,
                     prediction.compute_s, prediction.write_s, cost_s);
}

}  // namespace

Estimate estimate_of(std::span<const double> values) noexcept {
  double sum = 0, squares = 0;
  const double first = values.front();  // differences from it keep their digits
  for (const double value : values) {
    sum += value - first;
    squares += (value - first) * (value - first);
  }
  if (values.size() < 2) return {.value = first, .error = std::abs(first)};
  auto estimate = estimate_of(static_cast<std::int64_t>(values.size()), sum, squares);
  estimate.value += first;
  return estimate;
}

Estimate estimate_of(std::int64_t count, double sum, double squares) noexcept {
  // Student's t for 19 of 20 cases, by degrees of freedom from 1 on.
  static constexpr std::array<double, 10> student{12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
  const auto n = static_cast<double>(count);
  const double mean = sum / n;
  if (count < 2) return {.value = mean, .error = std::abs(mean)};
  const double variance = std::max(0.0, squares - n * mean * mean) / (n - 1);
  const double t = student[std::min(static_cast<std::size_t>(count) - 2, student.size() - 1)];
  return {.value = mean, .error = t * std::sqrt(variance / n)};
}

Estimate combine(Estimate a, Estimate b) noexcept {
  if (a.error <= 0) return a;
  if (b.error <= 0) return b;
  const double wa = 1 / (a.error * a.error), wb = 1 / (b.error * b.error);
  return {.value = (wa * a.value + wb * b.value) / (wa + wb), .error = 1 / std::sqrt(wa + wb)};
}

bool beyond_page_cache(const Measurements& m) noexcept {
  const std::int64_t limit = m.machine.dirty_limit_bytes;
  return m.each_flushed || (limit > 0 && m.run_bytes / std::max(1, m.machine.nodes) > limit);
}

double write_time(const Measurements& m) noexcept {
  const double cached_s = m.write.gather_s + m.write.open_s + m.write.write_s + m.write.agree_s;
  return beyond_page_cache(m) ? cached_s + m.write.flush_s : cached_s;
}

const char* name_of(Strategy strategy) noexcept {
  static constexpr std::array<const char*, strategy_count> names{"blocking", "threads", "leaders",
                                                                 "uring",    "ranks",   "spawn"};
  return names[static_cast<std::size_t>(strategy)];
}

int writer_count(const Machine& machine, const Candidate& candidate) noexcept {
  return writers_of(machine, candidate).total;
}

double taken_s(const Measurements& m, const Candidate& candidate) noexcept {
  const auto writers = writers_of(m.machine, candidate);
  const double share = sharing(m.machine, writers);
  if (candidate.strategy != Strategy::uring) return processor_s(m, writers) * share;
  if (m.queue) return m.queue->submit_s + m.queue->cpu_s * share;
  return static_cast<double>(m.datasets) * m.machine.submission_s + processor_s(m, writers) * share;
}

std::string to_string(const Candidate& candidate) {
  const char* const name = name_of(candidate.strategy);
  if (candidate.strategy == Strategy::blocking) return name;
  if (candidate.strategy == Strategy::leaders)
    return fmt::format("{}:{},buffers={}", name, candidate.number, candidate.buffers);
  return fmt::format("{}:{}", name, candidate.number);
}

Prediction predict(const Measurements& m, const Candidate& candidate) {
  TAILRACE_CHECK(candidate.number > 0, "a strategy's number counts from 1");
  const auto writers = writers_of(m.machine, candidate);
  const bool blocking = candidate.strategy == Strategy::blocking;
  const bool overlaps = !blocking && candidate.buffers > 1;
  Prediction prediction{.candidate = candidate, .reason = {}};
  prediction.write_s = written_in(m, candidate, writers);
  if (!blocking) prediction.write_s *= 1 + m.write_interference.value;
  prediction.compute_s = blocking ? m.compute_s.value + m.copy_s : disturbed_compute(m, candidate, writers);
  prediction.per_output_s = overlaps ? std::max(prediction.compute_s, prediction.write_s)
                                     : prediction.compute_s + prediction.write_s;
  prediction.run_s =
      run_time(static_cast<double>(m.outputs_left), prediction.compute_s, prediction.write_s, overlaps);
  if (candidate.strategy == Strategy::spawn) prediction.run_s += candidate.number * m.machine.spawn_s;
  prediction.extra_processes = extra_processes(m, candidate);
  prediction.reason = obstacle(m, candidate);
  prediction.possible = prediction.reason.empty();
  if (prediction.possible) prediction.reason = explain(prediction, m, overlaps);
  return prediction;
}

Estimate gain_s(const Measurements& m, const Candidate& candidate, const Candidate& other) {
  const auto gain = [&](const Measurements& moved) {
    return predict(moved, other).run_s - predict(moved, candidate).run_s;
  };
  const double found = gain(m);
  double squares = 0;
  const auto move = [&](const auto& shift) {  // by one error, to the side that makes the gain smaller
    Measurements up = m, down = m;
    shift(up, 1);
    shift(down, -1);
    const double loss = std::max(0.0, found - std::min(gain(up), gain(down)));
    squares += loss * loss;
  };
  // Times and rates are positive however badly they are known: they move by factors.
  const auto scaled = [](double value, double relative_error, int way) {
    return way > 0 ? value * (1 + relative_error) : value / (1 + relative_error);
  };
  const auto scale = [&](Estimate& estimate, int way) {
    if (estimate.value > 0) estimate.value = scaled(estimate.value, estimate.error / estimate.value, way);
  };
  move([&](Measurements& x, int way) { scale(x.compute_s, way); });
  move([&](Measurements& x, int way) { scale(x.phi, way); });
  move([](Measurements& x, int way) { x.interference.value += way * x.interference.error; });
  move([](Measurements& x, int way) {
    if (x.queue) x.queue->interference.value += way * x.queue->interference.error;
  });
  move([](Measurements& x, int way) { x.write_interference.value += way * x.write_interference.error; });
  move([&](Measurements& x, int way) {
    for (double* part :
         {&x.write.gather_s, &x.write.open_s, &x.write.write_s, &x.write.flush_s, &x.write.agree_s})
      *part = scaled(*part, x.write_error, way);
    if (x.queue) x.queue->write_s = scaled(x.queue->write_s, x.write_error, way);
  });
  return {.value = found, .error = std::sqrt(squares)};
}

}  // namespace tailrace::output
