#pragma once

#include <string>

#include "tailrace/base/box.hpp"

namespace tailrace::output {

/// Where a run takes up an output file that an earlier run left.
struct Resume {
  StepIndex after = 0;  ///< the file holds the samples up to this step, which is at least 1
  /// File with the running reductions as they were after that step, put there by
  /// `Session::save_accumulators`. Empty: they stand unfinished in the output file itself.
  std::string accumulators = {};
};

/// Group in which a checkpoint keeps the running reductions, under the paths of their datasets in the output.
inline constexpr const char* accumulator_group = "/tailrace_accumulators";

}  // namespace tailrace::output
