// SPDX-License-Identifier: BSD-3-Clause
#include "spectral.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "grid.hpp"

namespace tailrace::ultrasound {

namespace {

using Exact = std::complex<double>;
using Complex = std::complex<float>;

AlignedVector<float> random_values(std::int64_t n) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  AlignedVector<float> values(static_cast<std::size_t>(n));
  for (auto& value : values) value = uniform(generator);
  return values;
}

/// The definition of the transform, in double precision.
Exact exact_coefficient(const AlignedVector<float>& plane, std::int64_t nx, std::int64_t ny, std::int64_t kx,
                        std::int64_t ky) {
  Exact sum = 0;
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t x = 0; x < nx; ++x) {
      const double phase = static_cast<double>(kx * x) / static_cast<double>(nx) +
                           static_cast<double>(ky * y) / static_cast<double>(ny);
      sum += static_cast<double>(plane[static_cast<std::size_t>(y * nx + x)]) *
             std::polar(1.0, -2 * std::numbers::pi * phase);
    }
  return sum;
}

}  // namespace

TEST_CASE("a plane transform is the Fourier transform, and its inverse undoes it") {
  for (const auto& [nx, ny] : {std::pair{8, 8}, {7, 5}, {6, 9}, {16, 3}, {5, 1}, {1, 4}, {2, 2}, {12, 17}}) {
    CAPTURE(nx);
    CAPTURE(ny);
    const PlaneTransform<float> transform(nx, ny);
    auto scratch = transform.make_scratch();
    const auto plane = random_values(nx * ny);
    AlignedVector<Complex> spectrum(static_cast<std::size_t>(transform.pitch() * ny), Complex{});
    transform.forward({plane.data(), nx}, {spectrum.data(), transform.pitch()}, ny, scratch);
    for (std::int64_t ky = 0; ky < ny; ++ky)
      for (std::int64_t kx = 0; kx < transform.half_nx(); ++kx) {
        const auto found = spectrum[static_cast<std::size_t>(ky * transform.pitch() + kx)];
        const auto wanted = exact_coefficient(plane, nx, ny, kx, ky);
        CHECK(std::abs(Exact(found) - wanted) < 2e-6 * nx * ny);
      }
    AlignedVector<float> back(plane.size());
    transform.inverse({spectrum.data(), transform.pitch()}, {back.data(), nx}, ny, scratch);
    for (std::size_t i = 0; i < plane.size(); ++i)
      CHECK(back[i] / static_cast<float>(nx * ny) == doctest::Approx(plane[i]).epsilon(1e-5));
  }
}

TEST_CASE("the inverse ignores the imaginary part where a real signal has none") {
  const PlaneTransform<float> transform(8, 1);
  auto scratch = transform.make_scratch();
  AlignedVector<Complex> clean(8, Complex{}), dirty(8, Complex{});
  for (std::size_t k = 0; k < 5; ++k)
    clean[k] = dirty[k] = Complex(1.0F + static_cast<float>(k), k % 4 == 0 ? 0.0F : 0.5F);
  dirty[0] += Complex(0, 3);
  dirty[4] += Complex(0, -2);
  AlignedVector<float> a(8), b(8);
  transform.inverse({clean.data(), 8}, {a.data(), 8}, 1, scratch);
  transform.inverse({dirty.data(), 8}, {b.data(), 8}, 1, scratch);
  CHECK(std::equal(a.begin(), a.end(), b.begin()));
}

TEST_CASE("a column transform is the Fourier transform along z of each column") {
  for (const auto& [nz, width] : {std::pair{8, 8}, {7, 36}, {1, 4}, {13, 68}}) {
    const ColumnTransform<float> transform(nz);
    auto scratch = transform.make_scratch();
    const auto columns = static_cast<std::size_t>(width);
    AlignedVector<Complex> block(static_cast<std::size_t>(nz) * columns);
    const auto values = random_values(2 * static_cast<std::int64_t>(block.size()));
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = Complex(values[2 * i], values[2 * i + 1]);
    const auto original = block;
    transform.forward(block.data(), width, width, scratch);
    for (std::size_t column = 0; column < columns; column += 3)
      for (int k = 0; k < nz; ++k) {
        Exact wanted = 0;
        for (int z = 0; z < nz; ++z)
          wanted += Exact(original[static_cast<std::size_t>(z) * columns + column]) *
                    std::polar(1.0, -2 * std::numbers::pi * k * z / nz);
        CHECK(std::abs(Exact(block[static_cast<std::size_t>(k) * columns + column]) - wanted) < 1e-5 * nz);
      }
    transform.inverse(block.data(), width, width, scratch);
    for (std::size_t i = 0; i < block.size(); ++i)
      CHECK(std::abs(block[i] / static_cast<float>(nz) - original[i]) < 1e-5);
  }
}

