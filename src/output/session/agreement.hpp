// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>

#include "mpi/verdict.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

template <class Action>
std::optional<ErrorInfo> error_of(const Action& action) {
  try {
    action();
  } catch (...) {
    return describe_current_exception();
  }
  return {};
}

inline void throw_if_any(const std::optional<ErrorInfo>& failure) {
  if (failure) throw Error(*failure);
}

/// The communicator of a session, and what its ranks agree on.
class Agreement {
 public:
  /// @collective{comm}, synchronises
  explicit Agreement(mpi::CommView comm) : comm_(mpi::Comm::duplicate(comm)) {}

  [[nodiscard]] mpi::CommView comm() const noexcept { return comm_; }
  void close() { comm_.close(); }

  /// Runs `action`; what failed there on any rank is the failure of all, as `common_failure`.
  /// @collective{comm}
  template <class Action>
  std::optional<ErrorInfo> failure_of(const Action& action, double limit_s) {
    const auto mine = error_of(action);
    return common_failure(error_of([&] { mpi::agree(comm_, mine, limit_s); }));
  }

  /// Returns the failure that all ranks have, if any. Throws it if they could not agree in time: messages are
  /// still pending on the communicator then, which can never be freed. @local
  std::optional<ErrorInfo> common_failure(std::optional<ErrorInfo> failure) {
    if (!failure || failure->rank >= 0) return failure;
    static_cast<void>(new mpi::Comm(std::move(comm_)));  // NOLINT: left to the end of the process on purpose
    throw Error(*failure);
  }

 private:
  mpi::Comm comm_;
};

}  // namespace tailrace::output
