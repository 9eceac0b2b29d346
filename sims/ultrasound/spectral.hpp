// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>

#include "field.hpp"
#include "fourier.hpp"
#include "lanes.hpp"

/// Fourier transforms of a box that is split over ranks: planes along z are transformed where they lie,
/// columns along z after a transpose.
namespace tailrace::ultrasound {

/// Two arrays between which the passes of a transform go to and fro.
template <class V>
struct Columns {
  fft::Pair<V>* values;
  fft::Pair<V>* spare;

  template <class Real>
  void forward(const fft::Fourier<Real>& fourier) noexcept {
    auto* result = fourier.forward(values, spare);
    if (result != values) std::swap(values, spare);
  }
};

/// The memory in which one thread transforms: pairs of arrays.
template <class Real>
class FftScratch {
 public:
  FftScratch() = default;
  /// `count` pairs of arrays for transforms that need `room` values each.
  explicit FftScratch(std::int64_t room, std::int64_t count = 1);

  template <class V>
  [[nodiscard]] Columns<V> columns(std::int64_t which = 0) noexcept {
    auto* first = reinterpret_cast<fft::Pair<V>*>(memory_.data() + 2 * which * array_);
    return {first, reinterpret_cast<fft::Pair<V>*>(memory_.data() + (2 * which + 1) * array_)};
  }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return static_cast<std::int64_t>(memory_.size() * sizeof(Real));
  }

 private:
  std::int64_t array_ = 0;
  AlignedVector<Real> memory_;
};

/// Runs work.template operator()<V>(column) for groups of neighbouring columns, as many as V has lanes: whole
/// registers first, then fours. `count` is a multiple of 4.
template <class Real, class Work>
void for_column_groups(std::int64_t count, const Work& work) {
  std::int64_t column = 0;
  for (; column + simd::lanes<Real> <= count; column += simd::lanes<Real>)
    work.template operator()<fft::Wide<Real>>(column);
  if constexpr (fft::has_narrow<Real>)
    for (; column < count; column += 4) work.template operator()<fft::Narrow<Real>>(column);
}

/// Transforms along the rows of an array of complex numbers: each of its columns is one. Columns are handled
/// in groups of 4 or more, and their number is a multiple of 4.
template <class Real>
class ColumnTransform {
 public:
  using Complex = std::complex<Real>;

  explicit ColumnTransform(std::int64_t n) : fourier_(n) {}

  [[nodiscard]] FftScratch<Real> make_scratch() const { return FftScratch<Real>(fourier_.room()); }
  [[nodiscard]] const fft::Fourier<Real>& fourier() const noexcept { return fourier_; }
  /// Unnormalised transforms of `columns` columns in rows at the distance `stride`. @local
  void forward(Complex* rows, std::int64_t stride, std::int64_t columns, FftScratch<Real>& scratch) const;
  void inverse(Complex* rows, std::int64_t stride, std::int64_t columns, FftScratch<Real>& scratch) const;
  /// Multiplies the spectrum of every column by `factor`, n values; unnormalised. @local
  void filter(Complex* rows, std::int64_t stride, std::int64_t columns, const Complex* factor,
              FftScratch<Real>& scratch) const;

 private:
  fft::Fourier<Real> fourier_;
};

/// Transforms of real rows to the half of their spectrum and back: a row in each lane, so that no row affects
/// another one. Rows of an even length are transforms of half the length of their even and odd values.
template <class Real>
class RowTransform {
 public:
  using Complex = std::complex<Real>;

  /// Spectra have `pitch` values per row: the half spectrum and zeros behind it.
  RowTransform(std::int64_t nx, std::int64_t pitch);

  [[nodiscard]] std::int64_t room() const noexcept { return room_; }
  void forward(RowView<const Real> real, RowView<Complex> spectrum, std::int64_t rows,
               FftScratch<Real>& scratch) const;
  void inverse(RowView<Complex> spectrum, RowView<Real> real, std::int64_t rows,
               FftScratch<Real>& scratch) const;
  /// Multiplies the spectrum of every row by `factor`, half_nx values that belong to a real filter. May work
  /// in place.
  void filter(RowView<const Real> in, const Complex* factor, RowView<Real> out, std::int64_t rows,
              FftScratch<Real>& scratch) const;

 private:
  using Wide = fft::Wide<Real>;
  using Pair = fft::Pair<Wide>;
  [[nodiscard]] bool is_even() const noexcept { return nx_ % 2 == 0; }
  void to_spectrum(RowView<const Real> real, std::int64_t count, Columns<Wide>& columns) const noexcept;
  void to_real(Columns<Wide>& columns, RowView<Real> real, std::int64_t count) const noexcept;
  void separate(const Pair* values, Pair* spectrum) const noexcept;
  void combine(const Pair* spectrum, Pair* values) const noexcept;

  std::int64_t nx_, half_nx_, pitch_, room_;
  fft::Fourier<Real> fourier_;
  AlignedVector<Real> turns_;  // exp(-2 pi i k / nx)
};

/// Two-dimensional real transform of one plane, or of rows alone where a plane is one row.
template <class Real>
class PlaneTransform {
 public:
  using Complex = std::complex<Real>;

  /// The pitch is a multiple of `group`, which is one of 4.
  PlaneTransform(std::int64_t nx, std::int64_t ny, std::int64_t group = 4);

  [[nodiscard]] std::int64_t half_nx() const noexcept { return half_nx_; }
  /// Distance of the rows of a spectrum: half_nx and some zeros, which keep vectors full.
  [[nodiscard]] std::int64_t pitch() const noexcept { return pitch_; }
  [[nodiscard]] FftScratch<Real> make_scratch() const;
  [[nodiscard]] const RowTransform<Real>& rows() const noexcept { return rows_; }
  [[nodiscard]] const ColumnTransform<Real>& columns() const noexcept { return columns_; }

  /// Unnormalised forward transform of `rows` rows: those of one plane, or, where ny is 1, of some.
  /// @local
  void forward(RowView<const Real> real, RowView<Complex> spectrum, std::int64_t rows,
               FftScratch<Real>& scratch) const;
  /// Unnormalised inverse; the spectrum is destroyed. @local
  void inverse(RowView<Complex> spectrum, RowView<Real> real, std::int64_t rows,
               FftScratch<Real>& scratch) const;

 private:
  std::int64_t ny_, half_nx_, pitch_;
  RowTransform<Real> rows_;
  ColumnTransform<Real> columns_;
};

}  // namespace tailrace::ultrasound
