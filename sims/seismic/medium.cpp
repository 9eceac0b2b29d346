// SPDX-License-Identifier: BSD-3-Clause
#include "medium.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/placed_digest.hpp"
#include "base/random.hpp"
#include "base/simd.hpp"
#include "tailrace/error.hpp"

namespace tailrace::seismic {

namespace {

constexpr double infinite_sigma = 10;

double square(double value) noexcept {
  return value * value;
}

/// The properties that the equations have, in the order of `accepted`.
std::vector<const Parameter*> parameters_of(const Properties& properties) {
  if (properties.equations == Equations::isotropic) return {&properties.vp_m_s};
  std::vector<const Parameter*> list{&properties.vp_m_s, &properties.epsilon, &properties.delta,
                                     properties.vs_m_s ? &*properties.vs_m_s : &properties.sigma};
  if (properties.equations == Equations::tti)
    list.insert(list.end(), {&properties.dip_rad, &properties.azimuth_rad});
  return list;
}

bool any_varies(const Properties& properties) {
  const auto list = parameters_of(properties);
  return std::any_of(list.begin(), list.end(), [](const auto* parameter) { return parameter->varies(); });
}

}  // namespace

/// The properties of a point, as the equations want them.
struct SamplePoint {
  double vp = 0, across = 1, moveout = 1, shear = 0, dip = 0, azimuth = 0;
};

/// The properties of a box of the domain, read at once, to be asked point by point from any thread. Memory
/// serves box after box. What a copy reads is read with the original.
class Sample {
 public:
  explicit Sample(const Properties& properties)
      : parameters_(parameters_of(properties)),
        read_(parameters_.size()),
        equations_(properties.equations),
        gives_vs_(properties.vs_m_s) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      columns_[i] = {&parameters_[i]->value, 0};
      open_.push_back(parameters_[i]->varies() ? parameters_[i]->open() : Parameter::ReadBox());
    }
  }

  void read(const Box& region) {
    region_ = region;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!open_[i]) continue;
      read_[i].resize(static_cast<std::size_t>(region.volume()));
      open_[i](region, read_[i]);
      columns_[i] = {read_[i].data(), 1};
    }
  }

  [[nodiscard]] const Box& region() const noexcept { return region_; }
  [[nodiscard]] std::size_t properties() const noexcept { return parameters_.size(); }
  [[nodiscard]] bool varies(std::size_t parameter) const noexcept { return columns_[parameter].stride != 0; }

  /// Place of a point of the region in its arrays.
  [[nodiscard]] std::int64_t index(Index3 p) const noexcept {
    const Index3 n = region_.extents();
    return ((p.z - region_.lo.z) * n.y + p.y - region_.lo.y) * n.x + p.x - region_.lo.x;
  }
  [[nodiscard]] double value(std::size_t parameter, std::int64_t at) const noexcept {
    const auto& [values, stride] = columns_[parameter];
    return values[at * stride];
  }
  /// The values of so many points behind each other, of a property that varies.
  [[nodiscard]] std::span<const double> row(std::size_t parameter, std::int64_t at,
                                            std::int64_t points) const noexcept {
    return {columns_[parameter].values + at, static_cast<std::size_t>(points)};
  }
  [[nodiscard]] SamplePoint point(std::int64_t at) const noexcept {
    const double vp = value(0, at);
    if (equations_ == Equations::isotropic) return {.vp = vp};
    const double epsilon = value(1, at), delta = value(2, at), last = value(3, at);
    double shear = 0;
    if (gives_vs_)
      shear = square(last / vp);
    else if (last <= infinite_sigma)
      shear = std::abs(epsilon - delta) / last;
    SamplePoint found{.vp = vp, .across = 1 + 2 * epsilon, .moveout = 1 + 2 * delta, .shear = shear};
    if (equations_ == Equations::tti) found.dip = value(4, at), found.azimuth = value(5, at);
    return found;
  }

 private:
  struct Column {
    const double* values = nullptr;
    std::int64_t stride = 0;  ///< 0: one value everywhere
  };
  std::vector<const Parameter*> parameters_;
  std::vector<Parameter::ReadBox> open_;  ///< empty: one value everywhere
  std::vector<std::vector<double>> read_;
  Equations equations_;
  bool gives_vs_;
  Box region_;
  std::array<Column, 6> columns_{};
};

namespace {

/// Describes what may represent a property: a number from `low` to `high`, not closer to 0 than `tiny`.
struct Accepted {
  const char *key, *what;
  double low, high, tiny = 0;

