// SPDX-License-Identifier: BSD-3-Clause
#include "kernel.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/simd.hpp"
#include "rows.hpp"
#include "tilted.hpp"
#ifdef __SSE__
#include <xmmintrin.h>
#endif

namespace tailrace::seismic {

namespace {

constexpr std::array first_weights{4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
constexpr std::array second_weights{-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};

/// Numbers below the normal range count as zero while it lives: ahead of a wave they would be everywhere, and
/// slow. The same on every thread.
class FlushSubnormals {
 public:
#ifdef __SSE__
  FlushSubnormals() noexcept : before_(_mm_getcsr()) {
    _mm_setcsr(before_ | flush_and_zero);
  }
  ~FlushSubnormals() {
    _mm_setcsr(before_);
  }
#else
  FlushSubnormals() noexcept = default;
#endif
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
#ifdef __SSE__
  static constexpr unsigned flush_and_zero = 0x8040;
  unsigned before_;
#endif
};

/// Rows of the isotropic equation.
template <class Real, bool damped>
void update_isotropic(const StepArrays<Real>& a, const Row& row) noexcept {
  const std::int64_t at = row.z * a.stride_z + row.y * a.stride_y;
  const Real *const p = a.p + at, *const speed = a.speed.row(row.y, row.z);
  for (std::int64_t x = row.x0; x < row.x1; x += lanes<Real>) {
    const Vector<Real> change = load(speed + x) * (second_derivative(p + x, 1, a.weights[0].second) +
                                                   second_derivative(p + x, a.stride_y, a.weights[1].second) +
                                                   second_derivative(p + x, a.stride_z, a.weights[2].second));
    Vector<Real> damping{};
    if constexpr (damped) damping = RowDamping<Real>(a, row).at(x);
    leap<Real, damped>(p + x, a.p_other + at + x, change, damping, row.x1 - x);
  }
}

template <class Real, bool damped>
void update_vti(const StepArrays<Real>& a, const Row& row) noexcept {
  const std::int64_t at = row.z * a.stride_z + row.y * a.stride_y;
  const auto across = [&](const Real* f) noexcept {
    return Vector<Real>(second_derivative(f, 1, a.weights[0].second) +
                        second_derivative(f, a.stride_y, a.weights[1].second));
  };
  const auto along = [&](const Real* f) noexcept {
    return second_derivative(f, a.stride_z, a.weights[2].second);
  };
  for (std::int64_t x = row.x0; x < row.x1; x += lanes<Real>) {
    const Real *const p = a.p + at + x, *const q = a.q + at + x;
    couple<Real, damped>(a, row, x, along(p), across(p), along(q), across(q));
  }
}

template <class Real, bool damped>
void update_tile(const StepArrays<Real>& a, const Box& tile) {
  if (a.equations == Equations::tti) {
    Passing<Real> passing(tile.x().size());
    Contribution<Real> of_p(tile);
    for (std::int64_t z = tile.lo.z; z < tile.hi.z; ++z)
      update_tti_plane<Real, damped>(a, tile, z, passing, of_p);
    return;
  }
  for (std::int64_t z = tile.lo.z; z < tile.hi.z; ++z)
    for (std::int64_t y = tile.lo.y; y < tile.hi.y; ++y) {
      const Row row{tile.lo.x, tile.hi.x, y, z};
      a.equations == Equations::vti ? update_vti<Real, damped>(a, row)
                                    : update_isotropic<Real, damped>(a, row);
    }
}

/// Cuts a box into tiles whose planes, as many as a derivative along z reads, leave room in the second cache,
/// and which share out well among threads.
std::vector<Box> make_tiles(const Box& box, std::size_t value_bytes, int threads) {
  constexpr std::int64_t longest_row = 512, fewest_rows = 16, cache_bytes = 400 << 10,
                         planes_of_two_fields = 18;
  const Index3 n = box.extents();
  const auto parts = [](std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; };
  const std::int64_t nx = parts(n.x, longest_row), row = parts(n.x, nx);
  const auto row_bytes = row * static_cast<std::int64_t>(value_bytes) * planes_of_two_fields;
  const std::int64_t rows = std::max(fewest_rows, cache_bytes / row_bytes);
  std::int64_t ny = parts(n.y, rows);
  if (n.y >= fewest_rows * threads) ny = parts(ny, threads) * threads;
  const std::int64_t nz = nx * ny % threads == 0 ? 1 : std::min<std::int64_t>(threads, n.z);
  std::vector<Box> tiles;
  const auto cut = [](Range range, std::int64_t count, std::int64_t i) {
    return Range{range.begin + range.size() * i / count, range.begin + range.size() * (i + 1) / count};
  };
  for (std::int64_t z = 0; z < nz; ++z)
    for (std::int64_t y = 0; y < ny; ++y)
      for (std::int64_t x = 0; x < nx; ++x) {
        const Range rx = cut(box.x(), nx, x), ry = cut(box.y(), ny, y), rz = cut(box.z(), nz, z);
        tiles.push_back({{rx.begin, ry.begin, rz.begin}, {rx.end, ry.end, rz.end}});
      }
  return tiles;
}

}  // namespace

const char* to_string(Equations equations) noexcept {
  switch (equations) {
    case Equations::isotropic:
      return "isotropic";
    case Equations::vti:
      return "vti";
    case Equations::tti:
      break;
  }
  return "tti";
}

template <class Real>
Weights<Real> Weights<Real>::of_spacing(double spacing_m) {
  Weights weights;
  for (std::size_t k = 0; k < first_weights.size(); ++k)
    weights.first[k] = static_cast<Real>(first_weights[k] / spacing_m);
  for (std::size_t k = 0; k < second_weights.size(); ++k)
    weights.second[k] = static_cast<Real>(second_weights[k] / (spacing_m * spacing_m));
  return weights;
}

double largest_symbol() noexcept {
  double sum = std::abs(second_weights[0]);
  for (std::size_t k = 1; k < second_weights.size(); ++k) sum += 2 * std::abs(second_weights[k]);
  return sum;
}

template <class Real>
void update(const StepArrays<Real>& arrays, const Box& box) {
  if (box.empty()) return;
  const auto tiles = make_tiles(box, sizeof(Real), omp_get_max_threads());
  const bool damped = arrays.damping[0] != nullptr;
#pragma omp parallel
  {
    const FlushSubnormals flush;
#pragma omp for schedule(dynamic, 1)
    for (const Box& tile : tiles)
      damped ? update_tile<Real, true>(arrays, tile) : update_tile<Real, false>(arrays, tile);
  }
}

template struct Weights<float>;
template struct Weights<double>;
template void update<float>(const StepArrays<float>&, const Box&);
template void update<double>(const StepArrays<double>&, const Box&);

}  // namespace tailrace::seismic
