// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tailrace/box.hpp"

namespace tailrace::rehearse {

/// Describes how many particles a rehearsal has, and how they move.
struct ParticleOptions {
  std::int64_t count = 0;
  int clustering = 1;      ///< 1: all over the domain; above, the more of them near its low corner
  double drift_cells = 1;  ///< that all move on in a step, along each axis
};

/// A particle. Its place is counted in parts of the distance of two points, so that no sum is rounded.
struct Particle {
  std::uint64_t id = 0;
  std::array<std::int64_t, 3> place{}, speed{};  ///< along x, y, z; parts, and parts per step

  friend bool operator==(const Particle&, const Particle&) = default;
};

/// Particles by formula: each moves on evenly, and comes in again where it leaves the domain. Where one is at
/// any time is known without the steps between.
class ParticleFormula {
 public:
  ParticleFormula(Index3 cells, const ParticleOptions& options) noexcept;

  [[nodiscard]] std::int64_t count() const noexcept { return options_.count; }
  /// A particle, by its number from 0 on, after so many steps.
  [[nodiscard]] Particle particle(std::uint64_t id, StepIndex step) const noexcept;
  /// Moves one on by a step.
  void advance(Particle& particle) const noexcept;
  /// The point in whose cell it is.
  [[nodiscard]] Index3 point(const Particle& particle) const noexcept;

  /// Sum over particles [begin, end) after so many steps of what `fingerprint` makes of each, modulo 2^64.
  [[nodiscard]] std::uint64_t sum(std::uint64_t begin, std::uint64_t end, StepIndex step) const noexcept;

  /// As an attribute of a file has it, and back. Errors (input): it is none.
  [[nodiscard]] std::string text() const;
  static ParticleFormula parse(Index3 cells, const std::string& text);

 private:
  ParticleOptions options_;
  std::array<std::int64_t, 3> extents_;  ///< refers to the domain, in parts
};

/// A number that depends on every bit of a particle.
std::uint64_t fingerprint(const Particle& particle) noexcept;

}  // namespace tailrace::rehearse
