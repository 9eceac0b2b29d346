// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "tailrace/comm.hpp"
#include "trace/clock.hpp"

namespace tailrace::run {

/// Compares the clocks of the ranks with rank 0's, so that their traces can be put together.
///
/// Ranks that read the same clock are found by `Clock::identity`, and one of each such group represents it.
/// Rank 0 sends it a message, it answers with its time; of several such round trips the shortest says the
/// most: the answer was given while it was under way, so half its length bounds the error (as in NTP, RFC
/// 5905). Costs rank 0 a gathered text per rank once, and per clock of another machine `round_trips` small
/// messages to and fro at every comparison; the other ranks wait without using their cores.
class ClockComparison {
 public:
  static constexpr int round_trips = 20;

  /// @collective{comm}, synchronises. `comm` outlives the object.
  ClockComparison(mpi::CommView comm, const trace::Clock& clock);

  /// Returns how this rank's clock compares now; `zero_s` is left open. @collective{comm}, synchronises
  [[nodiscard]] trace::ClockPoint compare() const;

 private:
  trace::ClockPoint ask(int rank) const;
  void answer() const;

  mpi::CommView comm_;
  trace::Clock clock_;
  std::vector<int> speakers_;  ///< a rank for each clock, rank 0 first
  int mine_ = 0;               ///< says which of them represents this rank
};

}  // namespace tailrace::run
