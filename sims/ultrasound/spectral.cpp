// SPDX-License-Identifier: BSD-3-Clause
#include "spectral.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace tailrace::ultrasound {

namespace {

using fft::lane_count;
using fft::load_pair;
using fft::Pair;
using fft::times;

/// Rows of n values become n vectors with a row in each lane; lanes without a row have the last one. Where n
/// is no multiple of the lanes, the last vectors are moved twice.
template <class V, class Real>
void rows_to_lanes(RowView<const Real> rows, std::int64_t count, std::int64_t n, V* out) noexcept {
  constexpr std::int64_t lanes = lane_count<V>;
  const std::int64_t width = std::min(n, lanes);
  for (std::int64_t x = 0; x < n; x += lanes) {
    const std::int64_t at = std::min(x, n - width);
    V block[lanes];
    for (std::int64_t i = 0; i < lanes; ++i)
      block[i] = simd::load(rows.row(std::min(i, count - 1)) + at, width);
    fft::transpose(block);
    std::copy_n(block, width, out + at);
  }
}

/// The way back; value x of each row is in the vector `place(x)`.
template <class V, class Real, class Place>
void lanes_to_rows(const V* values, const Place& place, RowView<Real> rows, std::int64_t count,
                   std::int64_t n) noexcept {
  constexpr std::int64_t lanes = lane_count<V>;
  const std::int64_t width = std::min(n, lanes);
  for (std::int64_t x = 0; x < n; x += lanes) {
    const std::int64_t at = std::min(x, n - width);
    V block[lanes]{};
    for (std::int64_t i = 0; i < width; ++i) block[i] = values[place(at + i)];
    fft::transpose(block);
    for (std::int64_t i = 0; i < std::min(count, lanes); ++i) simd::store(rows.row(i) + at, block[i], width);
  }
}

template <class Real>
RowView<Real> reals(RowView<std::complex<Real>> rows) noexcept {
  return {reinterpret_cast<Real*>(rows.first), 2 * rows.stride};
}

template <class V, class Real>
void load(const std::complex<Real>* rows, std::int64_t stride, std::int64_t n, Pair<V>* out) noexcept {
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = load_pair<V>(reinterpret_cast<const Real*>(rows + i * stride));
}

/// Stores values, which are those of a forward transform, as those of the inverse one: read backwards.
template <class V, class Real>
void store_mirrored(const Pair<V>* values, std::int64_t n, std::complex<Real>* rows,
                    std::int64_t stride) noexcept {
  for (std::int64_t i = 0; i < n; ++i)
    fft::store_pair(reinterpret_cast<Real*>(rows + i * stride), values[i == 0 ? 0 : n - i]);
}

/// Asks for values in the order of memory, which the processor fetches at full bandwidth, before columns are
/// taken out of them.
template <class Element>
void prefetch(const Element* values, std::int64_t n) {
  constexpr std::int64_t per_line = alignment_bytes / sizeof(Element);
  for (std::int64_t i = 0; i < n; i += per_line) __builtin_prefetch(values + i, 1, 2);
}

}  // namespace

template <class Real>
FftScratch<Real>::FftScratch(std::int64_t room, std::int64_t count)
    // Some more than a power of two, or all arrays would fall into the same cache sets.
    : array_(2 * simd::lanes<Real> * (room + 2) + static_cast<std::int64_t>(padded<Real>(1))),
      memory_(static_cast<std::size_t>(2 * count * array_), Real(0)) {}

template <class Real>
void ColumnTransform<Real>::forward(Complex* rows, std::int64_t stride, std::int64_t columns,
                                    FftScratch<Real>& scratch) const {
  for_column_groups<Real>(columns, [&]<class V>(std::int64_t column) {
    auto group = scratch.template columns<V>();
    load(rows + column, stride, fourier_.size(), group.values);
    group.forward(fourier_);
    for (std::int64_t i = 0; i < fourier_.size(); ++i)
      fft::store_pair(reinterpret_cast<Real*>(rows + i * stride + column), group.values[i]);
  });
}

template <class Real>
void ColumnTransform<Real>::inverse(Complex* rows, std::int64_t stride, std::int64_t columns,
                                    FftScratch<Real>& scratch) const {
  for_column_groups<Real>(columns, [&]<class V>(std::int64_t column) {
    auto group = scratch.template columns<V>();
    load(rows + column, stride, fourier_.size(), group.values);
    group.forward(fourier_);
    store_mirrored(group.values, fourier_.size(), rows + column, stride);
  });
}

