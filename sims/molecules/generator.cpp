// SPDX-License-Identifier: BSD-3-Clause
#include "generator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/random.hpp"
#include "exact_sum.hpp"
#include "rotation.hpp"

namespace tailrace::molecules {

namespace {

/// Numbers that are the same everywhere for a seed and an id.
class Random : SplitMix64 {
 public:
  Random(std::int64_t seed, std::uint64_t id) noexcept
      : SplitMix64(mixed_bits(static_cast<std::uint64_t>(seed)) ^ mixed_bits(~id)) {}

  /// From 0 to 1, without 0.
  double unit() noexcept { return SplitMix64::unit() + resolution; }
  /// Of mean 0 and variance 1 (Box, Muller 1958).
  double normal() noexcept {
    const double radius = std::sqrt(-2 * std::log(unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }
};

/// A face-centred cubic lattice over the box.
struct Lattice {
  std::array<std::int64_t, 3> cells{};
  Vec3 spacing{};

  Lattice(double density, const Vec3& box) {
    const double wanted = std::cbrt(4 / density);
    for (std::size_t d = 0; d < 3; ++d) {
      cells[d] = std::max<std::int64_t>(1, std::llround(box[d] / wanted));
      spacing[d] = box[d] / static_cast<double>(cells[d]);
    }
  }
  [[nodiscard]] std::int64_t sites() const noexcept { return 4 * cells[0] * cells[1] * cells[2]; }
  [[nodiscard]] double neighbour_distance() const noexcept {
    return *std::min_element(spacing.begin(), spacing.end()) / std::numbers::sqrt2;
  }

  /// Calls `visit(number, place)` for the sites in a region; numbers count the sites of the box.
  template <class Visit>
  void for_each(const Region& region, const Visit& visit) const {
    constexpr std::array<Vec3, 4> basis{{{.25, .25, .25}, {.75, .75, .25}, {.75, .25, .75}, {.25, .75, .75}}};
    std::array<std::int64_t, 3> low{}, high{};
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] = std::max<std::int64_t>(0, static_cast<std::int64_t>(region.low[d] / spacing[d]) - 1);
      high[d] = std::min(cells[d], static_cast<std::int64_t>(region.high[d] / spacing[d]) + 1);
    }
    for (std::int64_t x = low[0]; x < high[0]; ++x)
      for (std::int64_t y = low[1]; y < high[1]; ++y)
        for (std::int64_t z = low[2]; z < high[2]; ++z)
          for (std::size_t b = 0; b < basis.size(); ++b) {
            const Vec3 r{(static_cast<double>(x) + basis[b][0]) * spacing[0],
                         (static_cast<double>(y) + basis[b][1]) * spacing[1],
                         (static_cast<double>(z) + basis[b][2]) * spacing[2]};
            const auto cell = (x * cells[1] + y) * cells[2] + z;
            if (region.contains(r)) visit(4 * cell + static_cast<std::int64_t>(b), r);
          }
  }
};

/// Distance of two points in the periodic box.
double distance(const Vec3& a, const Vec3& b, const Vec3& box) noexcept {
  Vec3 apart = a - b;
  for (std::size_t d = 0; d < 3; ++d) apart[d] -= box[d] * std::nearbyint(apart[d] / box[d]);
  return std::sqrt(dot(apart, apart));
}

/// Describes where a molecule starts; numbers count the sites of the box.
struct Site {
  std::int64_t number = 0;
  Vec3 place{};
};

/// Returns the sites of a rank's region that have a molecule.
std::vector<Site> sites_of(const StartLattice& start, const Lattice& lattice, const Vec3& box,
                           const Region& own) {
  std::vector<Site> sites;
  if (!start.droplet) {
    lattice.for_each(own, [&](std::int64_t number, const Vec3& r) { sites.push_back({number, r}); });
    return sites;
  }
  const auto& drop = *start.droplet;
  lattice.for_each(own, [&](std::int64_t number, const Vec3& r) {
    if (distance(r, drop.centre, box) < drop.radius) sites.push_back({number, r});
  });
  // Around it nobody comes nearer than neighbours in the droplet are.
  const double outside = drop.radius + lattice.neighbour_distance();
  if (drop.vapour_density > 0)
    Lattice(drop.vapour_density, box).for_each(own, [&](std::int64_t number, const Vec3& r) {
      if (distance(r, drop.centre, box) >= outside) sites.push_back({lattice.sites() + number, r});
    });
  return sites;
}

/// Gives the molecules of a start their kinds and motions.
class Maker {
 public:
  Maker(mpi::CommView comm, const StartLattice& start, const Model& model)
      : comm_(comm), start_(start), model_(model) {
    for (const auto& component : model.components) {
      masses_.push_back(component.mass());
      inertias_.push_back(component.inertia());
    }
    const auto& given = start.fractions;
    double sum = 0;
    for (std::size_t c = 0; c < model.components.size(); ++c)
      sums_.push_back(sum += given.empty() ? 1 : given[c]);
  }

