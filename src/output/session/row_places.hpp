// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "h5/growing_file.hpp"
#include "mpi/scan.hpp"
#include "output/core/plan.hpp"
#include "output/core/staging.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::output {

/// Rows of a sample that have been taken, until their places are known: how many the ranks before this one
/// have is found while the computation continues. At most one sample at a time is under way.
class RowPlaces {
 public:
  /// Of the streams of rows of a plan that has shares for them, in a file that holds the samples up to step
  /// `after`. @collective{comm}, synchronises. Errors (input), the same on all ranks.
  RowPlaces(mpi::CommView comm, const Plan& plan, const std::string& path, StepIndex after);
  RowPlaces(const RowPlaces&) = delete;
  RowPlaces& operator=(const RowPlaces&) = delete;
  ~RowPlaces();

  [[nodiscard]] bool any_due(StepIndex step) const noexcept;
  /// Copies what is due at the step, or, without `rows`, takes part with none. @collective{comm}, does not
  /// wait
  void begin(StepIndex step, const RowsLookup* rows, bool flush);

  /// Whether this rank takes part in the sample of the step already.
  [[nodiscard]] bool begun(StepIndex step) const noexcept { return begun_ == step; }
  [[nodiscard]] bool pending() const noexcept { return step_.has_value(); }
  /// Whether the places are known. @local, does not wait
  bool complete() { return scan_.complete(); }
  /// Waits until all ranks have begun the sample.
  void wait() { scan_.wait(); }

  /// Rows of a stream with their places.
  struct Placed {
    const PlannedStream* stream = nullptr;
    std::int64_t first = 0;  ///< row in the file
    std::vector<std::byte> bytes;
  };
  [[nodiscard]] StepIndex step() const noexcept { return step_.value_or(0); }
  [[nodiscard]] bool flush() const noexcept { return flush_; }
  /// After that: the rows of this rank, to be written before `count_into` is; they are no longer pending.
  std::vector<Placed> take();
  /// On the root, after `take`: the counts that now hold.
  void count_into(Staging& job);

 private:
  struct Held {
    const PlannedStream* stream = nullptr;
    std::string file;                     ///< of the rows
    std::int64_t rows = 0;                ///< of all ranks, in the file
    std::optional<h5::GrowingHead> head;  ///< on the root
    std::vector<std::byte> bytes;
    StepIndex counted = -1;  ///< sample whose end is to be stated
  };

  mpi::Comm comm_;
  std::vector<Held> held_;
  mpi::Scan scan_;
  std::optional<StepIndex> step_, begun_;
  bool flush_ = false;
};

/// Those of a plan, none where its sink has no places for rows or there are none. @collective{comm}
std::unique_ptr<RowPlaces> make_row_places(mpi::CommView comm, const Plan& plan, const std::string& path,
                                           const WriteOptions& options, StepIndex after);
/// Numbers the shares of a plan, with those of rows where the sink has places for them; returns them. @local
std::vector<const Share*> place(Plan& plan, const WriteOptions& options, bool is_root);

}  // namespace tailrace::output
