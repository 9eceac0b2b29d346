// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/pack.hpp"

#include <cstring>
#include <type_traits>

#include "output/core/visit.hpp"

namespace tailrace::output {

/// Copies a row. Most rows are short: whole vectors inline take half the time of calls of memcpy (128-byte
/// rows).
template <class F, class T>
static void copy_values(const F* from, T* to, std::int64_t n) {
  constexpr std::int64_t block = 32 / sizeof(T), long_row = 256 / sizeof(T);
  if (std::is_same_v<F, T> && n >= long_row) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    return;
  }
  std::int64_t i = 0;
  if constexpr (std::is_same_v<F, T>)
    for (; i + block <= n; i += block) std::memcpy(to + i, from + i, block * sizeof(T));
  for (; i < n; ++i) to[i] = static_cast<T>(from[i]);
}

void pack(const FieldView& field, const Share& share, const Box& own, std::int64_t first, std::int64_t count,
          std::span<std::byte> out) {
  TAILRACE_CHECK(static_cast<std::size_t>(count) * h5::size_bytes(share.type) == out.size(),
                 "room for the values");
  with_float_type(field.type, [&](auto* field_type) {
    using F = std::remove_pointer_t<decltype(field_type)>;
    with_float_type(share.type, [&](auto* file_type) {
      using T = std::remove_pointer_t<decltype(file_type)>;
      T* const values = reinterpret_cast<T*>(out.data());
      visit<F>(field, share, own, first, count,
               [values](const F* from, std::int64_t position, std::int64_t n) {
                 copy_values(from, values + position, n);
               });
    });
  });
}

}  // namespace tailrace::output
