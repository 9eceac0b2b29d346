// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "tailrace/checkpoint_options.hpp"

namespace tailrace::fragments {

/// Checkpoints of a running program: it pauses, is saved as a whole, and continues, or ends and is resumed on
/// any number of ranks.
struct CheckpointOptions {
  std::string directory;  ///< of the checkpoints of one run, seen by all ranks; empty: there are none
  /// When they are taken. Steps are fragments that a rank has executed: the first rank to have so many
  /// decides.
  checkpoint::Rules rules;
  int keep = 2;                 ///< the newest that stay
  checkpoint::Packing packing;  ///< buffers of each rank, compression
  bool resume = false;          ///< begins with the newest one in the directory that is whole
  std::function<bool()> asks;   ///< asked on each rank between fragments: whether to take one
  std::function<bool()> stops;  ///< likewise: whether to take one and end. Empty: never
};

/// The words for `Options::balance`.
inline constexpr std::array balance_words{"off", "steal", "diffuse", "auto"};

/// How a program is run. Its results do not depend on it.
struct Options {
  /// Threads of each rank that run bodies, from 1 on. With one it is the calling thread, which looks after
  /// messages between two bodies; with more, the calling thread has the messages only.
  int workers = 1;
  /// Fragments that a rank has at a time, and bytes of data fragments, beyond which it creates no more unless
  /// nothing else can proceed.
  std::int64_t live_fragments = 100'000;
  std::int64_t live_bytes = std::numeric_limits<std::int64_t>::max();
  /// How fragments that have no recommended rank, or are `stealable`, come to ranks that have less to do:
  /// `off`, not at all; `steal`, those that have nothing to do ask others; `diffuse`, ranks give to
  /// neighbours that need less time for what they have; `auto`, both.
  std::string balance = "off";
  std::uint32_t depth = 10'000;  ///< calls within each other; one more is an error
  CheckpointOptions checkpoints = {};
  /// Called on the calling thread of each rank between fragments, also while there are none, where it may
  /// communicate and wait for ranks in the same call, but for no fragment. When it returns true on any rank,
  /// the program ends on all ranks where it is, without a checkpoint. Called last, once, with `over`, when no
  /// fragment will run; not if the program failed. Empty: nothing is called
  std::function<bool(bool over)> between = {};
};

}  // namespace tailrace::fragments
