#include "spectral.hpp"

#include <algorithm>

#include "tailrace/base/check.hpp"

namespace tailrace::ultrasound {

namespace {

fftwf_complex* raw(Complex* values) {
  return reinterpret_cast<fftwf_complex*>(values);
}

/// A plan for `count` complex transforms of length `n`, in place.
FftPlan make_plan(std::int64_t n, std::int64_t count, std::int64_t stride, std::int64_t distance,
                  Complex* sample, int sign) {
  const int length = static_cast<int>(n);
  FftPlan plan(fftwf_plan_many_dft(1, &length, static_cast<int>(count), raw(sample), nullptr,
                                   static_cast<int>(stride), static_cast<int>(distance), raw(sample), nullptr,
                                   static_cast<int>(stride), static_cast<int>(distance), sign,
                                   FFTW_ESTIMATE));
  TAILRACE_CHECK(plan != nullptr, "FFTW made no plan");
  return plan;
}

/// Fetches values in the order of memory, which the processor does at full bandwidth, before columns are
/// taken out of them.
void prefetch(const Complex* values, std::int64_t n) {
  constexpr std::int64_t per_line = alignment_bytes / sizeof(Complex);
  for (std::int64_t i = 0; i < n; i += per_line) __builtin_prefetch(values + i, 1, 2);
}

/// Two real rows become the real and the imaginary part of one complex row.
void interleave(const float* __restrict a, const float* __restrict b, Complex* __restrict pair,
                std::int64_t n) {
  auto* out = reinterpret_cast<float*>(pair);
  for (std::int64_t i = 0; i < n; ++i) {
    out[2 * i] = a[i];
    out[2 * i + 1] = b[i];
  }
}

void deinterleave(const Complex* __restrict pair, float* __restrict a, float* __restrict b, std::int64_t n) {
  const auto* in = reinterpret_cast<const float*>(pair);
  for (std::int64_t i = 0; i < n; ++i) {
    a[i] = in[2 * i];
    b[i] = in[2 * i + 1];
  }
}

/// From the transform Z of a + i b to the half spectra of a and b:
/// A[k] = (Z[k] + conj Z[n-k]) / 2,  B[k] = (Z[k] - conj Z[n-k]) / 2i.
void separate(const Complex* __restrict z, Complex* __restrict a, Complex* __restrict b, std::int64_t n) {
  const auto* in = reinterpret_cast<const float*>(z);
  auto* out_a = reinterpret_cast<float*>(a);
  auto* out_b = reinterpret_cast<float*>(b);
  out_a[0] = in[0];
  out_a[1] = 0;
  out_b[0] = in[1];
  out_b[1] = 0;
  for (std::int64_t k = 1; k <= n / 2; ++k) {
    const float re = in[2 * k], im = in[2 * k + 1], mirror_re = in[2 * (n - k)],
                mirror_im = in[2 * (n - k) + 1];
    out_a[2 * k] = 0.5F * (re + mirror_re);
    out_a[2 * k + 1] = 0.5F * (im - mirror_im);
    out_b[2 * k] = 0.5F * (im + mirror_im);
    out_b[2 * k + 1] = 0.5F * (mirror_re - re);
  }
}

/// The inverse of `separate`: Z[k] = A[k] + i B[k] with the Hermitian other half. As in any complex-to-real
/// transform the imaginary parts at k = 0 and at the Nyquist index have no effect.
void combine(const Complex* __restrict a, const Complex* __restrict b, Complex* __restrict z,
             std::int64_t n) {
  const auto* in_a = reinterpret_cast<const float*>(a);
  const auto* in_b = reinterpret_cast<const float*>(b);
  auto* out = reinterpret_cast<float*>(z);
  out[0] = in_a[0];
  out[1] = in_b[0];
  for (std::int64_t k = 1; k <= (n - 1) / 2; ++k) {
    const float a_re = in_a[2 * k], a_im = in_a[2 * k + 1], b_re = in_b[2 * k], b_im = in_b[2 * k + 1];
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

PlaneTransform::PlaneTransform(std::int64_t nx, std::int64_t ny)
    : nx_(nx), ny_(ny), half_nx_(nx / 2 + 1), pitch_((half_nx_ + 3) / 4 * 4) {
  AlignedVector<Complex> sample(static_cast<std::size_t>(std::max(nx * pairs_at_once, pitch_ * ny)));
  rows_forward_ = make_plan(nx, pairs_at_once, 1, nx, sample.data(), FFTW_FORWARD);
  rows_inverse_ = make_plan(nx, pairs_at_once, 1, nx, sample.data(), FFTW_BACKWARD);
  columns_forward_ = make_plan(ny, pitch_, pitch_, 1, sample.data(), FFTW_FORWARD);
  columns_inverse_ = make_plan(ny, pitch_, pitch_, 1, sample.data(), FFTW_BACKWARD);
}

PlaneTransform::Scratch PlaneTransform::make_scratch() const {
  return {AlignedVector<Complex>(static_cast<std::size_t>((pairs_at_once + 1) * nx_), Complex{})};
}

void PlaneTransform::forward(const float* real, Complex* spectrum, Scratch& scratch) const {
  // A last odd row is paired with itself; its twin's result goes to a spare row behind the pairs.
  Complex* pairs = scratch.pairs.data();
  Complex* spare = pairs + pairs_at_once * nx_;
  for (std::int64_t first = 0; first < ny_; first += 2 * pairs_at_once) {
    const std::int64_t rows = std::min(2 * pairs_at_once, ny_ - first);
    for (std::int64_t r = 0; r < rows; r += 2)
      interleave(real + (first + r) * nx_, real + (first + std::min(r + 1, rows - 1)) * nx_,
                 pairs + r / 2 * nx_, nx_);
    fftwf_execute_dft(rows_forward_.get(), raw(pairs), raw(pairs));
    for (std::int64_t r = 0; r < rows; r += 2)
      separate(pairs + r / 2 * nx_, spectrum + (first + r) * pitch_,
               r + 1 < rows ? spectrum + (first + r + 1) * pitch_ : spare, nx_);
  }
  fftwf_execute_dft(columns_forward_.get(), raw(spectrum), raw(spectrum));
}

void PlaneTransform::inverse(Complex* spectrum, float* real, Scratch& scratch) const {
  prefetch(spectrum, pitch_ * ny_);
  fftwf_execute_dft(columns_inverse_.get(), raw(spectrum), raw(spectrum));
  Complex* pairs = scratch.pairs.data();
  auto* spare = reinterpret_cast<float*>(pairs + pairs_at_once * nx_);
  for (std::int64_t first = 0; first < ny_; first += 2 * pairs_at_once) {
    const std::int64_t rows = std::min(2 * pairs_at_once, ny_ - first);
    for (std::int64_t r = 0; r < rows; r += 2)
      combine(spectrum + (first + r) * pitch_, spectrum + (first + std::min(r + 1, rows - 1)) * pitch_,
              pairs + r / 2 * nx_, nx_);
    fftwf_execute_dft(rows_inverse_.get(), raw(pairs), raw(pairs));
    for (std::int64_t r = 0; r < rows; r += 2)
      deinterleave(pairs + r / 2 * nx_, real + (first + r) * nx_,
                   r + 1 < rows ? real + (first + r + 1) * nx_ : spare, nx_);
  }
}

ColumnTransform::ColumnTransform(std::int64_t nz, std::int64_t columns) : nz_(nz) {
  // FFTW is fastest on full vectors of four columns. An odd number of such fours keeps the distance of the
  // elements of a column away from powers of two, which would make them fall into the same cache sets: six
  // times slower at nz = 256.
  const std::int64_t blocks = (columns + widest - 1) / widest;
  const std::int64_t fours = ((columns + blocks - 1) / blocks + 3) / 4;
  width_ = 4 * (fours % 2 == 1 ? fours : fours + 1);
  auto sample = make_block();
  forward_ = make_plan(nz, width_, width_, 1, sample.data(), FFTW_FORWARD);
  inverse_ = make_plan(nz, width_, width_, 1, sample.data(), FFTW_BACKWARD);
}

AlignedVector<Complex> ColumnTransform::make_block() const {
  return AlignedVector<Complex>(static_cast<std::size_t>(nz_ * width_), Complex{});
}

void ColumnTransform::forward(Complex* block) const {
  fftwf_execute_dft(forward_.get(), raw(block), raw(block));
}
void ColumnTransform::inverse(Complex* block) const {
  fftwf_execute_dft(inverse_.get(), raw(block), raw(block));
}

}  // namespace tailrace::ultrasound
