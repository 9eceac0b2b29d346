// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstring>
#include <utility>

#include "fft_butterflies.hpp"

/// The ways of values between memory, where a complex number is two neighbours, and vectors with a column or
/// a row per lane.
namespace tailrace::ultrasound::fft {

/// The lanes of a vector, and how many of them the processor shuffles as one: 16 bytes.
template <class V>
inline constexpr int lane_count = static_cast<int>(sizeof(V) / sizeof(V{}[0]));
template <class V>
inline constexpr int chunk_lanes = static_cast<int>(16 / sizeof(V{}[0]));

namespace detail {

/// shuffle<V>(a, b, place): lane i of the result is lane place(i) of a followed by b.
template <class V, class Place>
[[gnu::always_inline]] inline V shuffle(const V& a, const V& b, Place /*place*/) noexcept {
  return [&]<int... lane>(std::integer_sequence<int, lane...>) __attribute__((always_inline)) {
    return V(__builtin_shufflevector(a, b, Place{}(lane)...));
  }
  (std::make_integer_sequence<int, lane_count<V>>{});
}

/// Every second lane of two vectors, chunk by chunk: an instruction.
template <class V, int odd>
struct EverySecond {
  constexpr int operator()(int lane) const {
    constexpr int chunk = chunk_lanes<V>;
    const int first = lane / chunk * chunk, within = 2 * (lane % chunk) + odd;
    return within < chunk ? first + within : lane_count<V> + first + within - chunk;
  }
};
/// The lower or upper halves of the chunks of two vectors, interleaved.
template <class V, int upper>
struct Interleaved {
  constexpr int operator()(int lane) const {
    constexpr int chunk = chunk_lanes<V>;
    const int at = lane / chunk * chunk + upper * chunk / 2 + lane % chunk / 2;
    return lane % 2 == 0 ? at : lane_count<V> + at;
  }
};
/// Blocks of `block` lanes exchanged between two vectors, as in the transpose of a matrix of blocks.
template <class V, int block, int upper>
struct Exchanged {
  constexpr int operator()(int lane) const {
    const bool second = lane / block % 2 == 1;
    if (upper == 0) return second ? lane_count<V> + lane - block : lane;
    return second ? lane_count<V> + lane : lane + block;
  }
};
/// The columns in the order in which `load_pair` has them in its lanes.
template <class V>
struct ColumnOrder {
  constexpr int operator()(int lane) const { return EverySecond<V, 0>{}(lane) / 2; }
};

template <class V>
[[gnu::always_inline]] inline V load(const void* from) noexcept {
  V vector;
  std::memcpy(&vector, from, sizeof(V));
  return vector;
}

template <int block, class V>
[[gnu::always_inline]] inline void exchange_blocks(V* rows) noexcept {
  constexpr int n = lane_count<V>;
  if constexpr (block < n) {
    repeat<n>([&](auto i) __attribute__((always_inline)) {
      if constexpr (i / block % 2 == 0) {
        const V a = rows[i], b = rows[i + block];
        rows[i] = shuffle(a, b, Exchanged<V, block, 0>{});
        rows[i + block] = shuffle(a, b, Exchanged<V, block, 1>{});
      }
    });
    exchange_blocks<2 * block>(rows);
  }
}

}  // namespace detail

/// As many complex numbers as there are lanes, each of a column, from neighbours in memory. The order of the
/// lanes is that of `in_lane_order`.
template <class V, class Real>
[[gnu::always_inline]] inline Pair<V> load_pair(const Real* from) noexcept {
  const V low = detail::load<V>(from), high = detail::load<V>(from + lane_count<V>);
  return {detail::shuffle(low, high, detail::EverySecond<V, 0>{}),
          detail::shuffle(low, high, detail::EverySecond<V, 1>{})};
}

template <class V, class Real>
[[gnu::always_inline]] inline void store_pair(Real* to, const Pair<V>& pair) noexcept {
  const V low = detail::shuffle(pair.re, pair.im, detail::Interleaved<V, 0>{}),
          high = detail::shuffle(pair.re, pair.im, detail::Interleaved<V, 1>{});
  std::memcpy(to, &low, sizeof(V));
  std::memcpy(to + lane_count<V>, &high, sizeof(V));
}

/// A real number for each column, from neighbours in memory.
template <class V, class Real>
[[gnu::always_inline]] inline V in_lane_order(const Real* from) noexcept {
  const V vector = detail::load<V>(from);
  return detail::shuffle(vector, vector, detail::ColumnOrder<V>{});
}

/// A square matrix, a row per vector.
template <class V>
[[gnu::always_inline]] inline void transpose(V* rows) noexcept {
  constexpr int chunk = chunk_lanes<V>, n = lane_count<V>;
  repeat<std::bit_width(static_cast<unsigned>(chunk)) - 1>([&](
      auto /*round*/) __attribute__((always_inline)) {
    V turned[n];
    repeat<n>([&](auto i) __attribute__((always_inline)) {
      constexpr int first = i / chunk * chunk, pair = i % chunk / 2;
      turned[i] = detail::shuffle(rows[first + pair], rows[first + pair + chunk / 2],
                                  detail::Interleaved<V, i % 2>{});
    });
    repeat<n>([&](auto i) __attribute__((always_inline)) { rows[i] = turned[i]; });
  });
  detail::exchange_blocks<chunk>(rows);
}

}  // namespace tailrace::ultrasound::fft
