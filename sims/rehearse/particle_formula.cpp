// SPDX-License-Identifier: BSD-3-Clause
#include "particle_formula.hpp"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "numbers.hpp"
#include "tailrace/error.hpp"

namespace tailrace::rehearse {

namespace {

constexpr std::int64_t parts_per_cell = 1024;
constexpr std::int64_t jitter = 64;  // a particle is faster or slower than the drift by at most so many parts

/// A remainder from 0 to n - 1.
std::int64_t wrapped(std::int64_t i, std::int64_t n) noexcept {
  const std::int64_t rest = i % n;
  return rest < 0 ? rest + n : rest;
}

}  // namespace

ParticleFormula::ParticleFormula(Index3 cells, const ParticleOptions& options) noexcept
    : options_(options),
      extents_{cells.x * parts_per_cell, cells.y * parts_per_cell, cells.z * parts_per_cell} {}

Particle ParticleFormula::particle(std::uint64_t id, StepIndex step) const noexcept {
  Random random(id);
  const auto drift = std::llround(options_.drift_cells * static_cast<double>(parts_per_cell));
  Particle particle{.id = id};
  for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
    const std::int64_t n = extents_[axis];
    const auto start = random.below(n, options_.clustering);
    particle.speed[axis] = wrapped(drift + random.below(2 * jitter + 1) - jitter, n);
    particle.place[axis] = (start + particle.speed[axis] * (step % n)) % n;
  }
  return particle;
}

void ParticleFormula::advance(Particle& particle) const noexcept {
  for (std::size_t axis = 0; axis < extents_.size(); ++axis)
    particle.place[axis] = wrapped(particle.place[axis] + particle.speed[axis], extents_[axis]);
}

Index3 ParticleFormula::point(const Particle& particle) const noexcept {
  const auto& place = particle.place;
  return {place[0] / parts_per_cell, place[1] / parts_per_cell, place[2] / parts_per_cell};
}

std::uint64_t ParticleFormula::sum(std::uint64_t begin, std::uint64_t end, StepIndex step) const noexcept {
  std::uint64_t sum = 0;
  for (std::uint64_t id = begin; id < end; ++id) sum += fingerprint(particle(id, step));
  return sum;
}

std::string ParticleFormula::text() const {
  return fmt::format("{} {} {}", options_.count, options_.clustering, options_.drift_cells);
}

ParticleFormula ParticleFormula::parse(Index3 cells, const std::string& text) {
  ParticleOptions options;
  std::istringstream words(text);
  words >> options.count >> options.clustering >> options.drift_cells;
  if (!words || options.count < 1 || options.clustering < 1)
    throw Error(ErrorKind::input, fmt::format("\"{}\" describes no particles", text));
  return {cells, options};
}

std::uint64_t fingerprint(const Particle& particle) noexcept {
  std::uint64_t mixed = Random(particle.id).next();
  for (const auto* numbers : {&particle.place, &particle.speed})
    for (const auto number : *numbers) mixed = Random(mixed + static_cast<std::uint64_t>(number)).next();
  return mixed;
}

}  // namespace tailrace::rehearse
