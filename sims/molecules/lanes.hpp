#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

/// Vectors of numbers as the machine has them, and the few operations on them that the language lacks. Each
/// has its twin on plain numbers, so that formulas are written once for both.
namespace tailrace::molecules {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif
inline constexpr int lanes = vector_bytes / static_cast<int>(sizeof(double));

struct LanesOf {
  using numbers [[gnu::vector_size(vector_bytes)]] = double;
  using halves [[gnu::vector_size(vector_bytes / 2)]] = double;
  using integers [[gnu::vector_size(vector_bytes)]] = std::int64_t;
};
using Lanes = LanesOf::numbers;
/// All bits of a lane set, or none.
using Mask = LanesOf::integers;

inline Lanes load(const double* from) noexcept {
  Lanes values;
  std::memcpy(&values, from, sizeof(values));
  return values;
}
inline void store(double* to, const Lanes& values) noexcept {
  std::memcpy(to, &values, sizeof(values));
}

#ifdef __AVX512F__
/// Which lanes count: a bit of each.
using LaneSet = __mmask8;
#else
using LaneSet = Mask;
#endif

/// The number of each lane, from 0.
inline Mask lane_numbers() noexcept {
  Mask numbers{};
  for (int lane = 0; lane < lanes; ++lane) numbers[lane] = lane;
  return numbers;
}

/// Those from `first` on up to before `end`.
inline LaneSet lanes_between(std::int64_t first, std::int64_t end) noexcept {
#ifdef __AVX512F__
  const unsigned below_end = end < lanes ? (1U << end) - 1U : 0xffU;
  return static_cast<LaneSet>(below_end >> first << first);
#else
  return (lane_numbers() >= first) & (lane_numbers() < end);
#endif
}
/// Those of a set whose value is less than a limit.
inline LaneSet less(const LaneSet& set, const Lanes& values, double limit) noexcept {
#ifdef __AVX512F__
  return _mm512_mask_cmp_pd_mask(set, values, _mm512_set1_pd(limit), _CMP_LT_OQ);
#else
  return set & (values < limit);
#endif
}
/// 1 / value in the lanes of a set, 0 in the others.
inline Lanes inverse_of(const LaneSet& set, const Lanes& values) noexcept {
#ifdef __AVX512F__
  return _mm512_maskz_div_pd(set, _mm512_set1_pd(1), values);
#else
  return set ? 1.0 / values : Lanes{};
#endif
}
inline std::int64_t count(const LaneSet& set) noexcept {
#ifdef __AVX512F__
  return __builtin_popcount(set);
#else
  std::int64_t number = 0;
  for (int lane = 0; lane < lanes; ++lane) number -= set[lane];
  return number;
#endif
}

/// Adds to the first `count` values at `to`, and leaves those behind them alone: another thread may write
/// there.
inline void add_first(double* to, const Lanes& values, std::int64_t count) noexcept {
#ifdef __AVX512F__
  const auto mask = static_cast<__mmask8>((1U << count) - 1U);
  const __m512d before = _mm512_maskz_loadu_pd(mask, to);
  _mm512_mask_storeu_pd(to, mask, before + values);
#else
  for (std::int64_t lane = 0; lane < count; ++lane) to[lane] += values[lane];
#endif
}

/// Sum over the lanes, always in the same order.
inline double sum(const Lanes& values) noexcept {
  LanesOf::halves low, high;
  std::memcpy(&low, &values, sizeof(low));
  std::memcpy(&high, reinterpret_cast<const char*>(&values) + sizeof(low), sizeof(high));
  low += high;
  double total = 0;
  for (int lane = 0; lane < lanes / 2; ++lane) total += low[lane];
  return total;
}
inline double sum(double value) noexcept {
  return value;
}

/// 1 / sqrt(value), to a few units in the last place.
inline double inverse_sqrt(double value) noexcept {
  return 1 / std::sqrt(value);
}
inline Lanes inverse_sqrt(const Lanes& value) noexcept {
#ifdef __AVX512F__
  // 14 bits, and two steps of Newton's method: a third of the time of a root and a division.
  const Lanes half = 0.5 * value;
  Lanes root = _mm512_maskz_rsqrt14_pd(0xff, value);  // GCC 12 warns falsely about the one without a mask
  root = root * (1.5 - half * root * root);
  return root * (1.5 - half * root * root);
#else
  Lanes root;
  for (int lane = 0; lane < lanes; ++lane) root[lane] = 1 / std::sqrt(value[lane]);
  return root;
#endif
}

/// Appends first, first + 1, ... of those lanes that are set; `to` has room for a whole vector. Returns how
/// many.
inline int append_set(const Mask& mask, std::int32_t first, std::int32_t* to) noexcept {
#ifdef __AVX512F__
  const __mmask8 set = _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask));
  const __m256i numbers =
      _mm256_add_epi32(_mm256_set1_epi32(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_maskz_compress_epi32(set, numbers));
  return __builtin_popcount(set);
#else
  int count = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    to[count] = first + lane;
    count += mask[lane] != 0 ? 1 : 0;
  }
  return count;
#endif
}

}  // namespace tailrace::molecules
