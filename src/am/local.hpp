// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "am/transport.hpp"

namespace tailrace::am {

/// What the ranks of one process share: several ranks as threads, without MPI.
class LocalRanks {
 public:
  explicit LocalRanks(int size);
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;
  ~LocalRanks();

  /// The transport of one rank, for its thread; this object outlives it. Each rank once. Any thread.
  [[nodiscard]] std::unique_ptr<Transport> transport(int rank);
  /// Has all ranks end: their `look` throws an `Error` (internal) that names this rank. Any thread.
  void fail(int rank);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tailrace::am
