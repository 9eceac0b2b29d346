// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "base/aligned.hpp"
#include "exchange/line.hpp"

namespace tailrace::exchange {

/// Where each of some messages begins if they lie one behind the other, each on a cache line of its own, and
/// behind them where the last one ends.
inline std::vector<std::size_t> message_offsets(const std::vector<Peer>& peers) {
  std::vector<std::size_t> offsets{0};
  for (const Peer& peer : peers) offsets.push_back(offsets.back() + padded<std::byte>(peer.bytes));
  return offsets;
}

/// Memory for one message of each of some peers.
class MessageArea {
 public:
  explicit MessageArea(const std::vector<Peer>& peers)
      : offsets_(message_offsets(peers)), bytes_(offsets_.back()) {}
  [[nodiscard]] std::byte* operator[](std::size_t i) noexcept { return bytes_.data() + offsets_[i]; }
  [[nodiscard]] const std::byte* operator[](std::size_t i) const noexcept {
    return bytes_.data() + offsets_[i];
  }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_.size(); }

 private:
  std::vector<std::size_t> offsets_;
  AlignedVector<std::byte> bytes_;
};

}  // namespace tailrace::exchange
