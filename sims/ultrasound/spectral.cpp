// SPDX-License-Identifier: BSD-3-Clause
#include "spectral.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "kernels.hpp"

namespace tailrace::ultrasound {

namespace {

/// Fetches values in the order of memory, which the processor does at full bandwidth, before columns are
/// taken out of them.
template <class Element>
void prefetch(const Element* values, std::int64_t n) {
  constexpr std::int64_t per_line = alignment_bytes / sizeof(Element);
  for (std::int64_t i = 0; i < n; i += per_line) __builtin_prefetch(values + i, 1, 2);
}

/// Two real rows become the real and the imaginary part of one complex row.
template <class Real>
void interleave(const Real* __restrict a, const Real* __restrict b, std::complex<Real>* __restrict pair,
                std::int64_t n) {
  auto* out = reinterpret_cast<Real*>(pair);
  for (std::int64_t i = 0; i < n; ++i) {
    out[2 * i] = a[i];
    out[2 * i + 1] = b[i];
  }
}

template <class Real>
void deinterleave(const std::complex<Real>* __restrict pair, Real* __restrict a, Real* __restrict b,
                  std::int64_t n) {
  const auto* in = reinterpret_cast<const Real*>(pair);
  for (std::int64_t i = 0; i < n; ++i) {
    a[i] = in[2 * i];
    b[i] = in[2 * i + 1];
  }
}

/// From the transform Z of a + i b to the half spectra of a and b:
/// A[k] = (Z[k] + conj Z[n-k]) / 2,  B[k] = (Z[k] - conj Z[n-k]) / 2i.
template <class Real>
void separate(const std::complex<Real>* __restrict z, std::complex<Real>* __restrict a,
              std::complex<Real>* __restrict b, std::int64_t n) {
  const auto* in = reinterpret_cast<const Real*>(z);
  auto* out_a = reinterpret_cast<Real*>(a);
  auto* out_b = reinterpret_cast<Real*>(b);
  out_a[0] = in[0];
  out_a[1] = 0;
  out_b[0] = in[1];
  out_b[1] = 0;
  for (std::int64_t k = 1; k <= n / 2; ++k) {
    const Real re = in[2 * k], im = in[2 * k + 1], mirror_re = in[2 * (n - k)],
               mirror_im = in[2 * (n - k) + 1];
    out_a[2 * k] = Real(0.5) * (re + mirror_re);
    out_a[2 * k + 1] = Real(0.5) * (im - mirror_im);
    out_b[2 * k] = Real(0.5) * (im + mirror_im);
    out_b[2 * k + 1] = Real(0.5) * (mirror_re - re);
  }
}

/// The inverse of `separate`: Z[k] = A[k] + i B[k] with the Hermitian other half. As in any complex-to-real
/// transform the imaginary parts at k = 0 and at the Nyquist index have no effect.
template <class Real>
void combine(const std::complex<Real>* __restrict a, const std::complex<Real>* __restrict b,
             std::complex<Real>* __restrict z, std::int64_t n) {
  const auto* in_a = reinterpret_cast<const Real*>(a);
  const auto* in_b = reinterpret_cast<const Real*>(b);
  auto* out = reinterpret_cast<Real*>(z);
  out[0] = in_a[0];
  out[1] = in_b[0];
  for (std::int64_t k = 1; k <= (n - 1) / 2; ++k) {
    const Real a_re = in_a[2 * k], a_im = in_a[2 * k + 1], b_re = in_b[2 * k], b_im = in_b[2 * k + 1];
    out[2 * k] = a_re - b_im;
    out[2 * k + 1] = a_im + b_re;
    out[2 * (n - k)] = a_re + b_im;
    out[2 * (n - k) + 1] = b_re - a_im;
  }
  if (n % 2 == 0) {
    out[n] = in_a[n];
    out[n + 1] = in_b[n];
  }
}

}  // namespace

template <class Real>
FftPlan<Real>::FftPlan(std::int64_t n, std::int64_t count, std::int64_t stride, std::int64_t distance,
                       std::complex<Real>* sample, int sign) {
  const int length = static_cast<int>(n), many = static_cast<int>(count), step = static_cast<int>(stride),
            next = static_cast<int>(distance);
  if constexpr (std::is_same_v<Real, float>) {
    auto* raw = reinterpret_cast<fftwf_complex*>(sample);
    plan_.reset(fftwf_plan_many_dft(1, &length, many, raw, nullptr, step, next, raw, nullptr, step, next,
                                    sign, FFTW_ESTIMATE));
  } else {
    auto* raw = reinterpret_cast<fftw_complex*>(sample);
    plan_.reset(fftw_plan_many_dft(1, &length, many, raw, nullptr, step, next, raw, nullptr, step, next, sign,
                                   FFTW_ESTIMATE));
  }
  TAILRACE_CHECK(plan_ != nullptr, "FFTW made no plan");
}

template <class Real>
void FftPlan<Real>::execute(std::complex<Real>* values) const {
  if constexpr (std::is_same_v<Real, float>) {
    auto* raw = reinterpret_cast<fftwf_complex*>(values);
    fftwf_execute_dft(plan_.get(), raw, raw);
  } else {
    auto* raw = reinterpret_cast<fftw_complex*>(values);
    fftw_execute_dft(plan_.get(), raw, raw);
  }
}

template <class Real>
PlaneTransform<Real>::PlaneTransform(std::int64_t nx, std::int64_t ny, std::int64_t group)
    : nx_(nx), ny_(ny), half_nx_(nx / 2 + 1), pitch_((half_nx_ + group - 1) / group * group) {
  AlignedVector<Complex> sample(static_cast<std::size_t>(std::max(nx * pairs_at_once, pitch_ * ny)));
  rows_forward_ = FftPlan<Real>(nx, pairs_at_once, 1, nx, sample.data(), FFTW_FORWARD);
  rows_inverse_ = FftPlan<Real>(nx, pairs_at_once, 1, nx, sample.data(), FFTW_BACKWARD);
  columns_forward_ = FftPlan<Real>(ny, pitch_, pitch_, 1, sample.data(), FFTW_FORWARD);
  columns_inverse_ = FftPlan<Real>(ny, pitch_, pitch_, 1, sample.data(), FFTW_BACKWARD);
}

template <class Real>
typename PlaneTransform<Real>::Scratch PlaneTransform<Real>::make_scratch() const {
  return {AlignedVector<Complex>(static_cast<std::size_t>((pairs_at_once + 1) * nx_), Complex{})};
}

template <class Real>
void PlaneTransform<Real>::forward(const Real* real, Complex* spectrum, Scratch& scratch) const {
  // A last odd row is paired with itself; its twin's result goes to a spare row behind the pairs.
  Complex* pairs = scratch.pairs.data();
  Complex* spare = pairs + pairs_at_once * nx_;
  for (std::int64_t first = 0; first < ny_; first += 2 * pairs_at_once) {
    const std::int64_t rows = std::min(2 * pairs_at_once, ny_ - first);
    for (std::int64_t r = 0; r < rows; r += 2)
      interleave(real + (first + r) * nx_, real + (first + std::min(r + 1, rows - 1)) * nx_,
                 pairs + r / 2 * nx_, nx_);
    rows_forward_.execute(pairs);
    for (std::int64_t r = 0; r < rows; r += 2)
      separate(pairs + r / 2 * nx_, spectrum + (first + r) * pitch_,
               r + 1 < rows ? spectrum + (first + r + 1) * pitch_ : spare, nx_);
  }
  columns_forward_.execute(spectrum);
}

template <class Real>
void PlaneTransform<Real>::inverse(Complex* spectrum, Real* real, Scratch& scratch) const {
  prefetch(spectrum, pitch_ * ny_);
  columns_inverse_.execute(spectrum);
  Complex* pairs = scratch.pairs.data();
  auto* spare = reinterpret_cast<Real*>(pairs + pairs_at_once * nx_);
  for (std::int64_t first = 0; first < ny_; first += 2 * pairs_at_once) {
    const std::int64_t rows = std::min(2 * pairs_at_once, ny_ - first);
    for (std::int64_t r = 0; r < rows; r += 2)
      combine(spectrum + (first + r) * pitch_, spectrum + (first + std::min(r + 1, rows - 1)) * pitch_,
              pairs + r / 2 * nx_, nx_);
    rows_inverse_.execute(pairs);
    for (std::int64_t r = 0; r < rows; r += 2)
      deinterleave(pairs + r / 2 * nx_, real + (first + r) * nx_,
                   r + 1 < rows ? real + (first + r + 1) * nx_ : spare, nx_);
  }
}

template <class Real>
void PlaneTransform<Real>::filter_rows(const Real* in, const Complex* factor, Real* out,
                                       Scratch& scratch) const {
  // The factors belong to a real filter, so a pair of rows stays a pair.
  Complex* pairs = scratch.pairs.data();
  auto* spare = reinterpret_cast<Real*>(pairs + pairs_at_once * nx_);
  for (std::int64_t first = 0; first < ny_; first += 2 * pairs_at_once) {
    const std::int64_t rows = std::min(2 * pairs_at_once, ny_ - first);
    for (std::int64_t r = 0; r < rows; r += 2)
      interleave(in + (first + r) * nx_, in + (first + std::min(r + 1, rows - 1)) * nx_, pairs + r / 2 * nx_,
                 nx_);
    rows_forward_.execute(pairs);
    for (std::int64_t r = 0; r < rows; r += 2) kernels::scale_in_place(pairs + r / 2 * nx_, factor, nx_);
    rows_inverse_.execute(pairs);
    for (std::int64_t r = 0; r < rows; r += 2)
      deinterleave(pairs + r / 2 * nx_, out + (first + r) * nx_,
                   r + 1 < rows ? out + (first + r + 1) * nx_ : spare, nx_);
  }
}

template <class Real>
void PlaneTransform<Real>::filter_columns(Complex* plane, const Complex* factor) const {
  columns_forward_.execute(plane);
  for (std::int64_t y = 0; y < ny_; ++y) kernels::scale_in_place(plane + y * pitch_, factor[y], pitch_);
  columns_inverse_.execute(plane);
}

template <class Real>
ColumnTransform<Real>::ColumnTransform(std::int64_t nz, std::int64_t columns, std::int64_t widest) : nz_(nz) {
  // FFTW is fastest on full vectors of four columns. An odd number of such fours keeps the distance of the
  // elements of a column away from powers of two, which would make them fall into the same cache sets: six
  // times slower at nz = 256.
  const std::int64_t blocks = (columns + widest - 1) / widest;
  const std::int64_t fours = ((columns + blocks - 1) / blocks + 3) / 4;
  width_ = 4 * (fours % 2 == 1 ? fours : fours + 1);
  auto sample = make_block();
  forward_ = FftPlan<Real>(nz, width_, width_, 1, sample.data(), FFTW_FORWARD);
  inverse_ = FftPlan<Real>(nz, width_, width_, 1, sample.data(), FFTW_BACKWARD);
}

template <class Real>
AlignedVector<std::complex<Real>> ColumnTransform<Real>::make_block() const {
  return AlignedVector<Complex>(static_cast<std::size_t>(nz_ * width_), Complex{});
}

template <class Real>
void ColumnTransform<Real>::forward(Complex* block) const {
  forward_.execute(block);
}
template <class Real>
void ColumnTransform<Real>::inverse(Complex* block) const {
  inverse_.execute(block);
}

template class FftPlan<float>;
template class FftPlan<double>;
template class PlaneTransform<float>;
template class PlaneTransform<double>;
template class ColumnTransform<float>;
template class ColumnTransform<double>;

}  // namespace tailrace::ultrasound
