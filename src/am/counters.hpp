// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace tailrace::am {

/// Modules are numbered from 0; the last one belongs to the layer itself.
inline constexpr int module_count = 32;
inline constexpr int own_module = module_count - 1;

/// Size classes: up to 8 bytes, up to 64, 512, 4 KiB, 32 KiB, 256 KiB, 2 MiB, and more.
inline constexpr std::size_t size_class_count = 8;
constexpr std::size_t size_class(std::size_t bytes) noexcept {
  const auto bits = static_cast<std::size_t>(std::bit_width(bytes > 0 ? bytes - 1 : 0));
  const std::size_t found = bits <= 3 ? 0 : (bits - 1) / 3;
  return found < size_class_count ? found : size_class_count - 1;
}

struct Tally {
  std::int64_t messages = 0, bytes = 0;

  void add(std::size_t size) noexcept {
    ++messages;
    bytes += static_cast<std::int64_t>(size);
  }
  friend bool operator==(const Tally&, const Tally&) = default;
};

/// Messages by module and size class.
class Tallies {
 public:
  void add(int module, std::size_t bytes) noexcept {
    by_[static_cast<std::size_t>(module)][size_class(bytes)].add(bytes);
    ++messages_[static_cast<std::size_t>(module)];
  }
  /// Messages of all modules with a smaller number.
  [[nodiscard]] std::int64_t messages_below(int module) const noexcept {
    return std::accumulate(messages_.begin(), messages_.begin() + module, std::int64_t{0});
  }
  [[nodiscard]] const Tally& of(int module, std::size_t size) const noexcept {
    return by_[static_cast<std::size_t>(module)][size];
  }
  /// The sum over the sizes of a module's messages.
  [[nodiscard]] Tally of(int module) const noexcept {
    Tally sum;
    for (const Tally& tally : by_[static_cast<std::size_t>(module)]) {
      sum.messages += tally.messages;
      sum.bytes += tally.bytes;
    }
    return sum;
  }

 private:
  std::array<std::int64_t, module_count> messages_{};
  std::array<std::array<Tally, size_class_count>, module_count> by_{};
};

/// Describes what passed between this rank and another one.
struct PeerTally {
  Tally sent, received;
};

/// Describes what it cost.
struct Costs {
  std::int64_t frames_sent = 0, frames_received = 0;
  std::int64_t bodies_sent = 0, bodies_received = 0;  ///< that were received in place
  std::int64_t looks = 0;                             ///< times that this rank looked for arrivals
  std::int64_t sleeps = 0;                            ///< times that it slept while it waited
  std::int64_t credit_waits = 0;                      ///< frames that had to wait for a slow receiver
};

}  // namespace tailrace::am
