#pragma once

#include <fftw3.h>

#include <memory>
#include <vector>

#include "field.hpp"

/// Fourier transforms of a box that is split over ranks: planes along z are transformed where they lie,
/// columns along z after a transpose. FFTW plans are estimated, never timed: the same plan, hence the same
/// rounding, in every run, on every rank and thread, for every rank count.
namespace tailrace::ultrasound {

struct PlanDeleter {
  void operator()(fftwf_plan_s* plan) const noexcept { fftwf_destroy_plan(plan); }
};
using FftPlan = std::unique_ptr<fftwf_plan_s, PlanDeleter>;

/// Two-dimensional real transform of one plane. Real rows are transformed two at a time as one complex row,
/// which FFTW's vectorised complex kernels do about twice as fast as its estimated real ones
/// (docs/explain/ultrasound.md).
class PlaneTransform {
 public:
  /// Scratch memory of one thread.
  struct Scratch {
    AlignedVector<Complex> pairs;
  };

  PlaneTransform(std::int64_t nx, std::int64_t ny);

  [[nodiscard]] std::int64_t half_nx() const noexcept { return half_nx_; }
  /// Distance of the rows of a spectrum: half_nx and up to three zeros, which keep FFTW's vectors full.
  [[nodiscard]] std::int64_t pitch() const noexcept { return pitch_; }
  [[nodiscard]] Scratch make_scratch() const;

  /// Unnormalised forward transform: `real` has ny rows of nx, `spectrum` ny rows of half_nx; both aligned.
  /// @local
  void forward(const float* real, Complex* spectrum, Scratch& scratch) const;
  /// Unnormalised inverse; the spectrum is destroyed. @local
  void inverse(Complex* spectrum, float* real, Scratch& scratch) const;

 private:
  static constexpr std::int64_t pairs_at_once =
      4;  // row pairs per FFTW call: fits the first cache, fills the vectors

  std::int64_t nx_, ny_, half_nx_, pitch_;
  FftPlan rows_forward_, rows_inverse_, columns_forward_, columns_inverse_;
};

/// Transforms along z of a block of neighbouring columns, held as (z, column).
class ColumnTransform {
 public:
  ColumnTransform(std::int64_t nz, std::int64_t columns);

  /// Columns handled by one call.
  [[nodiscard]] std::int64_t width() const noexcept { return width_; }
  [[nodiscard]] AlignedVector<Complex> make_block() const;
  void forward(Complex* block) const;
  void inverse(Complex* block) const;

 private:
  static constexpr std::int64_t widest = 44;

  std::int64_t nz_, width_;
  FftPlan forward_, inverse_;
};

}  // namespace tailrace::ultrasound
