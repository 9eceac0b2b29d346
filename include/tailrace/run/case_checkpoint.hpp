// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tailrace/checkpoint_options.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::run {

/// Describes what a user decides about checkpoints.
struct CheckpointOptions {
  checkpoint::Rules rules;
  int keep = 2;
  checkpoint::Packing packing;
  /// A checkpoint that cannot be written is left out, with a warning; else it ends the run.
  bool goes_on = true;
  checkpoint::LocalLevel local;  ///< the first level, if there are two
};

/// Reads the table [checkpoint] of a case. What is wrong becomes problems of the file. @local
void read_checkpoint(CaseFile& file, CheckpointOptions& options);
/// Makes the table of the resolved case complete. @local
void set_checkpoint_defaults(CaseFile& file, const CheckpointOptions& options);

}  // namespace tailrace::run
