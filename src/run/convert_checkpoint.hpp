// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "output/core/plan.hpp"
#include "output/core/resume.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/run/conversion.hpp"
#include "tailrace/trace.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::run {

/// The state that passes from one format to the other.
struct ConvertedState {
  std::string simulation, program;  ///< as a checkpoint names them
  checkpoint::StateFunction simulation_state;
  const output::Plan& plan;
  std::function<double(StepIndex)> time_s;
  output::WriteOptions write;
};

/// Takes the state out of one checkpoint, a directory if it is ours, and puts it into another: in ours, or in
/// one of `formats`. Returns a line that says what was done. @collective{comm}, synchronises. Errors, the
/// same on all ranks: (usage) the format is unknown, the target exists, both are ours; (input) the source is
/// not understood or does not fit; (io).
std::string convert_checkpoint(mpi::CommView comm, const Conversion& conversion,
                               const std::vector<ForeignFormat>& formats, const ConvertedState& state,
                               trace::Log& log);

}  // namespace tailrace::run
