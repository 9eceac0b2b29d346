// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <set>

#include "particle_formula.hpp"
#include "tailrace/error.hpp"

namespace tailrace::rehearse {

TEST_CASE("a particle that moves step by step is where the formula has it") {
  const Index3 cells{5, 3, 4};
  for (const double drift : {0.0, 1.0, 7.3, -2.5}) {
    const ParticleFormula particle_formula(cells, {.count = 50, .clustering = 2, .drift_cells = drift});
    for (std::uint64_t id = 0; id < 50; ++id) {
      auto particle = particle_formula.particle(id, 0);
      for (StepIndex step = 1; step <= 30; ++step) {
        particle_formula.advance(particle);
        REQUIRE(particle == particle_formula.particle(id, step));
        REQUIRE(Box::whole(cells).contains(particle_formula.point(particle)));
      }
    }
  }
}

TEST_CASE("clustered particles begin near the low corner, and drift away") {
  const Index3 cells{16, 16, 16};
  const auto near = [&](int clustering, StepIndex step) {
    const ParticleFormula particle_formula(cells, {.count = 1000, .clustering = clustering});
    int count = 0;
    for (std::uint64_t id = 0; id < 1000; ++id)
      count += Box::whole({8, 8, 8}).contains(particle_formula.point(particle_formula.particle(id, step)));
    return count;
  };
  CHECK(near(1, 0) < 200);
  CHECK(near(4, 0) > 500);
  CHECK(near(4, 8) < 100);
}

TEST_CASE("the sum of the fingerprints shows lost, doubled, swapped and changed particles") {
  const ParticleFormula particle_formula({8, 8, 8}, {.count = 100});
  const auto whole = particle_formula.sum(0, 100, 5);
  CHECK(whole == particle_formula.sum(0, 30, 5) + particle_formula.sum(30, 100, 5));
  CHECK(whole != particle_formula.sum(0, 99, 5));
  CHECK(whole != particle_formula.sum(0, 100, 6));
  auto one = particle_formula.particle(3, 5), other = particle_formula.particle(4, 5);
  const auto both = fingerprint(one) + fingerprint(other);
  std::swap(one.id, other.id);
  CHECK(fingerprint(one) + fingerprint(other) != both);
  std::set<std::uint64_t> all;
  for (std::uint64_t id = 0; id < 100; ++id) all.insert(fingerprint(particle_formula.particle(id, 5)));
  CHECK(all.size() == 100);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto changed = particle_formula.particle(7, 5);
    ++changed.speed[axis];
    CHECK(all.count(fingerprint(changed)) == 0);
  }
}

TEST_CASE("particles are described by a text") {
  const Index3 cells{8, 8, 8};
  const ParticleFormula particle_formula(cells, {.count = 77, .clustering = 3, .drift_cells = 0.1});
  CHECK(ParticleFormula::parse(cells, particle_formula.text()).sum(0, 77, 9) ==
        particle_formula.sum(0, 77, 9));
  for (const char* text : {"", "12", "0 1 1", "5 0 1", "many 1 1"})
    CHECK_THROWS_AS(ParticleFormula::parse(cells, text), Error);
}

}  // namespace tailrace::rehearse