  [[nodiscard]] Molecule make(std::uint64_t id, const Vec3& r) const {
    Random random(start_.seed, id);
    Molecule molecule{.position = r, .velocity = {}, .id = id};
    const double drawn = random.unit() * sums_.back();
    const auto kind = std::lower_bound(sums_.begin(), sums_.end(), drawn) - sums_.begin();
    molecule.component = static_cast<std::int32_t>(kind);
    const double speed = std::sqrt(start_.temperature / masses_[static_cast<std::size_t>(kind)]);
    for (auto& v : molecule.velocity) v = speed * random.normal();
    turn(molecule, random);
    return molecule;
  }

  /// Takes the momentum of the whole away and meets the temperature. @collective
  void finalize(std::vector<Molecule>& molecules) const {
    ExactSums momentum(4);
    for (const auto& m : molecules) {
      const double mass = mass_of(m);
      for (std::size_t d = 0; d < 3; ++d) momentum.add(d, mass * m.velocity[d]);
      momentum.add(3, mass);
    }
    const auto whole = momentum.over(comm_);
    if (!(whole[3] > 0) || start_.temperature == 0) return;
    ExactSums energy(4);
    for (auto& m : molecules) {
      m.velocity = m.velocity - (1 / whole[3]) * Vec3{whole[0], whole[1], whole[2]};
      energy.add(0, mass_of(m) * dot(m.velocity, m.velocity));
      energy.add(1, 3);
      energy.add(2, twice_turning(m));
      energy.add(3, freedoms(m));
    }
    const auto sums = energy.over(comm_);
    const auto factor = [&](double twice_kinetic, double count) {
      return twice_kinetic > 0 ? std::sqrt(start_.temperature * count / twice_kinetic) : 1.0;
    };
    const double moving = factor(sums[0], sums[1]), turning = factor(sums[2], sums[3]);
    for (auto& m : molecules) {
      m.velocity = moving * m.velocity;
      m.angular_momentum = turning * m.angular_momentum;
    }
  }

 private:
  [[nodiscard]] double mass_of(const Molecule& m) const {
    return masses_[static_cast<std::size_t>(m.component)];
  }
  [[nodiscard]] const Vec3& inertia_of(const Molecule& m) const {
    return inertias_[static_cast<std::size_t>(m.component)];
  }
  [[nodiscard]] double freedoms(const Molecule& m) const {
    return model_.components[static_cast<std::size_t>(m.component)].rotational_freedoms();
  }

  void turn(Molecule& molecule, Random& random) const {
    if (!model_.components[static_cast<std::size_t>(molecule.component)].has_orientation()) return;
    const Vec3& inertia = inertia_of(molecule);
    double length = 0;
    for (auto& q : molecule.orientation) {
      q = random.normal();
      length += q * q;
    }
    for (auto& q : molecule.orientation) q /= std::sqrt(length);
    Vec3 body{};
    for (std::size_t d = 0; d < 3; ++d)
      body[d] = std::sqrt(start_.temperature * inertia[d]) * random.normal();
    molecule.angular_momentum = rotated(molecule.orientation, body);
  }

  /// Sum of I w^2.
  [[nodiscard]] double twice_turning(const Molecule& m) const {
    return twice_rotational_energy(m.orientation, m.angular_momentum, inertia_of(m));
  }

  mpi::CommView comm_;
  const StartLattice& start_;
  const Model& model_;
  std::vector<double> masses_, sums_;
  std::vector<Vec3> inertias_;
};

}  // namespace

double expected_molecules(const StartLattice& start, const Vec3& box) {
  const double volume = box[0] * box[1] * box[2];
  if (!start.droplet) return start.density * volume;
  const auto& drop = *start.droplet;
  const double ball = 4 * std::numbers::pi / 3 * drop.radius * drop.radius * drop.radius;
  return start.density * ball + drop.vapour_density * std::max(0.0, volume - ball);
}

std::vector<Molecule> generate(mpi::CommView comm, const StartLattice& start, const Model& model,
                               const Vec3& box, const Region& own) {
  const Maker maker(comm, start, model);
  const Lattice lattice(start.density, box);
  const auto sites = sites_of(start, lattice, box, own);
  std::vector<Molecule> molecules(sites.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < std::ssize(sites); ++i) {
    const auto& [number, place] = sites[static_cast<std::size_t>(i)];
    molecules[static_cast<std::size_t>(i)] = maker.make(static_cast<std::uint64_t>(number) + 1, place);
  }
  maker.finalize(molecules);
  return molecules;
}

}  // namespace tailrace::molecules
