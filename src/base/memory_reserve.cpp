// SPDX-License-Identifier: BSD-3-Clause
#include "base/memory_reserve.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace tailrace {

namespace {

// Blocks below the size from which malloc maps pages of their own: they join the heap, where blocks of any
// size are cut from them, for libraries in C too.
constexpr std::size_t block_bytes = std::size_t{64} << 10;

ErrorInfo describe() {
  return {.kind = ErrorKind::resource,
          .message = "out of memory",
          .path = {},
          .hint = "use more ranks on more nodes, or a smaller grid"};
}

struct Kept {
  std::array<std::unique_ptr<std::byte[]>, 8> blocks;
  ErrorInfo description = describe();
};

std::atomic<Kept*> kept = nullptr;

std::unique_ptr<Kept> take() noexcept {
  return std::unique_ptr<Kept>(kept.exchange(nullptr));
}

}  // namespace

MemoryReserve::MemoryReserve() {
  auto made = std::make_unique<Kept>();
  for (auto& block : made->blocks) block = std::make_unique_for_overwrite<std::byte[]>(block_bytes);
  kept = made.release();
}

MemoryReserve::~MemoryReserve() {
  take();
}

ErrorInfo out_of_memory() noexcept {
  const auto taken = take();
  if (taken != nullptr) return std::move(taken->description);
  try {
    return describe();
  } catch (const std::bad_alloc&) {  // so short that it is no text of its own on the heap
    return {.kind = ErrorKind::resource, .message = "out of memory", .path = {}, .hint = {}};
  }
}

}  // namespace tailrace
