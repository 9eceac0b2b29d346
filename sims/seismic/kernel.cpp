#include "kernel.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lanes.hpp"
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

/// First and second derivative at a vector of points.
template <class Real>
struct Derivatives {
  Vector<Real> first, second;
};

/// Along an axis whose neighbours are `distance` apart.
template <class Real>
inline Derivatives<Real> derivatives(const Real* f, std::int64_t distance, const Weights<Real>& w) noexcept {
  Derivatives<Real> sum{{}, w.second[0] * load(f)};
  for (int k = 1; k <= reach; ++k) {
    const Vector<Real> up = load(f + k * distance), down = load(f - k * distance);
    sum.first += w.first[k - 1] * (up - down);
    sum.second += w.second[k] * (up + down);
  }
  return sum;
}

template <class Real>
inline Vector<Real> second_derivative(const Real* f, std::int64_t distance,
                                      const std::array<Real, reach + 1>& w) noexcept {
  Vector<Real> sum = w[0] * load(f);
  for (int k = 1; k <= reach; ++k) sum += w[k] * (load(f + k * distance) + load(f - k * distance));
  return sum;
}

/// Along the row.
template <class Real>
inline Vector<Real> first_derivative(const Sliding<Real>& f, const std::array<Real, reach>& w) noexcept {
  Vector<Real> sum = w[0] * (f.template at<1>() - f.template at<-1>());
  sum += w[1] * (f.template at<2>() - f.template at<-2>());
  sum += w[2] * (f.template at<3>() - f.template at<-3>());
  sum += w[3] * (f.template at<4>() - f.template at<-4>());
  return sum;
}

template <class Real>
inline Vector<Real> second_derivative(const Sliding<Real>& f, const std::array<Real, reach + 1>& w) noexcept {
  Vector<Real> sum = w[0] * f.template at<0>();
  sum += w[1] * (f.template at<1>() + f.template at<-1>());
  sum += w[2] * (f.template at<2>() + f.template at<-2>());
  sum += w[3] * (f.template at<3>() + f.template at<-3>());
  sum += w[4] * (f.template at<4>() + f.template at<-4>());
  return sum;
}

/// Part of a row: points x0 to x1 of the row (y, z).
struct Row {
  std::int64_t x0, x1, y, z;
};

/// A row's damping; adds up what the axes want.
template <class Real>
class RowDamping {
 public:
  RowDamping(const StepArrays<Real>& a, const Row& row) noexcept
      : x_(a.damping[0]), rest_(a.damping[1][row.y] + a.damping[2][row.z]) {}
  [[nodiscard]] Vector<Real> at(std::int64_t x) const noexcept { return load(x_ + x) + rest_; }

 private:
  const Real* x_;
  Real rest_;
};

/// The leapfrog: with damping d, (1 + d) next = 2 now - (1 - d) before + change.
template <class Real, bool damped>
inline void leap(const Real* now, Real* other, const Vector<Real>& change, const Vector<Real>& damping,
                 std::int64_t count) noexcept {
  constexpr Real one = 1, two = 2;
  const Vector<Real> before = load(other, count);
  if constexpr (damped)
    store(other, Vector<Real>((two * load(now) - (one - damping) * before + change) / (one + damping)),
          count);
  else
    store(other, Vector<Real>(two * load(now) - before + change), count);
}

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

