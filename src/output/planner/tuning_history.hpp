// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "output/planner/model.hpp"

namespace tailrace::output {

/// What a run has shown of outputs of one kind.
struct TuningRecord {
  std::string strategy;  ///< in force at the end, as it is given to --write
  /// s and r, if the run has measured them.
  std::optional<Estimate> interference = {}, write_interference = {};
  std::vector<std::string> dropped =
      {};  ///< strategies whose first output was clearly slower than those before

  friend bool operator==(const TuningRecord&, const TuningRecord&) = default;
};

/// What earlier runs on one machine have shown, in a file of the user's cache. No MPI; for the root.
class TuningHistory {
 public:
  /// `directory` has a file for each machine; an empty one: nothing is known, nothing is kept. @local
  TuningHistory(std::string directory, const std::string& machine);

  /// What the last run with outputs of this kind has shown, unless that is too long ago. What cannot be read
  /// is not known. @local
  [[nodiscard]] std::optional<TuningRecord> find(const std::string& kind) const;
  /// Keeps what a run has shown, in place of what was known of this kind. Returns why that was not possible,
  /// or nothing. Of runs that end at the same time one may be lost. @local
  std::string keep(const std::string& kind, const TuningRecord& record) const;

 private:
  std::string path_;
};

/// Outputs that a run may learn from another one with: the same ranks, threads and free cores, sink, flushing
/// and pace, and about the same bytes, datasets and share of the busiest rank, to a factor of two. @local
std::string kind_of_output(const Measurements& m, const std::string& sink);

/// Where the history of this user is: `TAILRACE_TUNING` names the directory, or is `off`; else a directory of
/// the cache. @local
std::string tuning_directory();

}  // namespace tailrace::output