  [[nodiscard]] bool holds(double value) const noexcept {
    return value >= low && value <= high && (value == 0 || std::abs(value) >= tiny);
  }
};

/// In the order of `parameters_of`.
std::array<Accepted, 6> accepted(const Properties& properties) {
  using Limits = std::numeric_limits<double>;
  constexpr double most = Limits::max();
  // Wider than any medium, but not as wide as what floats are whose bytes are in the wrong order.
  constexpr const char* number = "a number from -0.5 to 1000; in a file: bytes in the order that it states";
  constexpr Accepted vs{"model.vs_m_s", "a speed from 0 on", 0, most};
  // sigma may be infinite: it then says that there are no shear waves
  constexpr Accepted sigma{"model.sigma", "a number above 0", Limits::denorm_min(), Limits::infinity()};
  return {Accepted{"model.vp_m_s",
                   "a speed from 1e-6 to 1e9 m/s; in a file: bytes in the order that it states", 1e-6, 1e9},
          {"model.epsilon", number, -0.5, 1e3, 1e-30},
          {"model.delta", number, -0.5, 1e3, 1e-30},
          properties.vs_m_s ? vs : sigma,
          {"model.dip_rad", "an angle in radians", -most, most},
          {"model.azimuth_rad", "an angle in radians", -most, most}};
}

void merge(Extremes& all, const SamplePoint& point, Index3 at) {
  const auto speeds = wave_speeds(point.across, point.moveout, point.shear);
  all.vp_m_s = std::max(all.vp_m_s, point.vp);
  all.slowest_m_s = std::min(all.slowest_m_s, point.vp);
  all.vs_m_s = std::max(all.vs_m_s, point.vp * std::sqrt(point.shear));
  all.speed_ratio = std::max(all.speed_ratio, speeds.fastest);
  all.speed_m_s = std::max(all.speed_m_s, point.vp * speeds.fastest);
  if (speeds.grow && all.unstable++ == 0) all.first_unstable = at;
}

/// Adds what was found at points that come after those of `all`.
void merge(Extremes& all, const Extremes& later) {
  all.vp_m_s = std::max(all.vp_m_s, later.vp_m_s);
  all.slowest_m_s = std::min(all.slowest_m_s, later.slowest_m_s);
  all.vs_m_s = std::max(all.vs_m_s, later.vs_m_s);
  all.speed_ratio = std::max(all.speed_ratio, later.speed_ratio);
  all.speed_m_s = std::max(all.speed_m_s, later.speed_m_s);
  if (all.unstable == 0) all.first_unstable = later.first_unstable;
  all.unstable += later.unstable;
  for (std::size_t i = 0; i < all.digests.size(); ++i) all.digests[i] += later.digests[i];
}

/// What a row of a plane holds: extremes, and for each property the first value that cannot be.
struct RowFindings {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  Extremes extremes;
  std::array<std::int64_t, 6> first_bad{none, none, none, none, none, none};
};

/// Digests of the values of a row; one value everywhere is that of the first point of the domain.
std::array<std::uint64_t, 6> digests_of(const Sample& sample, Index3 first, std::int64_t points) {
  constexpr int bits = 21;  // of an index: the number of a point is the same in any box
  const auto number = (((first.z << bits) + first.y) << bits) + first.x;
  std::array<std::uint64_t, 6> digests{};
  for (std::size_t i = 0; i < sample.properties(); ++i) {
    PlacedDigest digest;
    if (sample.varies(i))
      digest.add(sample.row(i, sample.index(first), points), number);
    else if (first == Index3{})
      digest.add(sample.value(i, 0), 0);
    digests[i] = digest.sum();
  }
  return digests;
}

RowFindings survey_row(const Sample& sample, const std::array<Accepted, 6>& rules, Index3 first,
                       std::int64_t points) {
  RowFindings row;
  const std::int64_t begin = sample.index(first);
  for (std::size_t i = 0; i < sample.properties(); ++i) {
    const std::int64_t end = begin + (sample.varies(i) ? points : 1);
    std::int64_t at = begin;
    while (at < end && rules[i].holds(sample.value(i, at))) ++at;
    if (at < end) row.first_bad[i] = at;
  }
  row.extremes.digests = digests_of(sample, first, points);
  for (std::int64_t x = 0; x < points; ++x)
    merge(row.extremes, sample.point(begin + x), {first.x + x, first.y, first.z});
  return row;
}

/// Throws if a row of the plane has a value that cannot be; with the place of the first one of each property.
void check_plane(const Sample& sample, const std::array<Accepted, 6>& rules,
                 const std::vector<RowFindings>& rows) {
  const Box& plane = sample.region();
  const std::int64_t width = plane.extents().x;
  Problems problems("model");
  for (std::size_t i = 0; i < sample.properties(); ++i) {
    std::int64_t at = RowFindings::none;
    for (const auto& row : rows) at = std::min(at, row.first_bad[i]);
    if (at == RowFindings::none) continue;
    const auto place = sample.varies(i)
                           ? fmt::format(" at the point x, y, z = {}, {}, {}", plane.lo.x + at % width,
                                         plane.lo.y + at / width, plane.lo.z)
                           : "";
    problems.add(fmt::format("{}: {}{} cannot be", rules[i].key, sample.value(i, at), place), rules[i].what);
  }
  problems.throw_if_any();
}

/// Work on planes of the domain, one after the other: the threads share the rows of one, while the first of
/// them reads the next. `box_of(z)` is what plane z needs, `row(sample, y, z)` is called for each row, and
/// `end(sample)` once after the rows of a plane. Errors: those of reading and of `end`.
template <class BoxOf, class Row, class End>
void for_planes(const Properties& properties, Range planes, Range rows, const BoxOf& box_of, const Row& row,
                const End& end) {
  Sample sample(properties), next(sample);
  sample.read(box_of(planes.begin));
  for (std::int64_t z = planes.begin; z < planes.end; ++z) {
    const bool reads = z + 1 < planes.end && box_of(z + 1) != sample.region();
    std::exception_ptr failure;
#pragma omp parallel
    {
#pragma omp master
      try {
        if (reads) next.read(box_of(z + 1));
      } catch (...) {
        failure = std::current_exception();
      }
#pragma omp for schedule(dynamic, 4)
      for (std::int64_t y = rows.begin; y < rows.end; ++y) row(sample, y, z);
    }
    end(sample);
    if (failure) std::rethrow_exception(failure);
    if (reads) std::swap(sample, next);
  }
}

/// Describes how the random layer changes the speeds of a point: v (1 - d / width) + vmax r d / width.
struct Scatter {
  double keep = 1, add = 0;
  [[nodiscard]] double apply(double speed, double largest) const noexcept {
    return keep * speed + add * largest;
  }
};

Scatter scatter_at(const Boundary& boundary, Index3 grid, Index3 point, std::int64_t distance) noexcept {
  if (boundary.kind != Boundary::Kind::random || distance == 0) return {};
  const double share = static_cast<double>(distance) / static_cast<double>(boundary.width);
  const auto index = (point.z * grid.y + point.y) * grid.x + point.x;
  return {1 - share, random_at(boundary.seed, index) * share};
}

/// The direction of the symmetry axis.
std::array<double, 3> axis_of(double dip, double azimuth) noexcept {
  const double sine = std::sin(dip);
  return {sine * std::cos(azimuth), sine * std::sin(azimuth), std::cos(dip)};
}

/// The box from its first to its last point.
Box box_to(Index3 first, Index3 last) noexcept {
  return {first, {last.x + 1, last.y + 1, last.z + 1}};
}

/// Points from an index of the grid to the domain along one axis.
std::int64_t outside(std::int64_t i, std::int64_t width, std::int64_t cells) noexcept {
  return std::max({width - i, i - (width + cells - 1), std::int64_t{0}});
}

}  // namespace