/// The coupled equations at one vector, from the second derivatives along and across the axis.
template <class Real, bool damped>
inline void couple(const StepArrays<Real>& a, const Row& row, std::int64_t x, const Vector<Real>& p_along,
                   const Vector<Real>& p_across, const Vector<Real>& q_along,
                   const Vector<Real>& q_across) noexcept {
  const std::int64_t at = row.z * a.stride_z + row.y * a.stride_y + x;
  const Vector<Real> speed = load(a.speed.row(row.y, row.z) + x),
                     across = load(a.across.row(row.y, row.z) + x),
                     moveout = load(a.moveout.row(row.y, row.z) + x),
                     shear = load(a.shear.row(row.y, row.z) + x);
  Vector<Real> damping{};
  if constexpr (damped) damping = RowDamping<Real>(a, row).at(x);
  const Vector<Real> p_change = speed * (across * p_across + q_along + shear * (p_along - q_along)),
                     q_change = speed * (moveout * p_across + q_along - shear * (p_across - q_across));
  leap<Real, damped>(a.p + at, a.p_other + at, p_change, damping, row.x1 - x);
  leap<Real, damped>(a.q + at, a.q_other + at, q_change, damping, row.x1 - x);
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

/// First derivatives that the mixed ones are made of, kept while a tile's rows pass by: of one field, along z
/// for the rows around the current one, along y for the current one; and the second ones beside them.
template <class Real>
class Passing {
 public:
  explicit Passing(std::int64_t longest_row)
      : stride_(static_cast<std::int64_t>(
            padded<Real>(static_cast<std::size_t>(longest_row + 2 * margin + lanes<Real>)))),
        values_(static_cast<std::size_t>((2 * slots + 2) * stride_), Real{0}) {}

  /// Points to both sides of a row that are computed too.
  static constexpr std::int64_t margin = std::max<std::int64_t>(lanes<Real>, reach);

  /// Computes what row y contributes along z. `f` is the field at the first point of the row.
  void enter(const Real* f, std::int64_t y, std::int64_t points, std::int64_t stride_z,
             const Weights<Real>& w) noexcept {
    derive(f, points, stride_z, w, z_first(y), z_second(y));
  }
  /// Computes the current row along y.
  void pass(const Real* f, std::int64_t points, std::int64_t stride_y, const Weights<Real>& w) noexcept {
    derive(f, points, stride_y, w, y_first(), y_second());
  }

  [[nodiscard]] Real* z_first(std::int64_t y) noexcept { return at(slot(y)); }
  [[nodiscard]] Real* z_second(std::int64_t y) noexcept { return at(slots + slot(y)); }
  [[nodiscard]] Real* y_first() noexcept { return at(2 * slots); }
  [[nodiscard]] Real* y_second() noexcept { return at(2 * slots + 1); }

 private:
  static constexpr std::int64_t slots = 2 * reach + 1;

  static void derive(const Real* f, std::int64_t points, std::int64_t distance, const Weights<Real> w,
                     Real* first, Real* second) noexcept {
    for (std::int64_t x = -margin; x < points + reach; x += lanes<Real>) {
      const auto found = derivatives(f + x, distance, w);
      store(first + x, found.first);
      store(second + x, found.second);
    }
  }
  static std::int64_t slot(std::int64_t y) noexcept { return (y + reach) % slots; }
  Real* at(std::int64_t row) noexcept { return values_.data() + row * stride_ + margin; }

  std::int64_t stride_;
  AlignedVector<Real> values_;
};

/// The rows of derivatives that a row of results needs.
template <class Real>
struct Neighbours {
  const Real *f, *y_first, *y_second, *z_second;
  std::array<const Real*, 2 * reach + 1> z_first;

  Neighbours(const Real* field, Passing<Real>& passing, std::int64_t y) noexcept
      : f(field), y_first(passing.y_first()), y_second(passing.y_second()), z_second(passing.z_second(y)) {
    for (std::int64_t k = -reach; k <= reach; ++k) z_first[k + reach] = passing.z_first(y + k);
  }
};

template <class Real>
struct AlongAcross {
  Vector<Real> along, across;
};

/// The three rows of a field that are derived along x as they pass by.
template <class Real>
struct Passers {
  Sliding<Real> f, y_first, z_first;

  explicit Passers(const Neighbours<Real>& rows) noexcept
      : f(rows.f), y_first(rows.y_first), z_first(rows.z_first[reach]) {}
  void advance() noexcept {
    f.advance();
    y_first.advance();
    z_first.advance();
  }
};

/// Second derivatives along and across an axis with the components n, `x` points into the row.
template <class Real>
inline AlongAcross<Real> rotate(const Passers<Real>& passers, const Neighbours<Real>& rows,
                                const std::array<Weights<Real>, 3>& w, std::int64_t x,
                                const std::array<Vector<Real>, 3>& n) noexcept {
  constexpr Real two = 2;
  constexpr std::int64_t middle = reach;
  const Vector<Real> xx = second_derivative(passers.f, w[0].second), yy = load(rows.y_second + x),
                     zz = load(rows.z_second + x);
  const Vector<Real> xy = first_derivative(passers.y_first, w[0].first),
                     xz = first_derivative(passers.z_first, w[0].first);
  Vector<Real> yz = w[1].first[0] * (load(rows.z_first[middle + 1] + x) - load(rows.z_first[middle - 1] + x));
  for (std::int64_t k = 2; k <= reach; ++k)
    yz += w[1].first[k - 1] * (load(rows.z_first[middle + k] + x) - load(rows.z_first[middle - k] + x));
  const Vector<Real> along = n[0] * (n[0] * xx + two * (n[1] * xy + n[2] * xz)) +
                             n[1] * (n[1] * yy + two * (n[2] * yz)) + n[2] * (n[2] * zz);
  return {along, xx + yy + zz - along};
}

template <class Real, bool damped>
void update_tti(const StepArrays<Real>& a, const Row& row, const Neighbours<Real>& p,
                const Neighbours<Real>& q) noexcept {
  const std::array axis{a.axis[0].row(row.y, row.z), a.axis[1].row(row.y, row.z),
                        a.axis[2].row(row.y, row.z)};
  Passers<Real> p_passers(p), q_passers(q);
  for (std::int64_t x = row.x0; x < row.x1; x += lanes<Real>) {
    const std::array<Vector<Real>, 3> n{load(axis[0] + x), load(axis[1] + x), load(axis[2] + x)};
    const auto of_p = rotate(p_passers, p, a.weights, x - row.x0, n),
               of_q = rotate(q_passers, q, a.weights, x - row.x0, n);
    couple<Real, damped>(a, row, x, of_p.along, of_p.across, of_q.along, of_q.across);
    p_passers.advance();
    q_passers.advance();
  }
}

/// One plane of a tile of the tilted equations.
template <class Real, bool damped>
void update_tti_plane(const StepArrays<Real>& a, const Box& tile, std::int64_t z, Passing<Real>& p,
                      Passing<Real>& q) noexcept {
  const std::int64_t points = tile.x().size();
  const auto start = [&](const Real* field, std::int64_t y) noexcept {
    return field + z * a.stride_z + y * a.stride_y + tile.lo.x;
  };
  const auto enter = [&](std::int64_t y) noexcept {
    p.enter(start(a.p, y), y, points, a.stride_z, a.weights[2]);
    q.enter(start(a.q, y), y, points, a.stride_z, a.weights[2]);
  };
  for (std::int64_t y = tile.lo.y - reach; y < tile.lo.y + reach; ++y) enter(y);
  for (std::int64_t y = tile.lo.y; y < tile.hi.y; ++y) {
    enter(y + reach);
    p.pass(start(a.p, y), points, a.stride_y, a.weights[1]);
    q.pass(start(a.q, y), points, a.stride_y, a.weights[1]);
    update_tti<Real, damped>(a, {tile.lo.x, tile.hi.x, y, z}, {start(a.p, y), p, y}, {start(a.q, y), q, y});
  }
}

template <class Real, bool damped>
void update_tile(const StepArrays<Real>& a, const Box& tile) {
  if (a.equations == Equations::tti) {
    Passing<Real> p(tile.x().size()), q(tile.x().size());
    for (std::int64_t z = tile.lo.z; z < tile.hi.z; ++z) update_tti_plane<Real, damped>(a, tile, z, p, q);
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
