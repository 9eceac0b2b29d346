// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include "zstd.hpp"

namespace tailrace::checkpoint {

bool has_zstd() noexcept {
  return false;
}

struct Zstd::Contexts {};

Zstd::Zstd() {
  throw std::logic_error("this build has no zstd");
}
Zstd::~Zstd() = default;

std::size_t Zstd::compress(std::span<const std::byte> /*bytes*/, int /*level*/,
                           std::span<std::byte> /*frame*/) {
  return 0;
}

bool Zstd::decompress(std::span<const std::byte> /*frame*/, std::span<std::byte> /*bytes*/) {
  return false;
}

std::size_t Zstd::working_bytes(int /*level*/, std::size_t /*bytes*/) noexcept {
  return 0;
}

}  // namespace tailrace::checkpoint
