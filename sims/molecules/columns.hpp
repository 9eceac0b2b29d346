// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/aligned.hpp"
#include "force_field.hpp"
#include "molecule.hpp"

namespace tailrace::molecules {

using Numbers = AlignedVector<double>;

/// Molecules as one array per number: what the kernels read. Only the arrays that the force field needs are
/// there. Behind the last molecule there is room for a vector, which holds finite numbers after `pad`.
class Columns {
 public:
  enum class Kind {
    own,     ///< whole states, with forces
    copies,  ///< refers to others' molecules: only what acts on one's own
  };
  Columns(Kind kind, const ForceField& field);

  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  void resize(std::int64_t size);
  /// Puts molecules behind the last one (threads).
  void append(std::span<const Molecule> molecules);
  /// Puts the last molecule in the place of this one.
  void remove(std::int64_t i);
  [[nodiscard]] Molecule get(std::int64_t i) const;
  [[nodiscard]] std::size_t component_of(std::int64_t i) const noexcept {
    return component.empty() ? 0 : static_cast<std::size_t>(component[static_cast<std::size_t>(i)]);
  }
  [[nodiscard]] Turn<double> turn_of(std::int64_t i) const noexcept {
    return {orientation[0][i], orientation[1][i], orientation[2][i], orientation[3][i]};
  }

  /// Molecule order[k] comes to place k. Forces and torques do not move along: they are stale.
  void reorder(std::span<const std::int32_t> order);
  void pad();
  /// A number per molecule to work with, lost when molecules are put into another order. It is the first
  /// force, which is stale then.
  [[nodiscard]] Numbers& scratch() noexcept { return force[0]; }
  /// Sets forces and torques to zero.
  void clear_forces();

  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

  std::array<Numbers, 3> position, velocity, force, momentum, torque;
  std::array<Numbers, 4> orientation;
  AlignedVector<std::uint64_t> id;
  AlignedVector<std::int32_t> component;  ///< empty where there is only one

 private:
  void set(std::int64_t i, const Molecule& molecule);
  /// Calls `visit` with each array of numbers, whose place follows from the kind, that is in use.
  template <class Self, class Visit>
  static void each_state(Self& self, Visit&& visit);
  template <class Self, class Visit>
  static void each(Self& self, Visit&& visit);

  bool moves_, rotates_, mixed_;
  std::int64_t size_ = 0;
};

}  // namespace tailrace::molecules
