// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "output/planner/model.hpp"

namespace tailrace::output {

/// Describes what a rank saw of a few outputs in a row, for an output of mean size after as many time steps
/// as outputs have between them on average; of all ranks the largest of each number counts.
struct Observation {
  double steps = 1, bytes = 1;  ///< that the outputs seen had, over these means
  double period_s = 0;          ///< from one output seen to the next, as it was
  Estimate compute_s;           ///< outside of the output, in a period
  double copy_s = 0;            ///< packing, in a period
  double waited_s = 0;          ///< waiting for a buffer, in a period
  double jobs = 0;              ///< writes that were complete
  double write_s = 0;           ///< handing the bytes of an output to the system
  double write_error = 0;       ///< refers to that and of the commit mark, relative
  double write_slowest_s = 0;
  double commit_mark_s = 0;  ///< marking that it is there
  double flush_s = 0;        ///< says what the device needs beyond `write_s`
  double cpu_s = 0;          ///< processor time of the writer
  double submit_s = 0;       ///< refers to the simulation's thread, to have somebody else write
  double flush_pending = 0;  ///< 1: a flush that is to be timed is still under way

  /// For sending them about: numbers of which larger ones may replace smaller ones.
  [[nodiscard]] std::vector<double> numbers() const;
  static Observation of(std::span<const double> numbers);
};

/// Turns what was observed under one strategy or another into measurements without disturbance.
class PerformanceModel {
 public:
  /// `load` has what does not depend on time: bytes, datasets, machine.
  explicit PerformanceModel(Measurements load) : measured_(std::move(load)) {}

  /// Takes in what was observed while `current` wrote. @local
  void learn(const Observation& seen, const Candidate& current);
  /// Takes for granted what an earlier run has measured of the disturbance, until it is measured again.
  /// @local
  void assume(const std::optional<Estimate>& interference, const std::optional<Estimate>& write_interference);
  /// True once it has seen writing through the kernel's queue. @local
  [[nodiscard]] bool has_measured_queue() const noexcept { return measured_.queue.has_value(); }
  /// True once it has seen both writing in the step and asynchronous writing, so that their
  /// interference is measured. @local
  [[nodiscard]] bool has_measured_interference() const noexcept { return compared_; }
  /// Returns what is known, for a run with so many outputs left. @local
  [[nodiscard]] Measurements measurements(std::int64_t outputs_left) const;

 private:
  void take_writing(const Observation& seen, const Candidate& current);
  void take_queue(const Observation& seen);
  void take_computing(Estimate beside, const Candidate& current);
  void compare(const Observation& alone, const Observation& beside, const Candidate& behind);

  Measurements measured_;
  std::optional<Observation> last_;
  Candidate last_candidate_;
  bool compared_ = false;
};

}  // namespace tailrace::output
