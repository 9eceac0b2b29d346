// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// A barrier that ranks enter without waiting in it: each learns later that all have entered. The next one
/// begins when this has opened.
class OpenBarrier {
 public:
  /// @collective{comm}
  explicit OpenBarrier(CommView comm) : comm_(std::make_unique<Comm>(Comm::duplicate(comm))) {}
  OpenBarrier(const OpenBarrier&) = delete;
  OpenBarrier& operator=(const OpenBarrier&) = delete;
  /// After it has opened, unless an error ends the program. @collective{comm}
  ~OpenBarrier();

  /// @local, does not wait
  void enter();
  [[nodiscard]] bool entered() const noexcept { return request_ != Request::none; }
  /// Returns whether all ranks have entered, once this one has; it has left it then. @local, does not wait
  bool opens();
  /// Waits until it opens. @collective{comm}, synchronises
  void wait();

 private:
  std::unique_ptr<Comm> comm_;
  Request request_ = Request::none;
};

}  // namespace tailrace::mpi
