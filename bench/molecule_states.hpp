// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "decomposition.hpp"
#include "generator.hpp"
#include "options.hpp"
#include "particles.hpp"
#include "phase_space.hpp"
#include "tailrace/comm.hpp"

/// States of molecules that the benchmark of formats writes and reads.
namespace tailrace::bench {

/// Molecules with one centre on a face-centred lattice, as dense as liquid argon.
struct Liquid {
  static constexpr double density = 0.8442, cutoff = 2.5, temperature = 1.44;

  std::int64_t count = 0;  ///< refers to molecules
  molecules::Vec3 box{};
  molecules::Model model;

  /// About so many molecules: whole cells of the lattice, four each.
  explicit Liquid(std::int64_t about) {
    const auto cells = std::max<std::int64_t>(4, std::llround(std::cbrt(static_cast<double>(about) / 4)));
    count = 4 * cells * cells * cells;
    box.fill(std::cbrt(static_cast<double>(count) / density));
    molecules::Component argon;
    argon.name = "argon";
    argon.lennard_jones = {{.mass = 1, .epsilon = 1, .sigma = 1, .shifted = true}};
    model.components = {argon};
    model.cutoff = model.lj_cutoff = cutoff;
    model.long_range = molecules::LongRange::none;
  }
};

/// The first ranks of a communicator, each with a cuboid of the box and the molecules there.
class Part {
 public:
  Part(mpi::CommView comm, int ranks, const Liquid& liquid)
      : liquid_(liquid),
        ranks_(ranks),
        comm_(mpi::Comm::split(comm, comm.rank() < ranks ? 0 : -1)),
        decomposition_(molecules::Decomposition::regular(liquid.box, ranks)) {
    if (has_this_rank()) own_ = decomposition_.region(comm.rank());
  }

  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] bool has_this_rank() const noexcept { return !comm_.empty(); }
  [[nodiscard]] mpi::CommView comm() const noexcept { return comm_.view(); }
  [[nodiscard]] const Liquid& liquid() const noexcept { return liquid_; }
  [[nodiscard]] const molecules::Region& own() const noexcept { return own_; }
  /// Regions along x, y, z: the cells that the study's program writes.
  [[nodiscard]] std::array<std::int64_t, 3> regions() const noexcept {
    std::array<std::int64_t, 3> counts{};
    for (std::size_t d = 0; d < 3; ++d) counts[d] = std::llround(liquid_.box[d] / own_.widths()[d]);
    return counts;
  }

  /// Makes the molecules, in the order in which the simulation keeps them: in rows along x.
  /// @collective{comm()}
  void fill() {
    molecules::StartLattice lattice;
    lattice.density = Liquid::density;
    lattice.temperature = Liquid::temperature;
    molecules::Particles particles(liquid_.model, liquid_.box, own_, 1);
    particles.insert(molecules::generate(comm(), lattice, liquid_.model, liquid_.box, own_));
    particles.sort();
    make_room();
    particles.for_each([this](const molecules::Molecule& molecule) { take(molecule); });
  }
  /// For about as many as are going to be taken.
  void make_room() {
    double share = own_.empty() ? 0 : 1.05;
    for (std::size_t d = 0; d < 3; ++d) share *= own_.widths()[d] / liquid_.box[d];
    held_.reserve(static_cast<std::size_t>(share * static_cast<double>(liquid_.count)));
  }
  void take(const molecules::Molecule& molecule) { held_.push_back(molecule); }
  void clear() { held_ = {}; }
  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(held_.size()); }
  [[nodiscard]] molecules::MoleculeList list() const {
    return {size(), [this](std::int64_t i) { return held_[static_cast<std::size_t>(i)]; }};
  }
  [[nodiscard]] molecules::Share share() const {
    return {.limits = {liquid_.box, liquid_.model.components.size()},
            .own = own_,
            .owner = [this](const molecules::Vec3& r) { return decomposition_.owner(r); }};
  }

 private:
  const Liquid& liquid_;
  int ranks_;
  mpi::Comm comm_;
  molecules::Decomposition decomposition_;
  molecules::Region own_;
  std::vector<molecules::Molecule> held_;
};

}  // namespace tailrace::bench
