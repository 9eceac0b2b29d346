// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "columns.hpp"
#include "linked_cells.hpp"
#include "neighbourhood.hpp"
#include "observables.hpp"
#include "region.hpp"

namespace tailrace::molecules {

/// The molecules of one rank, and copies of those of others that act on them. Free of MPI.
///
/// A step: `kick_drift`, `take_leavers`, `insert` for those who come, `sort`, `clear_halo`, `pack_halo` for
/// each neighbour and `add_halo` from each, `compute_forces`, `kick`. Reproducible: numbers depend on the
/// molecules, the region and the order in which copies were added, not on the order of insertion nor on the
/// number of threads. All functions are @local; those marked so use all threads of OpenMP.
class Particles {
 public:
  /// `own`: the region of this rank in `box`. `cells_per_cutoff`: how finely space is cut across the rows in
  /// which molecules lie, at least 1.
  Particles(const Model& model, const Vec3& box, const Region& own, int cells_per_cutoff);

  /// Takes in own molecules, all or none. Their places in the order are found by the next `sort` (threads).
  /// Errors (input): NaN, a component that the model lacks.
  void insert(std::span<const Molecule> molecules);
  [[nodiscard]] std::int64_t size() const noexcept { return own_.size(); }
  [[nodiscard]] Molecule get(std::int64_t i) const { return own_.get(i); }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::int64_t i = 0; i < size(); ++i) visit(get(i));
  }
  /// Returns how many there are of each component.
  [[nodiscard]] std::vector<std::int64_t> count_components() const;
  [[nodiscard]] const ForceField& field() const noexcept { return field_; }

  /// First half of a kick, and the whole drift and turn (threads).
  /// Errors (unstable): a molecule that moves by more than the cutoff, or whose numbers are not finite any
  /// more, with its id.
  void kick_drift(double dt);
  /// Removes and returns the molecules that are outside of the own region. Their positions may lie outside of
  /// the box.
  [[nodiscard]] std::vector<Molecule> take_leavers();
  /// Puts own molecules into the order of space, which follows from their positions alone; forces are stale
  /// until they are computed again (threads).
  void sort();

  void clear_halo() noexcept;
  /// Appends copies of the own molecules inside `region`, moved by `shift`, to `out`. After `sort`.
  void pack_halo(const Region& region, const Vec3& shift, std::vector<std::byte>& out) const;
  /// Takes in copies from `pack_halo` of another rank, or of this one.
  /// Errors (internal): a number of bytes that is not one of whole copies.
  void add_halo(std::span<const std::byte> bytes);

  /// Forces and torques of own molecules; energies, virial and counted pairs are added to `totals` (threads).
  /// Errors (unstable): forces that are not finite, as when two molecules are on one point, with an id.
  void compute_forces(Totals& totals);
  /// Second half of a kick; adds kinetic energies, molecules and freedoms to `totals` (threads).
  void kick(double dt, Totals& totals);
  /// Adds kinetic energies, molecules and freedoms as they are (threads).
  void sum_kinetic(Totals& totals) const;
  void scale(const Scaling& factors);

  /// Another region, after a rebalance: molecules outside become leavers.
  void reset_region(const Region& own);
  /// Cuts space otherwise from the next `sort` on, which must come before anything else.
  void set_cells_per_cutoff(int cells_per_cutoff);
  [[nodiscard]] const Region& region() const noexcept { return region_; }

  /// Of all molecules, copies and tables, in bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  void check(const Molecule& molecule) const;
  void make_grids();
  void arrange_copies();
  void check_forces(double energy) const;
  [[nodiscard]] std::size_t copy_bytes() const noexcept;

  ForceField field_;
  Vec3 box_;
  Region region_;
  int cells_per_cutoff_;
  std::array<int, 2> layers_{};
  Columns own_, copies_;
  std::unique_ptr<LinkedCells> own_rows_, copy_rows_;
  std::vector<std::int32_t> order_;
  bool copies_arranged_ = false;
};

}  // namespace tailrace::molecules
