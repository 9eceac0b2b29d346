// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace tailrace::checkpoint {

/// The 64-bit XXH3 of some bytes, seed 0.
std::uint64_t digest_of(std::span<const std::byte> bytes) noexcept;
template <class T>
requires std::is_trivially_copyable_v<T> std::uint64_t digest_of_values(std::span<const T> values)
noexcept {
  return digest_of(std::as_bytes(values));
}

/// The same of bytes that come in batches.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::span<const std::byte> bytes) noexcept;
  /// Returns what came so far; then it begins anew.
  std::uint64_t take() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// As the manifest has it: 16 digits.
std::string hex(std::uint64_t digest);

}  // namespace tailrace::checkpoint