WaveSpeeds wave_speeds(double across, double moveout, double shear) {
  // Without shear waves faster than vp and with epsilon >= delta, the fastest wave runs along or across the
  // axis.
  if (moveout <= across && shear <= 1 && across >= 1) return {std::sqrt(across), false};
  constexpr int directions = 64;
  double most = 0, least = 0;
  for (int i = 0; i <= directions; ++i) {
    const double along = static_cast<double>(i) / directions, off = 1 - along;
    const double a = across * off + shear * along, b = (1 - shear) * along, c = (moveout - shear) * off,
                 d = along + shear * off;
    const double half = (a + d) / 2, root = square((a - d) / 2) + b * c;
    most = std::max(most, half + std::sqrt(std::max(root, 0.0)));
    least = std::min(least, root < 0 ? -1 : half - std::sqrt(root));
  }
  constexpr double rounding = 1e-9, between_directions = 1.001;
  return {std::sqrt(most) * between_directions, least < -rounding};
}

double random_at(std::uint64_t seed, std::int64_t index) noexcept {
  const std::uint64_t counter = seed * 0xD1342543DE82EF95ULL + static_cast<std::uint64_t>(index) + 1;
  return SplitMix64::unit_of(mixed_bits(counter * SplitMix64::increment));
}

std::vector<std::string> keys_of(const Properties& properties) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < parameters_of(properties).size(); ++i)
    keys.emplace_back(accepted(properties)[i].key);
  return keys;
}

