// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fftw3.h>

#include <complex>
#include <memory>
#include <type_traits>

#include "field.hpp"

/// Fourier transforms of a box that is split over ranks: planes along z are transformed where they lie,
/// columns along z after a transpose. FFTW plans are estimated, never timed: the same plan, hence the same
/// rounding, in every run, on every rank and thread, for every rank count.
namespace tailrace::ultrasound {

/// Complex transforms of length `n`, `count` of them at the given stride and distance, in place: FFTW in
/// single or double precision.
template <class Real>
class FftPlan {
 public:
  FftPlan() = default;
  /// `sample` has the alignment and extent of what will be transformed. The sign is FFTW's.
  FftPlan(std::int64_t n, std::int64_t count, std::int64_t stride, std::int64_t distance,
          std::complex<Real>* sample, int sign);
  void execute(std::complex<Real>* values) const;

 private:
  using Plan = std::conditional_t<std::is_same_v<Real, float>, fftwf_plan_s, fftw_plan_s>;
  struct Deleter {
    void operator()(fftwf_plan_s* plan) const noexcept { fftwf_destroy_plan(plan); }
    void operator()(fftw_plan_s* plan) const noexcept { fftw_destroy_plan(plan); }
  };
  std::unique_ptr<Plan, Deleter> plan_;
};

/// Two-dimensional real transform of one plane. Real rows are transformed two at a time as one complex row,
/// which FFTW's vectorised complex kernels do about twice as fast as its estimated real ones
/// (docs/explain/ultrasound.md).
template <class Real>
class PlaneTransform {
 public:
  using Complex = std::complex<Real>;
  /// Scratch memory of one thread.
  struct Scratch {
    AlignedVector<Complex> pairs;
  };

  /// The pitch is a multiple of `group`, which is one of 4.
  PlaneTransform(std::int64_t nx, std::int64_t ny, std::int64_t group = 4);

  [[nodiscard]] std::int64_t half_nx() const noexcept { return half_nx_; }
  /// Distance of the rows of a spectrum: half_nx and some zeros, which keep FFTW's vectors full.
  [[nodiscard]] std::int64_t pitch() const noexcept { return pitch_; }
  [[nodiscard]] Scratch make_scratch() const;

  /// Unnormalised forward transform: `real` has ny rows of nx, `spectrum` ny rows of half_nx; both aligned.
  /// @local
  void forward(const Real* real, Complex* spectrum, Scratch& scratch) const;
  /// Unnormalised inverse; the spectrum is destroyed. @local
  void inverse(Complex* spectrum, Real* real, Scratch& scratch) const;
  /// Multiplies the spectrum of every row by `factor`, nx values in standard order that belong to a real
  /// filter; unnormalised. May work in place. @local
  void filter_rows(const Real* in, const Complex* factor, Real* out, Scratch& scratch) const;
  /// Multiplies the spectrum of every column of a plane of ny rows of `pitch` values by `factor`, ny values;
  /// unnormalised. @local
  void filter_columns(Complex* plane, const Complex* factor) const;

 private:
  static constexpr std::int64_t pairs_at_once =
      4;  // row pairs per FFTW call: fits the first cache, fills the vectors

  std::int64_t nx_, ny_, half_nx_, pitch_;
  FftPlan<Real> rows_forward_, rows_inverse_, columns_forward_, columns_inverse_;
};

/// Transforms along z of a block of neighbouring columns, held as (z, column).
template <class Real>
class ColumnTransform {
 public:
  using Complex = std::complex<Real>;
  /// For blocks of at most `widest` of so many columns, a multiple of 4.
  ColumnTransform(std::int64_t nz, std::int64_t columns, std::int64_t widest = 44);

  /// Columns handled by one call.
  [[nodiscard]] std::int64_t width() const noexcept { return width_; }
  [[nodiscard]] AlignedVector<Complex> make_block() const;
  void forward(Complex* block) const;
  void inverse(Complex* block) const;

 private:
  std::int64_t nz_, width_;
  FftPlan<Real> forward_, inverse_;
};

}  // namespace tailrace::ultrasound