template <class Real>
void ColumnTransform<Real>::filter(Complex* rows, std::int64_t stride, std::int64_t columns,
                                   const Complex* factor, FftScratch<Real>& scratch) const {
  for_column_groups<Real>(columns, [&]<class V>(std::int64_t column) {
    auto group = scratch.template columns<V>();
    load(rows + column, stride, fourier_.size(), group.values);
    group.forward(fourier_);
    for (std::int64_t i = 0; i < fourier_.size(); ++i)
      group.values[i] = times(group.values[i], factor[i].real(), factor[i].imag());
    group.forward(fourier_);
    store_mirrored(group.values, fourier_.size(), rows + column, stride);
  });
}

template <class Real>
RowTransform<Real>::RowTransform(std::int64_t nx, std::int64_t pitch)
    : nx_(nx), half_nx_(nx / 2 + 1), pitch_(pitch), fourier_(is_even() ? nx / 2 : nx) {
  room_ = std::max(fourier_.room(), pitch_);
  for (std::int64_t k = 0; k < half_nx_; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(nx);
    turns_.push_back(static_cast<Real>(std::cos(angle)));
    turns_.push_back(static_cast<Real>(-std::sin(angle)));
  }
}

/// From the transform Z of the values x[2k] + i x[2k+1] to the spectrum of x: with E and O those of the even
/// and odd values, Z = E + i O, X[k] = E[k] + w^k O[k] and X[n/2-k] = conj(E[k] - w^k O[k]).
template <class Real>
void RowTransform<Real>::separate(const Pair* values, Pair* spectrum) const noexcept {
  const std::int64_t h = half_nx_ - 1;
  const Pair first = values[0];
  spectrum[0] = {first.re + first.im, Wide{}};
  spectrum[h] = {first.re - first.im, Wide{}};
  for (std::int64_t k = 1; 2 * k <= h; ++k) {
    const Pair a = values[k], b = values[h - k];
    const Pair even{Real(0.5) * (a.re + b.re), Real(0.5) * (a.im - b.im)};
    const Pair odd{Real(0.5) * (a.im + b.im), Real(0.5) * (b.re - a.re)};
    const Pair turned = times(odd, turns_[2 * k], turns_[2 * k + 1]);
    spectrum[k] = even + turned;
    spectrum[h - k] = {even.re - turned.re, turned.im - even.im};
  }
}

/// The inverse of `separate`, but for a factor of 2. As in any complex-to-real transform the imaginary parts
/// at k = 0 and at the Nyquist index have no effect.
template <class Real>
void RowTransform<Real>::combine(const Pair* spectrum, Pair* values) const noexcept {
  const std::int64_t h = half_nx_ - 1;
  const Wide lowest = spectrum[0].re, highest = spectrum[h].re;
  values[0] = {lowest + highest, lowest - highest};
  for (std::int64_t k = 1; 2 * k <= h; ++k) {
    const Pair a = spectrum[k], b = spectrum[h - k];
    const Pair even{a.re + b.re, a.im - b.im};
    const Pair odd = times(Pair{a.re - b.re, a.im + b.im}, turns_[2 * k], -turns_[2 * k + 1]);
    values[k] = {even.re - odd.im, even.im + odd.re};
    values[h - k] = {even.re + odd.im, odd.re - even.im};
  }
}

/// The half spectra of some rows, into columns.values.
template <class Real>
void RowTransform<Real>::to_spectrum(RowView<const Real> real, std::int64_t count,
                                     Columns<Wide>& columns) const noexcept {
  if (is_even()) {
    // Two neighbouring values are the real and the imaginary part of one, which is how they come.
    rows_to_lanes(real, count, nx_, reinterpret_cast<Wide*>(columns.values));
    columns.forward(fourier_);
    separate(columns.values, columns.spare);
    std::swap(columns.values, columns.spare);
  } else {
    auto* values = reinterpret_cast<Wide*>(columns.spare);
    rows_to_lanes(real, count, nx_, values);
    for (std::int64_t x = 0; x < nx_; ++x) columns.values[x] = {values[x], Wide{}};
    columns.forward(fourier_);
  }
  std::fill(columns.values + half_nx_, columns.values + pitch_, Pair{});
}