Extremes survey(const Properties& properties, const Box& region) {
  Extremes all;
  if (region.empty()) return all;
  const Box looked_at = any_varies(properties) ? region : box_to(region.lo, region.lo);
  const auto rules = accepted(properties);
  const Index3 n = looked_at.extents();
  std::vector<RowFindings> rows(static_cast<std::size_t>(n.y));
  for_planes(
      properties, {looked_at.lo.z, looked_at.hi.z}, {looked_at.lo.y, looked_at.hi.y},
      [&](std::int64_t z) {
        return Box{{looked_at.lo.x, looked_at.lo.y, z}, {looked_at.hi.x, looked_at.hi.y, z + 1}};
      },
      [&](const Sample& sample, std::int64_t y, std::int64_t z) {
        const auto place = static_cast<std::size_t>(y - looked_at.lo.y);
        rows[place] = survey_row(sample, rules, {looked_at.lo.x, y, z}, n.x);
      },
      [&](const Sample& sample) {
        check_plane(sample, rules, rows);
        for (const auto& row : rows) merge(all, row.extremes);
      });
  return all;
}

/// The coefficients that are not the same everywhere.
template <class Real>
std::array<bool, Medium<Real>::count> Medium<Real>::varying(const Properties& properties,
                                                            const Boundary& boundary) noexcept {
  const bool anisotropic = properties.equations != Equations::isotropic;
  const bool tilted = properties.equations == Equations::tti;
  const bool vp = properties.vp_m_s.varies(), epsilon = anisotropic && properties.epsilon.varies(),
             delta = anisotropic && properties.delta.varies();
  bool shear = anisotropic && (epsilon || delta || properties.sigma.varies());
  if (anisotropic && properties.vs_m_s) shear = vp || properties.vs_m_s->varies();
  const bool dip = tilted && properties.dip_rad.varies(), azimuth = tilted && properties.azimuth_rad.varies();
  const bool scatters = boundary.kind == Boundary::Kind::random;
  return {vp || scatters, epsilon, delta, shear, dip || azimuth, dip || azimuth, dip};
}

template <class Real>
Medium<Real>::Medium(const Properties& properties, const Boundary& boundary, const Extremes& extremes,
                     Index3 cells, const Box& own, double dt_s) {
  const auto varies = varying(properties, boundary);
  allocate(own, varies);
  if (own.empty()) return;
  const Place place{.boundary = boundary, .extremes = extremes, .cells = cells, .own = own, .dt_s = dt_s};
  fill_constants(properties, place);
  if (std::none_of(varies.begin(), varies.end(), std::identity())) return;
  for_planes(
      properties, {own.lo.z, own.hi.z}, {own.lo.y, own.hi.y},
      [&](std::int64_t z) {
        return box_to(place.inside({own.lo.x, own.lo.y, z}), place.inside({own.hi.x - 1, own.hi.y - 1, z}));
      },
      [&](const Sample& sample, std::int64_t y, std::int64_t z) { fill_row(sample, place, y, z); },
      [](const Sample&) {});
}

/// Elements of a coefficient's array.
template <class Real>
std::int64_t Medium<Real>::values_in(const Box& own, bool varies) {
  return varies ? ArrayLayout::of<Real>(own.extents(), 0).size : own.extents().x + simd::lanes<Real>;
}

template <class Real>
double Medium<Real>::needed_bytes(const Properties& properties, const Boundary& boundary, const Box& own) {
  double values = 0;
  for (const bool varies : varying(properties, boundary))
    values += static_cast<double>(values_in(own, varies));
  return values * sizeof(Real);
}

