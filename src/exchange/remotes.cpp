// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/remotes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

namespace tailrace::exchange {

namespace {

constexpr std::size_t few = 256;  ///< for which comparisons are faster

/// Owner and local index as one number.
struct PlaceNumber {
  int local_bits;
  std::uint64_t operator()(const RemotePosition& remote) const noexcept {
    return static_cast<std::uint64_t>(remote.owner) << local_bits | static_cast<std::uint64_t>(remote.local);
  }
};

/// The bits of owners, and of local indices, that are in use.
struct Bits {
  std::uint64_t owners = 0, locals = 0;
};

Bits bits_of(const std::vector<RemotePosition>& remotes) {
  Bits bits;
  for (const RemotePosition& remote : remotes) {
    bits.owners |= static_cast<std::uint64_t>(remote.owner);
    bits.locals |= static_cast<std::uint64_t>(remote.local);
  }
  return bits;
}

void sort_by_digits(std::vector<RemotePosition>& remotes, PlaceNumber key, int bits) {
  constexpr int digit_bits = 11;
  constexpr std::size_t values = std::size_t{1} << digit_bits;
  std::vector<RemotePosition> sorted(remotes.size());
  for (int shift = 0; shift < bits; shift += digit_bits) {
    const auto digit = [&](const RemotePosition& remote) { return key(remote) >> shift & (values - 1); };
    std::array<std::size_t, values> place{};
    for (const RemotePosition& remote : remotes) ++place[digit(remote)];
    std::size_t before = 0;
    for (std::size_t& one : place) before += std::exchange(one, before);
    for (const RemotePosition& remote : remotes) sorted[place[digit(remote)]++] = remote;
    remotes.swap(sorted);
  }
}

}  // namespace

void sort_by_place(std::vector<RemotePosition>& remotes) {
  constexpr int word_bits = std::numeric_limits<std::uint64_t>::digits;
  const Bits used = bits_of(remotes);
  const auto local_bits = static_cast<int>(std::bit_width(used.locals));
  const int bits = local_bits + static_cast<int>(std::bit_width(used.owners));
  if (remotes.size() >= few && bits < word_bits) return sort_by_digits(remotes, {local_bits}, bits);
  std::sort(remotes.begin(), remotes.end(), [](const RemotePosition& a, const RemotePosition& b) {
    return a.owner != b.owner ? a.owner < b.owner : a.local < b.local;
  });
}

}  // namespace tailrace::exchange