TEST_CASE("wavenumbers follow the standard order, with a negative Nyquist index") {
  const double step = 2 * std::numbers::pi / (8 * 0.5);
  CHECK(wavenumber(0, 8, 0.5) == 0);
  CHECK(wavenumber(3, 8, 0.5) == doctest::Approx(3 * step));
  CHECK(wavenumber(4, 8, 0.5) == doctest::Approx(-4 * step));
  CHECK(wavenumber(7, 8, 0.5) == doctest::Approx(-step));
  CHECK(wavenumber(3, 7, 1.0) > 0);
  CHECK(wavenumber(4, 7, 1.0) < 0);
}

TEST_CASE("the spectral derivative with its shift is exact for a sine between the grid points") {
  const std::int64_t n = 16;
  Grid grid{.points = {n, 1, 1}, .spacing_m = {0.25, 1, 1}, .dt_s = 1, .c_ref_m_s = 1, .pml = {}};
  const auto derivative = make_axis_operators<float>(grid, 0);
  const PlaneTransform<float> transform(n, 1);
  auto scratch = transform.make_scratch();
  AlignedVector<float> wave(16), slope(16);
  const double k = 2 * std::numbers::pi * 3 / (16 * 0.25);
  for (std::size_t i = 0; i < 16; ++i)
    wave[i] = static_cast<float>(std::sin(k * 0.25 * static_cast<double>(i)));
  AlignedVector<Complex> spectrum(12, Complex{});
  transform.forward({wave.data(), n}, {spectrum.data(), 12}, 1, scratch);
  for (std::size_t i = 0; i < 9; ++i) spectrum[i] *= derivative.forward[i] / 16.0F;
  transform.inverse({spectrum.data(), 12}, {slope.data(), n}, 1, scratch);
  for (std::size_t i = 0; i < 16; ++i)
    CHECK(slope[i] == doctest::Approx(k * std::cos(k * 0.25 * (static_cast<double>(i) + 0.5))).epsilon(1e-4));
}

TEST_CASE("the absorbing layer is one inside and symmetric about the grid for densities") {
  Grid grid{.points = {24, 20, 20},
            .spacing_m = {1e-4, 1e-4, 1e-4},
            .dt_s = 2e-8,
            .c_ref_m_s = 1500,
            .pml = {.size = {6, 4, 0}, .alpha = {2, 1.5, 2}}};
  const auto profile = make_pml_profile<float>(grid, 0);
  for (std::size_t i = 6; i < 18; ++i) CHECK(profile.density[i] == 1.0F);
  for (std::size_t i = 0; i < 6; ++i) CHECK(profile.density[i] == doctest::Approx(profile.density[23 - i]));
  const double outermost = std::exp(-2e-8 / 2 * 2 * 1500 / 1e-4);
  CHECK(profile.density[0] == doctest::Approx(outermost));
  CHECK(profile.velocity[23] < profile.density[23]);
  const auto none = make_pml_profile<float>(grid, 2);
  CHECK(std::all_of(none.density.begin(), none.density.end(), [](float v) { return v == 1.0F; }));
}

TEST_CASE("a radial table has one value for +kz and -kz") {
  Grid grid{.points = {6, 5, 7}, .spacing_m = {1, 2, 0.5}, .dt_s = 1, .c_ref_m_s = 1, .pml = {}};
  const RadialTable<float> table(grid, {1, 4}, {0, 8}, [](double k) { return k; });
  for (std::int64_t y = 1; y < 4; ++y)
    for (std::int64_t z = 0; z < 7; ++z)
      for (std::int64_t x = 0; x < 4; ++x) {
        const double kx = wavenumber(x, 6, 1), ky = wavenumber(y, 5, 2), kz = wavenumber(z, 7, 0.5);
        CHECK(table.row(y, z)[x] == doctest::Approx(std::sqrt(kx * kx + ky * ky + kz * kz)));
      }
}

}  // namespace tailrace::ultrasound
