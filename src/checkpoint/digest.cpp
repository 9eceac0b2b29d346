// SPDX-License-Identifier: BSD-3-Clause
#include "digest.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace tailrace::checkpoint {

std::uint64_t digest_of(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

struct Digest::State {
  State() : xxh3(XXH3_createState()) {
    if (xxh3 == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(xxh3);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { XXH3_freeState(xxh3); }

  XXH3_state_t* xxh3;
};

Digest::Digest() : state_(std::make_unique<State>()) {}
Digest::~Digest() = default;

void Digest::add(std::span<const std::byte> bytes) noexcept {
  XXH3_64bits_update(state_->xxh3, bytes.data(), bytes.size());
}

std::uint64_t Digest::take() noexcept {
  const auto digest = XXH3_64bits_digest(state_->xxh3);
  XXH3_64bits_reset(state_->xxh3);
  return digest;
}

std::string hex(std::uint64_t digest) {
  return fmt::format("{:016x}", digest);
}

}  // namespace tailrace::checkpoint
