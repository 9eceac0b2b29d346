// SPDX-License-Identifier: BSD-3-Clause
#include "medium.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "tailrace/error.hpp"

namespace tailrace::seismic {

namespace {

constexpr double infinite_sigma = 10;

double square(double value) noexcept {
  return value * value;
}

/// The properties of a box of the domain, read once, to be asked point by point.
class Sample {
 public:
  Sample(const Properties& properties, const Box& region) : properties_(properties), region_(region) {
    for (const Parameter* parameter : parameters()) {
      auto& values = values_.emplace_back();
      if (!parameter->varies()) continue;
      values.resize(static_cast<std::size_t>(region.volume()));
      parameter->read(region, values);
    }
  }

  struct Point {
    double vp = 0, across = 1, moveout = 1, shear = 0, dip = 0, azimuth = 0;
  };
  /// Place of a point of the region in its arrays.
  [[nodiscard]] std::size_t index(Index3 p) const noexcept {
    const Index3 n = region_.extents();
    return static_cast<std::size_t>(((p.z - region_.lo.z) * n.y + p.y - region_.lo.y) * n.x + p.x -
                                    region_.lo.x);
  }
  [[nodiscard]] double value(std::size_t parameter, std::size_t at) const noexcept {
    const auto& values = values_[parameter];
    return values.empty() ? parameters()[parameter]->value : values[at];
  }
  [[nodiscard]] Point point(std::size_t at) const noexcept {
    const double vp = value(0, at);
    if (properties_.equations == Equations::isotropic) return {.vp = vp};
    const double epsilon = value(1, at), delta = value(2, at), last = value(3, at);
    double shear = 0;
    if (properties_.vs_m_s)
      shear = square(last / vp);
    else if (last <= infinite_sigma)
      shear = std::abs(epsilon - delta) / last;
    Point found{.vp = vp, .across = 1 + 2 * epsilon, .moveout = 1 + 2 * delta, .shear = shear};
    if (properties_.equations == Equations::tti) found.dip = value(4, at), found.azimuth = value(5, at);
    return found;
  }

  [[nodiscard]] std::vector<const Parameter*> parameters() const {
    if (properties_.equations == Equations::isotropic) return {&properties_.vp_m_s};
    std::vector<const Parameter*> list{&properties_.vp_m_s, &properties_.epsilon, &properties_.delta,
                                       properties_.vs_m_s ? &*properties_.vs_m_s : &properties_.sigma};
    if (properties_.equations == Equations::tti)
      list.insert(list.end(), {&properties_.dip_rad, &properties_.azimuth_rad});
    return list;
  }

