// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "formula.hpp"
#include "ownership.hpp"
#include "particle_formula.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::rehearse {

/// Describes what the ranks found of all particles together.
struct ParticleVerdict {
  std::int64_t count = 0;      ///< on all ranks
  std::int64_t wrong = 0;      ///< not where the formula has them, or on a rank that does not own that point
  std::uint64_t sum = 0;       ///< refers to the fingerprints
  std::uint64_t expected = 0;  ///< refers to those of the formula: differs if one is missing or there twice
  std::int64_t planned = 0;

  [[nodiscard]] bool good() const noexcept { return wrong == 0 && sum == expected && count == planned; }
};
/// A line for people, without its end.
std::string to_string(const ParticleVerdict& verdict);

/// The particles of a rank: those in the cells of its points. They go from step to step by what each of them
/// holds, and to other ranks by messages, as in a simulation, so that what went wrong stays wrong.
class Particles final : public checkpoint::RowSet {
 public:
  /// In the state of step 0. @local
  Particles(mpi::CommView comm, const Formula& formula, const Ownership& ownership,
            const ParticleFormula& particle_formula);

  /// Moves them on by a step, and to the ranks that own them then. @collective{comm}
  void advance();
  /// Compares all with the formula. @collective{comm}, synchronises. Cost: as many as a rank has, and its
  /// share of all.
  [[nodiscard]] ParticleVerdict compare(StepIndex step) const;
  /// Returns what all of them take, should they meet on this rank.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

  [[nodiscard]] checkpoint::RowType type() const override;
  [[nodiscard]] std::vector<Cell> cells() const override;
  void read(std::size_t cell, std::span<std::byte> rows) const override;
  [[nodiscard]] std::vector<checkpoint::KeyRange> begin_restore() override;
  [[nodiscard]] bool owns(std::uint64_t key, std::span<const std::byte> row) const override;
  void add(std::uint64_t key, std::span<const std::byte> row) override;
  /// After the last `add`. @local
  void end_restore();

 private:
  [[nodiscard]] std::uint64_t key(const Particle& particle) const noexcept {
    return static_cast<std::uint64_t>(formula_.number(particle_formula_.point(particle)));
  }
  [[nodiscard]] const Box& own_box() const noexcept { return boxes_[static_cast<std::size_t>(comm_.rank())]; }
  void sort_into_cells();

  mpi::CommView comm_;
  Formula formula_;
  ParticleFormula particle_formula_;
  std::vector<Box> boxes_;           ///< refers to each rank
  std::vector<Particle> particles_;  ///< by cell, and by id within one
  std::vector<std::size_t> firsts_;  ///< the first particle of each cell that has some, and their number
};

}  // namespace tailrace::rehearse