/// The rows of the half spectra in columns.values.
template <class Real>
void RowTransform<Real>::to_real(Columns<Wide>& columns, RowView<Real> real,
                                 std::int64_t count) const noexcept {
  const std::int64_t n = fourier_.size();
  if (is_even()) {
    combine(columns.values, columns.spare);
    std::swap(columns.values, columns.spare);
  } else {
    for (std::int64_t k = 1; k < half_nx_; ++k)
      columns.values[n - k] = {columns.values[k].re, -columns.values[k].im};
    columns.values[0].im = Wide{};
  }
  columns.forward(fourier_);
  const auto* values = reinterpret_cast<const Wide*>(columns.values);
  const auto mirrored = [n](std::int64_t k) { return k == 0 ? 0 : n - k; };
  if (is_even())
    lanes_to_rows(
        values, [&](std::int64_t x) { return 2 * mirrored(x / 2) + x % 2; }, real, count, nx_);
  else
    lanes_to_rows(
        values, [&](std::int64_t x) { return 2 * mirrored(x); }, real, count, nx_);
}

template <class Real>
void RowTransform<Real>::forward(RowView<const Real> real, RowView<Complex> spectrum, std::int64_t rows,
                                 FftScratch<Real>& scratch) const {
  constexpr std::int64_t lanes = lane_count<Wide>;
  for (std::int64_t r = 0; r < rows; r += lanes) {
    auto columns = scratch.template columns<Wide>();
    to_spectrum({real.row(r), real.stride}, rows - r, columns);
    lanes_to_rows(reinterpret_cast<const Wide*>(columns.values), std::identity{},
                  reals<Real>({spectrum.row(r), spectrum.stride}), rows - r, 2 * pitch_);
  }
}

template <class Real>
void RowTransform<Real>::inverse(RowView<Complex> spectrum, RowView<Real> real, std::int64_t rows,
                                 FftScratch<Real>& scratch) const {
  constexpr std::int64_t lanes = lane_count<Wide>;
  for (std::int64_t r = 0; r < rows; r += lanes) {
    auto columns = scratch.template columns<Wide>();
    const auto from = reals<Real>({spectrum.row(r), spectrum.stride});
    rows_to_lanes(RowView<const Real>{from.first, from.stride}, rows - r, 2 * pitch_,
                  reinterpret_cast<Wide*>(columns.values));
    to_real(columns, {real.row(r), real.stride}, rows - r);
  }
}

template <class Real>
void RowTransform<Real>::filter(RowView<const Real> in, const Complex* factor, RowView<Real> out,
                                std::int64_t rows, FftScratch<Real>& scratch) const {
  constexpr std::int64_t lanes = lane_count<Wide>;
  for (std::int64_t r = 0; r < rows; r += lanes) {
    auto columns = scratch.template columns<Wide>();
    to_spectrum({in.row(r), in.stride}, rows - r, columns);
    for (std::int64_t k = 0; k < half_nx_; ++k)
      columns.values[k] = times(columns.values[k], factor[k].real(), factor[k].imag());
    to_real(columns, {out.row(r), out.stride}, rows - r);
  }
}

template <class Real>
PlaneTransform<Real>::PlaneTransform(std::int64_t nx, std::int64_t ny, std::int64_t group)
    : ny_(ny),
      half_nx_(nx / 2 + 1),
      pitch_((half_nx_ + group - 1) / group * group),
      rows_(nx, pitch_),
      columns_(ny) {}

template <class Real>
FftScratch<Real> PlaneTransform<Real>::make_scratch() const {
  return FftScratch<Real>(std::max(rows_.room(), columns_.fourier().room()));
}

template <class Real>
void PlaneTransform<Real>::forward(RowView<const Real> real, RowView<Complex> spectrum, std::int64_t rows,
                                   FftScratch<Real>& scratch) const {
  rows_.forward(real, spectrum, rows, scratch);
  if (ny_ > 1) columns_.forward(spectrum.first, spectrum.stride, pitch_, scratch);
}

template <class Real>
void PlaneTransform<Real>::inverse(RowView<Complex> spectrum, RowView<Real> real, std::int64_t rows,
                                   FftScratch<Real>& scratch) const {
  if (ny_ > 1) {
    prefetch(spectrum.first, pitch_ * ny_);
    columns_.inverse(spectrum.first, spectrum.stride, pitch_, scratch);
  }
  rows_.inverse(spectrum, real, rows, scratch);
}

template class FftScratch<float>;
template class FftScratch<double>;
template class ColumnTransform<float>;
template class ColumnTransform<double>;
template class RowTransform<float>;
template class RowTransform<double>;
template class PlaneTransform<float>;
template class PlaneTransform<double>;

}  // namespace tailrace::ultrasound
