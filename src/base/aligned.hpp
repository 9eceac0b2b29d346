// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace tailrace {

/// Bytes to which arrays are aligned: one cache line, and the widest vector register.
inline constexpr std::size_t alignment_bytes = 64;

/// `n` rounded up so that rows of `n` elements of type T start aligned.
template <class T>
constexpr std::size_t padded(std::size_t n) noexcept {
  constexpr std::size_t per_line = alignment_bytes / sizeof(T);
  return (n + per_line - 1) / per_line * per_line;
}

namespace detail {
/// Memory aligned to `alignment_bytes`; arrays of several mebibytes lie on huge pages where the system has
/// them, because walks across planes would otherwise miss the translation buffer at every plane.
void* allocate_aligned(std::size_t bytes);
void free_aligned(void* memory, std::size_t bytes) noexcept;
}  // namespace detail

/// Allocator of aligned memory whose elements start uninitialised, so that the thread that uses a page first
/// places it.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) noexcept {}  // NOLINT: allocators convert

  T* allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(detail::allocate_aligned(n * sizeof(T)));
  }
  void deallocate(T* p, std::size_t n) noexcept { detail::free_aligned(p, n * sizeof(T)); }

  template <class U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(static_cast<Args&&>(args)...);
  }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) noexcept { return true; }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace tailrace
