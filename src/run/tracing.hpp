// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "run/clock_comparison.hpp"
#include "tailrace/comm.hpp"
#include "trace/recorder.hpp"

namespace tailrace::run {

/// The traces of a run: a file per rank, DIR/trace/rank-NNNNN.trace, with clocks that were compared at the
/// beginning and at the end. One object per process.
class Tracing {
 public:
  /// Begins, in a directory with a folder "trace": all logs of this process record from now on, with
  /// `Mode::off` none. `start_s` is when this rank started, by `monotonic_s`: the earliest of them is the
  /// common zero. @collective{comm}, synchronises. Errors (io, usage), the same on all ranks. `comm`
  /// outlives the object.
  Tracing(mpi::CommView comm, const std::string& directory, trace::Mode mode, double start_s,
          trace::Role role = trace::Role::compute,
          std::int64_t record_bytes = trace::Recorder::usual_record_bytes);

  /// The clock of this process, and the common zero by rank 0's. @local
  [[nodiscard]] const trace::Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] double zero_s() const noexcept { return zero_s_; }

  /// Compares the clocks again and ends the files. @collective{comm}, synchronises. Errors (io), the same on
  /// all ranks: a file is incomplete.
  void close();
  /// Ends this rank's file when the run is given up. @local
  void abandon() noexcept { recorder_.reset(); }

 private:
  mpi::CommView comm_;
  trace::Clock clock_;
  std::optional<trace::Recorder> recorder_;
  std::optional<ClockComparison> comparison_;
  double zero_s_ = 0;
};

}  // namespace tailrace::run
