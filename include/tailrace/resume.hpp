// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tailrace/box.hpp"

namespace tailrace::output {

class KeptReductions;

/// Describes where a run continues an output file that an earlier run left.
struct Resume {
  StepIndex after = 0;  ///< the file holds the samples up to this step, which is at least 1
  /// File with the running reductions as they were after that step, put there by
  /// `Session::write_accumulators`. Empty: they are unfinished in the output file itself.
  std::string accumulators = {};
  const KeptReductions* kept = nullptr;  ///< instead of both
};

}  // namespace tailrace::output