 private:
  const Properties& properties_;
  Box region_;
  std::vector<std::vector<double>> values_;
};

/// Describes what may represent a property.
struct Accepted {
  const char *key, *what;
  bool (*holds)(double value);
};

/// In the order of `Sample::parameters`.
std::vector<Accepted> accepted(const Properties& properties) {
  // Wider than any medium, but not as wide as what floats are whose bytes are in the wrong order.
  const auto speed = [](double v) { return v >= 1e-6 && v <= 1e9; };
  const auto moderate = [](double v) { return v >= -0.5 && v <= 1e3 && (v == 0 || std::abs(v) >= 1e-30); };
  const auto positive = [](double v) { return v > 0; };
  const auto any = [](double) { return true; };
  constexpr const char* number = "a number from -0.5 to 1000; in a file: bytes in the order that it states";
  std::vector<Accepted> list{
      {"model.vp_m_s", "a speed from 1e-6 to 1e9 m/s; in a file: bytes in the order that it states", speed},
      {"model.epsilon", number, moderate},
      {"model.delta", number, moderate}};
  if (properties.vs_m_s)
    list.push_back({"model.vs_m_s", "a speed from 0 on", [](double v) { return v >= 0; }});
  else
    list.push_back({"model.sigma", "a number above 0", positive});
  list.push_back({"model.dip_rad", "an angle in radians", any});
  list.push_back({"model.azimuth_rad", "an angle in radians", any});
  return list;
}

void check_plane(const Properties& properties, const Sample& sample, const Box& plane) {
  const auto rules = accepted(properties);
  const auto parameters = sample.parameters();
  Problems problems("model");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    for (std::int64_t y = plane.lo.y; y < plane.hi.y; ++y)
      for (std::int64_t x = plane.lo.x; x < plane.hi.x; ++x) {
        const double value = sample.value(i, sample.index({x, y, plane.lo.z}));
        // sigma may be infinite: it then says that there are no shear waves
        const bool finite = std::isfinite(value) || (!properties.vs_m_s && i == 3 && value > 0);
        if (finite && rules[i].holds(value)) continue;
        const auto place = parameters[i]->varies()
                               ? fmt::format(" at the point x, y, z = {}, {}, {}", x, y, plane.lo.z)
                               : "";
        problems.add(fmt::format("{}: {}{} cannot be", rules[i].key, value, place), rules[i].what);
        x = plane.hi.x, y = plane.hi.y;
      }
  }
  problems.throw_if_any();
}

void merge(Extremes& all, const Sample::Point& point, Index3 at) {
  const auto speeds = wave_speeds(point.across, point.moveout, point.shear);
  all.vp_m_s = std::max(all.vp_m_s, point.vp);
  all.slowest_m_s = std::min(all.slowest_m_s, point.vp);
  all.vs_m_s = std::max(all.vs_m_s, point.vp * std::sqrt(point.shear));
  all.speed_ratio = std::max(all.speed_ratio, speeds.fastest);
  all.speed_m_s = std::max(all.speed_m_s, point.vp * speeds.fastest);
  if (speeds.grow && all.unstable++ == 0) all.first_unstable = at;
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

Extremes survey(const Properties& properties, const Box& region) {
  Extremes all;
  if (region.empty()) return all;
  bool varies = false;
  for (const auto* parameter : Sample(properties, {}).parameters()) varies = varies || parameter->varies();
  const std::int64_t end = varies ? region.hi.z : region.lo.z + 1;
  for (std::int64_t z = region.lo.z; z < end; ++z) {
    const Box plane{{region.lo.x, region.lo.y, z}, {region.hi.x, region.hi.y, z + 1}};
    const Sample sample(properties, plane);
    check_plane(properties, sample, plane);
    const Index3 n = varies ? plane.extents() : Index3{1, 1, 1};
    for (std::int64_t y = 0; y < n.y; ++y)
      for (std::int64_t x = 0; x < n.x; ++x) {
        const Index3 at{region.lo.x + x, region.lo.y + y, z};
        merge(all, sample.point(sample.index(at)), at);
      }
  }
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
  allocate(own, varying(properties, boundary));
  for (std::int64_t z = own.lo.z; z < own.hi.z; ++z)
    fill_plane(properties, boundary, extremes, cells, own, dt_s, z);
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
    values.array.assign(static_cast<std::size_t>(values_in(own, varies[i])), Real{0});
  }
}

/// Fills one plane of the grid; what is stored once is written again and again with the same values.
template <class Real>
void Medium<Real>::fill_plane(const Properties& properties, const Boundary& boundary,
                              const Extremes& extremes, Index3 cells, const Box& own, double dt_s,
                              std::int64_t z) {
  const std::int64_t w = boundary.width;
  const Index3 grid{cells.x + 2 * w, cells.y + 2 * w, cells.z + 2 * w};
  const auto inside = [&](Index3 p) {
    return Index3{std::clamp<std::int64_t>(p.x - w, 0, cells.x - 1),
                  std::clamp<std::int64_t>(p.y - w, 0, cells.y - 1),
                  std::clamp<std::int64_t>(p.z - w, 0, cells.z - 1)};
  };
  const Index3 low = inside({own.lo.x, own.lo.y, z}), high = inside({own.hi.x - 1, own.hi.y - 1, z});
  const Sample sample(properties, {low, {high.x + 1, high.y + 1, high.z + 1}});
  for (std::int64_t y = own.lo.y; y < own.hi.y; ++y)
    for (std::int64_t x = own.lo.x; x < own.hi.x; ++x) {
      const Index3 at{x, y, z};
      const auto point = sample.point(sample.index(inside(at)));
      const auto distance =
          std::max({outside(x, w, cells.x), outside(y, w, cells.y), outside(z, w, cells.z)});
      const auto scatter = scatter_at(boundary, grid, at, distance);
      const double vp = scatter.apply(point.vp, extremes.vp_m_s);
      const double vs = scatter.apply(point.vp * std::sqrt(point.shear), extremes.vs_m_s);
      const bool keeps_ratio = distance == 0 || vp <= 0 || values_[3].stride_z == 0;
      const double shear = keeps_ratio ? point.shear : square(vs / vp);
      const double sine = std::sin(point.dip);
      const std::array<double, count> found{square(vp * dt_s),
                                            point.across,
                                            point.moveout,
                                            shear,
                                            sine * std::cos(point.azimuth),
                                            sine * std::sin(point.azimuth),
                                            std::cos(point.dip)};
      for (std::size_t i = 0; i < count; ++i) {
        auto& values = values_[i];
        const auto to = (z - own.lo.z) * values.stride_z + (y - own.lo.y) * values.stride_y + x - own.lo.x;
        values.array[static_cast<std::size_t>(to)] = static_cast<Real>(found[i]);
      }
    }
}

template <class Real>
void Medium<Real>::lend(StepArrays<Real>& arrays) const noexcept {
  const auto coefficient = [&](std::size_t i) {
    return Coefficient<Real>{values_[i].array.data(), values_[i].stride_y, values_[i].stride_z};
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