template <class Real>
void Medium<Real>::allocate(const Box& own, const std::array<bool, count>& varies) {
  const auto layout = ArrayLayout::of<Real>(own.extents(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    auto& values = values_[i];
    if (varies[i]) values.stride_y = layout.stride_y, values.stride_z = layout.stride_z;
    values.array = zero_array<Real>(values_in(own, varies[i]), layout.stride_z);
  }
}

/// Returns the point of the domain whose properties a point of the grid has.
template <class Real>
Index3 Medium<Real>::Place::inside(Index3 p) const noexcept {
  const auto clamp = [w = boundary.width](std::int64_t i, std::int64_t n) {
    return std::clamp<std::int64_t>(i - w, 0, n - 1);
  };
  return {clamp(p.x, cells.x), clamp(p.y, cells.y), clamp(p.z, cells.z)};
}

/// Fills in what is stored once.
template <class Real>
void Medium<Real>::fill_constants(const Properties& properties, const Place& place) {
  const Index3 at = place.inside(place.own.lo);
  Sample sample(properties);
  sample.read(box_to(at, at));
  const auto point = sample.point(0);
  const auto axis = axis_of(point.dip, point.azimuth);
  const std::array<double, count> found{
      square(point.vp * place.dt_s), point.across, point.moveout, point.shear, axis[0], axis[1], axis[2]};
  for (std::size_t i = 0; i < count; ++i)
    if (values_[i].stride_z == 0)
      std::fill_n(values_[i].array.begin(), place.own.extents().x, static_cast<Real>(found[i]));
}

/// Fills a row of the grid with what is not stored once.
template <class Real>
void Medium<Real>::fill_row(const Sample& sample, const Place& place, std::int64_t y, std::int64_t z) {
  const Box& own = place.own;
  std::array<Real*, count> rows;
  for (std::size_t i = 0; i < count; ++i) rows[i] = row_of(i, own, y, z);
  const auto put = [&rows](std::size_t coefficient, std::int64_t x, double value) {
    if (rows[coefficient]) rows[coefficient][x] = static_cast<Real>(value);
  };
  for (std::int64_t x = own.lo.x; x < own.hi.x; ++x) {
    const auto point = sample.point(sample.index(place.inside({x, y, z})));
    const std::int64_t at = x - own.lo.x;
    const auto [speed, shear] = scattered(place, {x, y, z}, point);
    put(0, at, speed);
    put(1, at, point.across);
    put(2, at, point.moveout);
    put(3, at, shear);
    if (!rows[4] && !rows[6]) continue;
    const auto axis = axis_of(point.dip, point.azimuth);
    for (std::size_t d = 0; d < 3; ++d) put(4 + d, at, axis[d]);
  }
}

/// Returns the squared speed along the axis in units of the time step and the ratio of shear waves at a point
/// of the grid, scattered in the layer.
template <class Real>
std::array<double, 2> Medium<Real>::scattered(const Place& place, Index3 at, const SamplePoint& point) {
  const auto& [boundary, extremes, cells, own, dt_s] = place;
  const std::int64_t w = boundary.width;
  const auto distance =
      std::max({outside(at.x, w, cells.x), outside(at.y, w, cells.y), outside(at.z, w, cells.z)});
  const Index3 grid{cells.x + 2 * w, cells.y + 2 * w, cells.z + 2 * w};
  const auto scatter = scatter_at(boundary, grid, at, distance);
  const double vp = scatter.apply(point.vp, extremes.vp_m_s);
  if (distance == 0 || vp <= 0) return {square(vp * dt_s), point.shear};
  const double vs = scatter.apply(point.vp * std::sqrt(point.shear), extremes.vs_m_s);
  return {square(vp * dt_s), square(vs / vp)};
}

/// Where a row of a coefficient begins; null for what is stored once.
template <class Real>
Real* Medium<Real>::row_of(std::size_t coefficient, const Box& own, std::int64_t y, std::int64_t z) noexcept {
  auto& [array, stride_y, stride_z] = values_[coefficient];
  if (stride_z == 0) return nullptr;
  return array.data() + (z - own.lo.z) * stride_z + (y - own.lo.y) * stride_y;
}

template <class Real>
void Medium<Real>::lend(StepArrays<Real>& arrays) const noexcept {
  std::array<const Real*, count> first;
  for (std::size_t i = 0; i < count; ++i) first[i] = values_[i].array.data();
  lend(arrays, first);
}

template <class Real>
void Medium<Real>::lend(StepArrays<Real>& arrays,
                        const std::array<const Real*, count>& first) const noexcept {
  const auto coefficient = [&](std::size_t i) {
    return Coefficient<Real>{first[i], values_[i].stride_y, values_[i].stride_z};
  };
  arrays.speed = coefficient(0);
  arrays.across = coefficient(1);
  arrays.moveout = coefficient(2);
  arrays.shear = coefficient(3);
  arrays.axis = {coefficient(4), coefficient(5), coefficient(6)};
}

template <class Real>
std::int64_t Medium<Real>::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& values : values_) bytes += values.array.size() * sizeof(Real);
  return static_cast<std::int64_t>(bytes);
}

template class Medium<float>;
template class Medium<double>;

}  // namespace tailrace::seismic
