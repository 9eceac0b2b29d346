// SPDX-License-Identifier: BSD-3-Clause
#include "base/aligned.hpp"

#include <sys/mman.h>

namespace tailrace::detail {

namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Alignment of an allocation; depends on the size only, so that freeing finds the same.
std::align_val_t alignment_of(std::size_t bytes) noexcept {
  return std::align_val_t{bytes >= 2 * huge_page_bytes ? huge_page_bytes : alignment_bytes};
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  void* memory = ::operator new(bytes, alignment_of(bytes));
  // Only whole huge pages: a rounded-up tail would be memory that nobody asked for.
  if (bytes >= 2 * huge_page_bytes) madvise(memory, bytes / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE);
  return memory;
}

void free_aligned(void* memory, std::size_t bytes) noexcept {
  ::operator delete(memory, alignment_of(bytes));
}

}  // namespace tailrace::detail
