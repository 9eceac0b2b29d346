// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/system.hpp"
#include "particles.hpp"

/// A periodic box of molecules on one rank, whose neighbours are all images of itself.
namespace tailrace::molecules::test {

class System {
 public:
  System(const Model& model, const Vec3& box, const std::vector<Molecule>& molecules,
         int cells_per_cutoff = 1)
      : box_(box), particles_(model, box, Region{{}, box}, cells_per_cutoff) {
    particles_.insert(molecules);
    corrections_ = corrections(particles_.field(), particles_.count_components(), box[0] * box[1] * box[2]);
    exchange();
    particles_.compute_forces(totals_);
    particles_.sum_kinetic(totals_);
  }

  void step(double dt) {
    totals_ = {};
    timed("kick_drift", [&] { particles_.kick_drift(dt); });
    exchange();
    timed("forces", [&] { particles_.compute_forces(totals_); });
    timed("kick", [&] { particles_.kick(dt, totals_); });
  }
  /// A step with a thermostat, which acts after the sums were formed.
  Scaling step(double dt, double temperature) {
    step(dt);
    const Scaling factors = scaling(totals_, temperature);
    particles_.scale(factors);
    return factors;
  }

  [[nodiscard]] Observables observe() const {
    return observables(totals_, corrections_, box_[0] * box_[1] * box_[2]);
  }
  [[nodiscard]] double energy() const {
    const Observables o = observe();
    return o.u_potential + o.u_kinetic;
  }
  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] const Particles& particles() const { return particles_; }
  /// By id.
  [[nodiscard]] std::map<std::uint64_t, Molecule> molecules() const {
    std::map<std::uint64_t, Molecule> all;
    particles_.for_each([&all](const Molecule& molecule) { all[molecule.id] = molecule; });
    return all;
  }

  /// Seconds that the parts of steps took.
  [[nodiscard]] const std::map<std::string, double>& times() const { return times_; }
  void reset_times() { times_.clear(); }

 private:
  template <class Act>
  void timed(const char* part, Act&& act) {
    const double start_s = monotonic_s();
    act();
    times_[part] += monotonic_s() - start_s;
  }

  void exchange() {
    timed("migrate", [&] { migrate(); });
    timed("sort", [&] { particles_.sort(); });
    timed("halo", [&] { copy_images(); });
  }

  void migrate() {
    for (Molecule leaver : particles_.take_leavers()) {
      for (std::size_t d = 0; d < 3; ++d) {
        leaver.position[d] -= box_[d] * std::floor(leaver.position[d] / box_[d]);
        if (leaver.position[d] >= box_[d]) leaver.position[d] = 0;
      }
      particles_.insert({&leaver, 1});
    }
  }

  void copy_images() {
    particles_.clear_halo();
    const double reach = particles_.field().model().cutoff;
    for (int image = 0; image < 27; ++image) {
      const Vec3 shift{(image % 3 - 1) * box_[0], (image / 3 % 3 - 1) * box_[1], (image / 9 - 1) * box_[2]};
      if (shift == Vec3{}) continue;
      Region near;
      for (std::size_t d = 0; d < 3; ++d) {
        near.low[d] = std::max(0.0, -reach - shift[d]);
        near.high[d] = std::min(box_[d], box_[d] + reach - shift[d]);
      }
      std::vector<std::byte> copies;
      if (!near.empty()) particles_.pack_halo(near, shift, copies);
      particles_.add_halo(copies);
    }
  }

  Vec3 box_;
  Particles particles_;
  Corrections corrections_;
  Totals totals_;
  std::map<std::string, double> times_;
};

/// The sums over a box that is divided among as many ranks as the grid has regions, all of them here.
inline Totals divided(const Model& model, const Vec3& box, const std::vector<Molecule>& molecules,
                      const std::array<int, 3>& grid, int cells_per_cutoff) {
  std::vector<Particles> ranks;
  const auto border = [&](std::size_t d, int k) { return box[d] * k / grid[d]; };
  for (int k = 0; k < grid[0] * grid[1] * grid[2]; ++k) {
    const std::array<int, 3> at{k % grid[0], k / grid[0] % grid[1], k / grid[0] / grid[1]};
    Region own;
    for (std::size_t d = 0; d < 3; ++d) own.low[d] = border(d, at[d]), own.high[d] = border(d, at[d] + 1);
    Particles& rank = ranks.emplace_back(model, box, own, cells_per_cutoff);
    for (const auto& molecule : molecules)
      if (own.contains(molecule.position)) rank.insert({&molecule, 1});
    rank.sort();
  }
  Totals totals;
  for (auto& rank : ranks) {
    for (const auto& other : ranks)
      for (int image = 0; image < 27; ++image) {
        const Vec3 shift{(image % 3 - 1) * box[0], (image / 3 % 3 - 1) * box[1], (image / 9 - 1) * box[2]};
        if (&rank == &other && shift == Vec3{}) continue;
        Region near;
        for (std::size_t d = 0; d < 3; ++d) {
          near.low[d] = std::max(other.region().low[d], rank.region().low[d] - model.cutoff - shift[d]);
          near.high[d] = std::min(other.region().high[d], rank.region().high[d] + model.cutoff - shift[d]);
        }
        std::vector<std::byte> copies;
        if (!near.empty()) other.pack_halo(near, shift, copies);
        rank.add_halo(copies);
      }
    rank.compute_forces(totals);
    rank.sum_kinetic(totals);
  }
  return totals;
}

