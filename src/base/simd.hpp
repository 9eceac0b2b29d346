// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

/// Vectors of numbers as the machine has them, and the few operations on them that the language lacks.
/// Formulas are written once for vectors and plain numbers: what they call has a twin for these.
namespace tailrace::simd {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

template <class Real>
inline constexpr int lanes = vector_bytes / static_cast<int>(sizeof(Real));

template <class Real>
struct VectorOf {
  using whole [[gnu::vector_size(vector_bytes)]] = Real;
  using half [[gnu::vector_size(vector_bytes / 2)]] = Real;
};
template <class Real>
using Vector = typename VectorOf<Real>::whole;
template <class Real>
using Half = typename VectorOf<Real>::half;

template <class Real>
inline Vector<Real> load(const Real* from) noexcept {
  Vector<Real> vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

/// The first `count` values, zeros behind them.
template <class Real>
inline Vector<Real> load(const Real* from, std::int64_t count) noexcept {
  if (count >= lanes<Real>) return load(from);
  Vector<Real> vector{};
  std::memcpy(&vector, from, static_cast<std::size_t>(count) * sizeof(Real));
  return vector;
}

template <class Real>
inline void store(Real* to, const Vector<Real>& vector) noexcept {
  std::memcpy(to, &vector, sizeof(vector));
}

template <class Real>
inline void store(Real* to, const Vector<Real>& vector, std::int64_t count) noexcept {
  if (count >= lanes<Real>) return store(to, vector);
  std::memcpy(to, &vector, static_cast<std::size_t>(count) * sizeof(Real));
}

/// The lanes of two neighbouring vectors from lane `first` of the lower one on.
template <class Real, int first, int... lane>
inline Vector<Real> joined(const Vector<Real>& low, const Vector<Real>& high,
                           std::integer_sequence<int, lane...> /*lanes*/) noexcept {
  return __builtin_shufflevector(low, high, (first + lane)...);
}

/// A vector that moves along a row, and its neighbours to both sides. Each value of the row is loaded once:
/// what lies between two vectors is put together from both.
template <class Real>
class Sliding {
 public:
  explicit Sliding(const Real* start) noexcept
      : at_(start),
        before_(load(start - lanes<Real>)),
        here_(load(start)),
        after_(load(start + lanes<Real>)) {}

  void advance() noexcept {
    at_ += lanes<Real>;
    before_ = here_;
    here_ = after_;
    after_ = load(at_ + lanes<Real>);
  }
  /// The values that are `distance` points further.
  template <int distance>
  [[nodiscard]] Vector<Real> at() const noexcept {
    constexpr std::make_integer_sequence<int, lanes<Real>> all{};
    if constexpr (distance == 0)
      return here_;
    else if constexpr (distance > lanes<Real> || -distance > lanes<Real>)
      return load(at_ + distance);
    else if constexpr (distance > 0)
      return joined<Real, distance>(here_, after_, all);
    else
      return joined<Real, lanes<Real> + distance>(before_, here_, all);
  }

 private:
  const Real* at_;
  Vector<Real> before_, here_, after_;
};

/// Doubles, and operations on some of their lanes.
using Lanes = Vector<double>;
/// All bits of a lane set, or none.
using Mask = Vector<std::int64_t>;

#ifdef __AVX512F__
/// Describes which lanes count: a bit of each.
using LaneSet = __mmask8;
#else
using LaneSet = Mask;
#endif

/// The number of each lane, from 0.
inline Mask lane_numbers() noexcept {
  Mask numbers{};
  for (int lane = 0; lane < lanes<double>; ++lane) numbers[lane] = lane;
  return numbers;
}

/// Those from `first` on up to before `end`.
inline LaneSet lanes_between(std::int64_t first, std::int64_t end) noexcept {
#ifdef __AVX512F__
  const unsigned below_end = end < lanes<double> ? (1U << end) - 1U : 0xffU;
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
  for (int lane = 0; lane < lanes<double>; ++lane) number -= set[lane];
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
  Half<double> low, high;
  std::memcpy(&low, &values, sizeof(low));
  std::memcpy(&high, reinterpret_cast<const char*>(&values) + sizeof(low), sizeof(high));
  low += high;
  double total = 0;
  for (int lane = 0; lane < lanes<double> / 2; ++lane) total += low[lane];
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
  for (int lane = 0; lane < lanes<double>; ++lane) root[lane] = 1 / std::sqrt(value[lane]);
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
  for (int lane = 0; lane < lanes<double>; ++lane) {
    to[count] = first + lane;
    count += mask[lane] != 0 ? 1 : 0;
  }
  return count;
#endif
}

}  // namespace tailrace::simd
