#include "kernels.hpp"

namespace tailrace::ultrasound::kernels {

namespace {
// Complex arithmetic on interleaved floats: std::complex's own product checks for infinities and does not
// vectorise.
const float* raw(const Complex* values) {
  return reinterpret_cast<const float*>(values);
}
float* raw(Complex* values) {
  return reinterpret_cast<float*>(values);
}
}  // namespace

void scale(const Complex* in, const Complex* factor, Complex* out, std::int64_t n) noexcept {
  const float* a = raw(in);
  const float* f = raw(factor);
  float* __restrict o = raw(out);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    o[2 * i] = a[2 * i] * f[2 * i] - a[2 * i + 1] * f[2 * i + 1];
    o[2 * i + 1] = a[2 * i] * f[2 * i + 1] + a[2 * i + 1] * f[2 * i];
  }
}

void scale(const Complex* in, Complex factor, Complex* out, std::int64_t n) noexcept {
  const float* a = raw(in);
  float* __restrict o = raw(out);
  const float re = factor.real(), im = factor.imag();
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    o[2 * i] = a[2 * i] * re - a[2 * i + 1] * im;
    o[2 * i + 1] = a[2 * i] * im + a[2 * i + 1] * re;
  }
}

void scale_in_place(Complex* values, const float* factor, std::int64_t n) noexcept {
  float* __restrict v = raw(values);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    v[2 * i] *= factor[i];
    v[2 * i + 1] *= factor[i];
  }
}

void scale_in_place(Complex* values, const float* factor, Complex phase, std::int64_t n) noexcept {
  float* __restrict v = raw(values);
  const float p_re = phase.real(), p_im = phase.imag();
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float re = v[2 * i] * factor[i], im = v[2 * i + 1] * factor[i];
    v[2 * i] = re * p_re - im * p_im;
    v[2 * i + 1] = re * p_im + im * p_re;
  }
}

void scale_in_place(Complex* values, const float* factor, const Complex* phase, std::int64_t n) noexcept {
  float* __restrict v = raw(values);
  const float* p = raw(phase);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float re = v[2 * i] * factor[i], im = v[2 * i + 1] * factor[i];
    v[2 * i] = re * p[2 * i] - im * p[2 * i + 1];
    v[2 * i + 1] = re * p[2 * i + 1] + im * p[2 * i];
  }
}

void velocity(float* u, const float* gradient, const float* dt_over_rho0, const float* pml,
              std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) u[i] = pml[i] * (pml[i] * u[i] - dt_over_rho0[i] * gradient[i]);
}

void initial_velocity(float* u, const float* gradient, const float* dt_over_rho0, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) u[i] = 0.5F * dt_over_rho0[i] * gradient[i];
}

void density_linear(Rows rho, ConstRows du, ConstRows pml, const float* rho0, float dt,
                    std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float rate = dt * rho0[i];
    rho.x[i] = pml.x[i] * (pml.x[i] * rho.x[i] - rate * du.x[i]);
    rho.y[i] = pml.y[i] * (pml.y[i] * rho.y[i] - rate * du.y[i]);
    rho.z[i] = pml.z[i] * (pml.z[i] * rho.z[i] - rate * du.z[i]);
  }
}

void density_nonlinear(Rows rho, ConstRows du, ConstRows pml, const float* rho0, float dt,
                       std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float rate = dt * (2.0F * (rho.x[i] + rho.y[i] + rho.z[i]) + rho0[i]);
    rho.x[i] = pml.x[i] * (pml.x[i] * rho.x[i] - rate * du.x[i]);
    rho.y[i] = pml.y[i] * (pml.y[i] * rho.y[i] - rate * du.y[i]);
    rho.z[i] = pml.z[i] * (pml.z[i] * rho.z[i] - rate * du.z[i]);
  }
}

void mass_flux(ConstRows du, const float* rho0, float* out, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) out[i] = rho0[i] * (du.x[i] + du.y[i] + du.z[i]);
}

void pressure_linear(ConstRows rho, const float* c0_squared, float* p, float* total,
                     std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float sum = rho.x[i] + rho.y[i] + rho.z[i];
    total[i] = sum;
    p[i] = c0_squared[i] * sum;
  }
}

void pressure_nonlinear(ConstRows rho, const float* c0_squared, const float* b_over_2a_rho0, float* p,
                        float* total, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float sum = rho.x[i] + rho.y[i] + rho.z[i];
    total[i] = sum;
    p[i] = c0_squared[i] * (sum + b_over_2a_rho0[i] * sum * sum);
  }
}

void pressure_loss(float* p, const float* absorption, const float* loss, const float* dispersion,
                   const float* delay, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) p[i] += absorption[i] * loss[i] - dispersion[i] * delay[i];
}

void add_source(Rows rho, const float* source, float factor, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float value = factor * source[i];
    rho.x[i] += value;
    rho.y[i] += value;
    rho.z[i] += value;
  }
}

}  // namespace tailrace::ultrasound::kernels
