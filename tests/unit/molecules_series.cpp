// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <omp.h>

#include <cmath>

#include "molecules_system.hpp"

/// Whole runs against the observables that ls1 mardyn computed from the same start.
namespace tailrace::molecules {

namespace {

struct Case {
  std::string table;
  Model model;
  Vec3 box;
  double dt, temperature;
};

double relative(double value, double reference) {
  return std::abs(value - reference) / std::abs(reference);
}

/// Worst differences over the first steps of a series; columns: step, time, U_pot, U_kin, E_tot, T, p, W,
/// betas.
struct Worst {
  double u = 0, kinetic = 0, virial = 0, beta = 0;
};

Worst follow(const Case& given, test::System& system, int last_step) {
  Worst worst;
  int step = 0;
  Scaling factors = scaling(system.totals(), given.temperature);
  for (const auto& row : test::read_table(given.table)) {
    std::vector<double> expected;
    for (const auto& word : row) expected.push_back(std::stod(word));
    for (; step < static_cast<int>(expected[0]); ++step) factors = system.step(given.dt, given.temperature);
    if (step > last_step) break;
    const Observables o = system.observe();
    worst.u = std::max(worst.u, relative(o.u_potential, expected[2]));
    worst.kinetic = std::max(worst.kinetic, relative(o.u_kinetic, expected[3]));
    worst.virial = std::max(worst.virial, relative(o.virial, expected[7]));
    worst.beta = std::max(worst.beta, relative(factors.trans, expected[8]));
    if (expected.size() > 9 && system.particles().field().rotates())
      worst.beta = std::max(worst.beta, relative(factors.rot, expected[9]));
  }
  REQUIRE(step >= last_step);
  return worst;
}

void check(const Case& given, const std::string& start, int steps, int cells_per_cutoff = 1) {
  test::System system(given.model, given.box, test::read_start(start), cells_per_cutoff);
  const Worst begin = follow(given, system, 0), all = [&] {
    test::System again(given.model, given.box, test::read_start(start), cells_per_cutoff);
    return follow(given, again, steps);
  }();
  CAPTURE(given.table);
  CHECK(begin.u < 1e-12);
  CHECK(begin.virial < 1e-10);
  CHECK(begin.kinetic < 1e-13);
  CHECK(all.u < 1e-10);
  CHECK(all.kinetic < 1e-10);
  CHECK(all.virial < 1e-9);
  CHECK(all.beta < 1e-10);
}

constexpr Vec3 argon_box{18, 18, 18}, co2_box{22.5, 22.5, 22.5};
const std::string argon_start = "argon-1clj/start.inp", co2_start = "co2-3clj3c/start.inp";

}  // namespace

TEST_CASE("argon, truncated and shifted, follows ls1 mardyn") {
  check({"argon-1clj/ls1-ts-nve.csv", test::argon(2.5, true), argon_box, 0.004, 0}, argon_start, 200);
}
TEST_CASE("argon with long-range correction follows ls1 mardyn, whatever the cells") {
  check({"argon-1clj/ls1-lrc-nve.csv", test::argon(4, false), argon_box, 0.004, 0}, argon_start, 200);
  check({"argon-1clj/ls1-lrc-nve.csv", test::argon(4, false), argon_box, 0.004, 0}, argon_start, 50, 2);
}
TEST_CASE("argon with a thermostat follows ls1 mardyn") {
  check({"argon-1clj/ls1-lrc-nvt.csv", test::argon(4, false), argon_box, 0.004, 1.8}, argon_start, 200);
}
TEST_CASE("carbon dioxide follows ls1 mardyn") {
  check({"co2-3clj3c/ls1-lrc-nve.csv", test::carbon_dioxide(), co2_box, 0.001, 0}, co2_start, 200);
}
TEST_CASE("carbon dioxide with a thermostat follows ls1 mardyn") {
  check({"co2-3clj3c/ls1-lrc-nvt.csv", test::carbon_dioxide(), co2_box, 0.001, 5.5}, co2_start, 200);
}

TEST_CASE("regions of any shape see the same pairs, also those that are thinner than the cutoff") {
  for (const bool rotating : {false, true}) {
    const Model model = rotating ? test::carbon_dioxide() : test::argon(2.5, true);
    const Vec3 box = rotating ? co2_box : argon_box;
    const auto molecules = test::read_start(rotating ? co2_start : argon_start);
    const test::System whole(model, box, molecules);
    for (const std::array<int, 3> grid : {std::array{1, 9, 1}, {1, 1, 9}, {8, 1, 1}, {2, 1, 3}}) {
      for (const int cells_per_cutoff : {1, 2}) {
        const Totals parts = test::divided(model, box, molecules, grid, cells_per_cutoff);
        const Totals& all = whole.totals();
        CHECK(parts.molecules == all.molecules);
        CHECK(relative(parts.u_lj + parts.u_el, all.u_lj + all.u_el) < 1e-12);
        CHECK(relative(parts.virial, all.virial) < 1e-11);
      }
    }
  }
}

TEST_CASE("a run repeats bit for bit on any number of threads and from any order of molecules") {
  const int before = omp_get_max_threads();
  for (const bool rotating : {false, true}) {
    const Model model = rotating ? test::carbon_dioxide() : test::argon(2.5, true);
    auto molecules = test::read_start(rotating ? co2_start : argon_start);
    const auto run = [&](int threads) {
      omp_set_num_threads(threads);
      test::System system(model, rotating ? co2_box : argon_box, molecules);
      for (int step = 0; step < 5; ++step) system.step(0.001, 2);
      return std::pair{system.molecules(), system.observe().u_potential};
    };
    const auto one = run(1);
    std::reverse(molecules.begin(), molecules.end());
    CHECK(run(2) == one);
    CHECK(run(3) == one);
  }
  omp_set_num_threads(before);
}

}  // namespace tailrace::molecules
