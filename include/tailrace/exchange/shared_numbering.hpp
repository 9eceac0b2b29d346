// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/exchange/distribution.hpp"

namespace tailrace::exchange {

/// Says which thing this is, such as the vertex of a mesh at some place: the same on all ranks that have it.
struct Key {
  std::uint64_t high = 0, low = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};

/// A thing that gets consecutive numbers.
struct NumberedKey {
  Key key;
  std::int64_t count = 1;  ///< numbers that it needs; the same on all ranks that have it
};

/// Another rank, and what it may have too.
struct Sharer {
  int rank = 0;
  std::vector<std::int32_t> keys;  ///< positions in the list of keys, ascending
};

/// Which of the ranks that have a thing owns it. The volume of exchanges is the same with both.
enum class OwnerRule : std::uint8_t {
  lowest_rank,  ///< the lowest: few peers, and the lower ranks own more
  /// Of two ranks one owns what they alone share, so that all own alike as far as the shares allow; some more
  /// peers, and some rounds of messages more for each numbering.
  balanced,
};

/// Numbers of things that several ranks have.
struct SharedNumbers {
  std::vector<std::int64_t> first;  ///< the first number of each key
  std::vector<std::int32_t> own;    ///< positions of the keys that this rank owns: numbered in this order
  Distribution distribution;        ///< which rank owns which number
};

/// Numbers the things that ranks have. An owner's numbers are consecutive, its keys in the order in which it
/// gave them. `keys` are distinct. Whenever two ranks have the same key, each names the other one as a sharer
/// of it; naming a rank that does not have the key costs a word of a message. @collective{comm},
/// synchronises. Cost: a message of 24 bytes per key to each sharer, one of 8 bytes per common key back, and
/// the table of starts (8 bytes per rank). Errors (input), the same on all ranks: a key twice on a rank, or
/// with different counts.
SharedNumbers number_shared(mpi::CommView comm, std::span<const NumberedKey> keys,
                            std::span<const Sharer> sharers, OwnerRule rule);

}  // namespace tailrace::exchange

template <>
struct std::hash<tailrace::exchange::Key> {
  std::size_t operator()(const tailrace::exchange::Key& key) const noexcept {
    return static_cast<std::size_t>((key.high * 0x9e3779b97f4a7c15U ^ key.low) * 0xbf58476d1ce4e5b9U >> 17U);
  }
};
