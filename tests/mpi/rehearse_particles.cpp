// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <vector>

#include "mpi_case.hpp"
#include "particles.hpp"

using namespace tailrace;
using namespace tailrace::rehearse;

namespace {

constexpr Formula formula{{6, 5, 4}};
constexpr ParticleOptions clustered{.count = 300, .clustering = 3, .drift_cells = 0.7};

/// Returns what a rank has, cell by cell.
std::vector<Particle> list(const Particles& particles) {
  std::vector<Particle> all;
  const auto cells = particles.cells();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::vector<Particle> some(static_cast<std::size_t>(cells[i].count));
    particles.read(i, std::as_writable_bytes(std::span(some)));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// Gives a rank these particles instead of its own.
void replace(Particles& particles, const ParticleFormula& particle_formula,
             const std::vector<Particle>& others) {
  static_cast<void>(particles.begin_restore());
  for (const auto& particle : others) {
    const auto key = static_cast<std::uint64_t>(formula.number(particle_formula.point(particle)));
    particles.add(key, std::as_bytes(std::span(&particle, 1)));
  }
  particles.end_restore();
}

}  // namespace

MPI_CASE("particles go from rank to rank, and none is lost", ranks{1, 2, 3, 4, 7}) {
  const ParticleFormula particle_formula(formula.cells, clustered);
  for (const char* ownership : {"slabs", "pencils", "uneven", "one-owner"}) {
    Particles particles(comm, formula, parse_ownership(ownership), particle_formula);
    for (StepIndex step = 0; step <= 12; ++step) {
      if (step > 0) particles.advance();
      const auto verdict = particles.compare(step);
      CAPTURE(to_string(verdict));
      CHECK(verdict.good());
      CHECK(verdict.count == clustered.count);
    }
    CHECK_FALSE(particles.compare(11).good());
  }
}

MPI_CASE("more ranks than cells, and more than particles", ranks{3, 7}) {
  const Formula small{{2, 1, 1}};
  const ParticleFormula particle_formula(small.cells, {.count = 2});
  Particles particles(comm, small, {}, particle_formula);
  for (StepIndex step = 1; step <= 5; ++step) particles.advance();
  CHECK(particles.compare(5).good());
}

MPI_CASE("particles that are lost, doubled, swapped or changed are noticed", ranks{1, 3}) {
  const ParticleFormula particle_formula(formula.cells, clustered);
  Particles particles(comm, formula, {}, particle_formula);
  particles.advance();
  const auto right = list(particles);
  replace(particles, particle_formula, right);
  CHECK(particles.compare(1).good());
  const auto is_good_with = [&](const auto& change) {
    auto changed = right;
    if (comm.is_root()) change(changed);
    replace(particles, particle_formula, changed);
    return particles.compare(1).good();
  };
  CHECK_FALSE(is_good_with([](auto& list) { list.pop_back(); }));
  CHECK_FALSE(is_good_with([](auto& list) { list.push_back(list.front()); }));
  CHECK_FALSE(is_good_with([](auto& list) { list.back() = list.front(); }));
  CHECK_FALSE(is_good_with([](auto& list) { std::swap(list.front().id, list.back().id); }));
  CHECK_FALSE(is_good_with([](auto& list) { ++list.back().speed[1]; }));
}