inline Model argon(double cutoff, bool shifted) {
  Component component{.name = "argon",
                      .lennard_jones = {{{}, 1, 1, 1, shifted}},
                      .charges = {},
                      .dipoles = {},
                      .quadrupoles = {}};
  Model model;
  model.components = {component};
  model.cutoff = model.lj_cutoff = cutoff;
  model.long_range = shifted ? LongRange::none : LongRange::homogeneous;
  return model;
}

inline Model carbon_dioxide() {
  Component component{.name = "co2",
                      .lennard_jones = {{{0, 0, 0}, 0.28, 0.35, 0.9, false},
                                        {{0, 0, -0.4}, 0.36, 1, 1, false},
                                        {{0, 0, 0.4}, 0.36, 1, 1, false}},
                      .charges = {{{0, 0, 0}, 0, 16}, {{0, 0, -0.35}, 0, -8}, {{0, 0, 0.35}, 0, -8}},
                      .dipoles = {},
                      .quadrupoles = {},
                      .inertia_override = {0.1152, 0.1152, 0}};
  Model model;
  model.components = {component};
  model.cutoff = model.lj_cutoff = 3.2;
  return model;
}

/// Molecules of a phase-space file in one of the formats ICRV and ICRVQD.
inline std::vector<Molecule> read_start(const std::string& name) {
  std::ifstream file(std::string(TAILRACE_TEST_DATA "/molecules/") + name);
  std::string word, format;
  while (file >> word && word != "MoleculeFormat") {
  }
  file >> format;
  std::vector<Molecule> molecules;
  for (Molecule m; file >> m.id >> m.component;) {
    --m.component;
    for (double& value : m.position) file >> value;
    for (double& value : m.velocity) file >> value;
    if (format == "ICRVQD") {
      for (double& value : m.orientation) file >> value;
      for (double& value : m.angular_momentum) file >> value;
    }
    molecules.push_back(m);
  }
  return molecules;
}

/// Rows of numbers of a file of values between commas; what is no number becomes NaN. The first line is left
/// out.
inline std::vector<std::vector<std::string>> read_table(const std::string& name) {
  std::ifstream file(std::string(TAILRACE_TEST_DATA "/molecules/") + name);
  std::vector<std::vector<std::string>> rows;
  std::string line, word;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream words(line);
    auto& row = rows.emplace_back();
    while (std::getline(words, word, ',')) row.push_back(word);
  }
  return rows;
}

/// A cubic lattice of molecules with velocities and orientations by chance and no momentum.
inline std::vector<Molecule> lattice(int edge, double box, double temperature, const Model& model,
                                     unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Molecule> molecules;
  Vec3 momentum{};
  for (int k = 0; k < edge * edge * edge; ++k) {
    Molecule m;
    m.id = static_cast<std::uint64_t>(k) + 1;
    m.component = k % static_cast<int>(model.components.size());
    const Component& component = model.components[m.component];
    const double speed = std::sqrt(temperature / component.mass()), step = box / edge;
    m.position = {(k % edge + 0.5) * step, (k / edge % edge + 0.5) * step, (k / edge / edge + 0.5) * step};
    m.velocity = {speed * normal(random), speed * normal(random), speed * normal(random)};
    momentum = momentum + component.mass() * m.velocity;
    Quaternion q{normal(random), normal(random), normal(random), normal(random)};
    const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (std::size_t d = 0; d < 4; ++d)
      m.orientation[d] = component.rotational_freedoms() > 0 ? q[d] / length : m.orientation[d];
    molecules.push_back(m);
  }
  const auto count = static_cast<double>(molecules.size());
  for (auto& m : molecules)
    m.velocity = m.velocity - (1 / (count * model.components[m.component].mass())) * momentum;
  return molecules;
}

}  // namespace tailrace::molecules::test
