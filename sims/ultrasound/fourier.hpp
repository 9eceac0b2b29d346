// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned.hpp"
#include "base/simd.hpp"
#include "fft_butterflies.hpp"

namespace tailrace::ultrasound::fft {

template <class Real>
using Wide = simd::Vector<Real>;  ///< as many columns as a vector register holds
template <class Real>
struct NarrowOf {
  using type [[gnu::vector_size(4 * sizeof(Real))]] = Real;
};
/// Four columns, for those behind the last whole register.
template <class Real>
using Narrow = typename NarrowOf<Real>::type;
template <class Real>
inline constexpr bool has_narrow = (simd::lanes<Real> > 4);

/// Forward transforms of one length, unnormalised: a column in each lane of a vector. The passes are chosen
/// by the length alone, nothing is timed, and no lane affects another one, so that a column becomes the same
/// bits in every run, in whatever company and on any number of ranks and threads. The inverse of a transform
/// is the transform read backwards: x[(n - k) % n].
template <class Real>
class Fourier {
 public:
  Fourier() = default;
  explicit Fourier(std::int64_t n);

  [[nodiscard]] std::int64_t size() const noexcept { return n_; }
  /// Pairs that each of both arrays of a transform needs, at least `size`.
  [[nodiscard]] std::int64_t room() const noexcept { return room_; }

  /// Transforms `values`; the result is in the array that is returned, one of the two. @local
  Pair<Wide<Real>>* forward(Pair<Wide<Real>>* values, Pair<Wide<Real>>* spare) const noexcept;
  Pair<Narrow<Real>>* forward(Pair<Narrow<Real>>* values, Pair<Narrow<Real>>* spare) const noexcept
      requires(has_narrow<Real>);

 private:
  struct Pass {
    int radix;
    std::int64_t m, s;
    std::size_t turns;  // where its factors begin in turns_
  };

  template <class V>
  Pair<V>* run(Pair<V>* values, Pair<V>* spare) const noexcept;
  template <class V>
  Pair<V>* convolve(Pair<V>* values, Pair<V>* spare) const noexcept;
  void plan_passes();
  void plan_convolution();

  std::int64_t n_ = 0, room_ = 0;
  std::vector<Pass> passes_;
  AlignedVector<Real> turns_;
  // Of lengths with a large prime factor, which are a convolution with a chirp (Bluestein 1970).
  std::unique_ptr<Fourier> convolution_;
  AlignedVector<Real> chirp_, filter_;
};

/// The order in which radices pass over `n` values; empty where a prime factor is too large for passes.
std::vector<int> radices_of(std::int64_t n);

}  // namespace tailrace::ultrasound::fft
