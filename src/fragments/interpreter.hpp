// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fragments/body_call.hpp"
#include "fragments/statement_times.hpp"

namespace tailrace::fragments {

/// What a run of a program came to.
struct Ending {
  std::vector<std::string> errors;  ///< whole messages, in the order of their places; empty if all has run
  std::vector<std::string> notes;   ///< on a program that has run: use counts that are too large
  std::int64_t executed = 0;        ///< fragments that ran or unfolded to their end
  std::int64_t waiting = 0;         ///< fragments that can never run
  std::int64_t forwarded = 0;       ///< fragments that went to another rank
  std::int64_t peak_fragments = 0, peak_bytes = 0;  ///< of a rank at one time
  std::int64_t left_count = 0, left_bytes = 0;      ///< data fragments at the end
  std::int64_t live_bytes = 0;  ///< of this rank at the end: of its data fragments, copies and pushed values
  std::int64_t known_copies = 0;  ///< of this rank at the end: names of which it knows whether it has a copy
  std::int64_t executed_before = 0;  ///< on rank 0: by all ranks, before the program was resumed
  double paused_s = 0;  ///< of this rank, for checkpoints: from the word to pause to the end of writing
  std::vector<StatementUse> statements;  ///< of this rank, by number, if they were counted
  bool stopped = false;                  ///< its state was saved, and it has not come to its end
  [[nodiscard]] bool succeeded() const noexcept { return errors.empty(); }
};

/// Runs a program on this thread, without MPI. It defines what programs mean: every other way to run one is
/// compared with it. @local. Errors (usage, input): arguments or bodies that do not fit; what goes wrong in
/// the program itself is in the ending.
Ending interpret(const std::shared_ptr<const Image>& image, const Bodies& bodies,
                 const std::vector<std::string>& words);

}  // namespace tailrace::fragments
