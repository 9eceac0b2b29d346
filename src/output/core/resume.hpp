// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "output/core/plan.hpp"
#include "tailrace/resume.hpp"

namespace tailrace::output {

/// Describes what a rank has of the running reduction that goes into one dataset.
struct RunningReduction {
  std::string stream;                               ///< its name
  std::size_t part = 0;                             ///< says which of the stream's datasets it is
  h5::ElementType type = h5::ElementType::float64;  ///< refers to the values
  std::vector<Run> runs;  ///< says where the values belong in the dataset; none: this rank has none of it
  std::span<std::byte> values;  ///< one behind the other
};

/// The running reductions of a rank outside of a session: those that a run continues with.
class KeptReductions {
 public:
  /// Room for those of a plan, all 0.
  explicit KeptReductions(const Plan& plan);

  /// For each dataset of a reduction of min, max, rms or mean, also if this rank has nothing of it, in the
  /// order of the plan. They belong to this object.
  [[nodiscard]] const std::vector<RunningReduction>& all() const noexcept { return all_; }

 private:
  std::vector<std::vector<std::byte>> values_;
  std::vector<RunningReduction> all_;
};

/// Group in which a checkpoint keeps the running reductions, under the paths of their datasets in the output.
inline constexpr const char* accumulator_group = "/tailrace_accumulators";

/// The streams by which a checkpoint keeps the running reductions of others: one each, of reduction `final`,
/// in the order of the others. Its shares are packed in the accumulators. Datasets are counted from
/// `first_dataset` on.
std::vector<PlannedStream> accumulator_streams(const std::vector<PlannedStream>& streams,
                                               std::size_t first_dataset);

/// Fills what is kept of a plan from a file with that group. @local. Errors (io, input): all that is missing
/// or of another shape or type.
void read_accumulators(const std::string& path, const Plan& plan, const KeptReductions& kept);

}  // namespace tailrace::output
