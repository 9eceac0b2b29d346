// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/placement.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::output {

/// Describes what a process of a job does.
enum class Trade { computes, writes };

/// The processes of a job on this machine, and where their threads run. All of them come to the same thread
/// placements.
class ProcessPlacement {
 public:
  /// The number of threads that compute is OpenMP's at this time. @collective{comm}, synchronises. Errors
  /// (io), on all ranks: hwloc cannot say the processors.
  ProcessPlacement(mpi::CommView comm, Trade mine);
  /// The same for processes that have no communicator of all: from what each has said of itself in
  /// `describe`, one after the other; `own` is the number of this one. @local
  ProcessPlacement(const std::string& descriptions, int own);
  /// This process, the number of which is `number`, for others. @local. Errors (io): as above.
  static std::string describe(int number, Trade mine);

  /// Of this process, when it writes as the options say. Where the system does not let a thread go to its
  /// place, nobody chooses one. @local
  [[nodiscard]] ThreadPlacement thread_placement(const WriteOptions& options) const;
  /// Of this process, which only writes. @local
  [[nodiscard]] ThreadPlacement placement_of_writer(bool bind) const;
  /// Returns where the launcher has put this process. @local
  [[nodiscard]] const Cpus& bound() const noexcept { return processes_[own_].bound; }
  /// Cores of this machine that the job may use and on which none of its processes computes. @local
  [[nodiscard]] int free_cores() const { return place(this_topology(), processes_).free_cores; }

 private:
  [[nodiscard]] ThreadPlacement finalize(const std::vector<Process>& processes, bool bind) const;

  std::vector<Process> processes_;  ///< without writers
  std::vector<Trade> trades_;
  std::size_t own_ = 0;
};

}  // namespace tailrace::output
