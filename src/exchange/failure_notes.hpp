// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

/// How ranks that wait for one that failed learn why: whoever fails writes to its peers, and so does whoever
/// reads it. Costs nothing while all is well: only who has waited for long looks for notes. After a failure
/// the communicator is of no more use.
class FailureNotes {
 public:
  /// No one else uses `comm` with this class's tag.
  explicit FailureNotes(mpi::CommView comm) : comm_(comm) {}

  void set_peers(std::vector<int> ranks) { peers_ = std::move(ranks); }
  /// Sends the error to the peers, once, and throws it. @local, does not wait
  [[noreturn]] void fail(ErrorInfo info);
  /// Throws the error of a note that is there. @local, does not wait
  void look();
  [[nodiscard]] bool failed() const noexcept { return !note_.empty(); }

 private:
  mpi::CommView comm_;
  std::vector<int> peers_;
  std::vector<std::byte> note_;  ///< that was sent
  std::vector<MPI_Request> sends_;
};

}  // namespace tailrace::exchange
