// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "molecules_system.hpp"
#include "tailrace/error.hpp"

/// Laws that hold whatever the formulas are.
namespace tailrace::molecules {

namespace {

constexpr Vec3 argon_box{18, 18, 18}, co2_box{22.5, 22.5, 22.5};

std::vector<Molecule> backwards(const test::System& system) {
  std::vector<Molecule> molecules;
  for (auto [id, molecule] : system.molecules()) {
    molecule.velocity = -1 * molecule.velocity;
    molecule.angular_momentum = -1 * molecule.angular_momentum;
    molecules.push_back(molecule);
  }
  return molecules;
}

/// Largest deviation of the energy from its start over a time.
double worst_energy(const Model& model, const Vec3& box, const std::vector<Molecule>& start, double dt,
                    int steps) {
  test::System system(model, box, start);
  const double before = system.energy();
  double worst = 0;
  for (int step = 0; step < steps; ++step) {
    system.step(dt);
    worst = std::max(worst, std::abs(system.energy() - before));
  }
  return worst;
}

Vec3 momentum(const test::System& system) {
  Vec3 sum{};
  for (const auto& [id, molecule] : system.molecules()) sum = sum + molecule.velocity;
  return sum;
}

/// A cluster of molecules of all kinds of sites in the middle of a box, all within the cutoff of each other.
std::vector<Molecule> cluster(const Model& model, double box) {
  auto molecules = test::lattice(3, 3.6, 1, model, 5);
  for (auto& m : molecules) m.position = m.position + Vec3{box / 2 - 1.8, box / 2 - 1.8, box / 2 - 1.8};
  return molecules;
}

Model dipolar(double cutoff) {
  Component c{.name = "all",
              .lennard_jones = {{{0.1, 0, -0.2}, 1, 1, 0.9, false}, {{-0.1, 0.1, 0.2}, 0.5, 0.6, 1.1, false}},
              .charges = {{{0.2, 0, 0}, 0.1, 0.7}, {{-0.2, 0.1, 0}, 0.1, -0.7}},
              .dipoles = {{{0, 0.1, 0}, {0.6, 0, 0.8}, 0.5}},
              .quadrupoles = {{{0, -0.1, 0.1}, {0, 0.6, 0.8}, 0.4}}};
  Model model;
  model.components = {c};
  model.cutoff = cutoff;
  model.lj_cutoff = 6;
  model.long_range = LongRange::none;
  return model;
}

}  // namespace

TEST_CASE(
    "energy and momentum are conserved, and the energy the better the smaller the step, by its square") {
  const auto start = test::read_start("argon-1clj/start.inp");
  const Model model = test::argon(2.5, true);
  const double coarse = worst_energy(model, argon_box, start, 0.004, 200),
               fine = worst_energy(model, argon_box, start, 0.002, 400);
  CHECK(coarse < 2 * 0.259);
  CHECK(coarse / fine == doctest::Approx(4).epsilon(0.15));
  test::System system(model, argon_box, start);
  for (int step = 0; step < 100; ++step) system.step(0.004);
  for (const double component : momentum(system)) CHECK(std::abs(component) < 1e-10);
}

TEST_CASE("rotating molecules conserve energy") {
  CHECK(worst_energy(test::carbon_dioxide(), co2_box, test::read_start("co2-3clj3c/start.inp"), 0.001, 300) <
        2 * 2.272);
}

TEST_CASE("the energy of turning molecules is the better the smaller the step, by its square") {
  const Model model = dipolar(9);  // nobody leaves the reach of another one, where energies jump
  const auto start = cluster(model, 20);
  const double coarse = worst_energy(model, {20, 20, 20}, start, 0.001, 100),
               fine = worst_energy(model, {20, 20, 20}, start, 0.0005, 200);
  CHECK(coarse / fine == doctest::Approx(4).epsilon(0.15));
}

TEST_CASE("a run goes back the way that it came") {
  const auto start = test::read_start("argon-1clj/start.inp");
  test::System there(test::argon(2.5, true), argon_box, start);
  for (int step = 0; step < 100; ++step) there.step(0.004);
  test::System back(test::argon(2.5, true), argon_box, backwards(there));
  for (int step = 0; step < 100; ++step) back.step(0.004);
  const auto end = back.molecules();
  double worst = 0;
  for (const auto& molecule : start)
    for (std::size_t d = 0; d < 3; ++d) {
      double apart = std::abs(end.at(molecule.id).position[d] - molecule.position[d]);
      worst = std::max(worst, std::min(apart, argon_box[d] - apart));
    }
  CHECK(worst < 1e-9);
}

TEST_CASE("rotation takes its share of the energy") {
  auto start = test::read_start("co2-3clj3c/start.inp");
  for (auto& molecule : start) molecule.angular_momentum = {};
  test::System system(test::carbon_dioxide(), co2_box, start);
  double rot = 0, trans = 0;
  for (int step = 0; step < 1500; ++step) {
    system.step(0.001);
    if (step < 800) continue;
    rot += system.totals().twice_kinetic_rot / static_cast<double>(system.totals().rotational_freedoms);
    trans += system.totals().twice_kinetic_trans / static_cast<double>(3 * system.totals().molecules);
  }
  CHECK(system.totals().rotational_freedoms == 2 * system.totals().molecules);
  CHECK(rot / trans == doctest::Approx(1).epsilon(0.05));
}

TEST_CASE("the virial is the change of the energy with the size of the box") {
  const auto energy = [](double factor) {
    const double box = 20 * factor;
    const Model model = dipolar(7 * factor);  // the reaction field goes with the cutoff
    auto molecules = cluster(model, 20);
    for (auto& m : molecules) m.position = factor * m.position;
    const test::System system(model, {box, box, box}, molecules);
    const Totals& t = system.totals();
    CHECK(t.pairs == 27 * 26 / 2);
    return std::pair{t.u_lj + t.u_el + t.u_rf, t.virial + 3 * t.u_rf};
  };
  constexpr double h = 1e-5;
  const double slope = (energy(1 + h).first - energy(1 - h).first) / (2 * h);
  CHECK(energy(1).second == doctest::Approx(-slope).epsilon(1e-6));
}

// Kolafa and Nezbeda, Fluid Phase Equilibria 100 (1994) 1: their equation of state fits simulations there to
// about 0.01 in both numbers.
TEST_CASE("a Lennard-Jones liquid has the energy and pressure of the published equation of state") {
  constexpr double temperature = 1.2, density = 0.7, energy = -4.7586, pressure = 0.6650;
  const double box = std::cbrt(1000 / density);
  const Model model = test::argon(4, false);
  test::System system(model, {box, box, box}, test::lattice(10, box, temperature, model, 1));
  double sum_u = 0, sum_p = 0;
  constexpr int relaxing = 500, sampled = 1500;
  for (int step = 0; step < relaxing + sampled; ++step) {
    system.step(0.004, temperature);
    if (step < relaxing) continue;
    sum_u += system.observe().u_potential / 1000;
    sum_p += system.observe().pressure;
  }
  CHECK(sum_u / sampled == doctest::Approx(energy).epsilon(0.02 / 4.76));
  CHECK(std::abs(sum_p / sampled - pressure) < 0.05);
}

TEST_CASE("molecules that go wrong are named") {
  const Model model = test::argon(2.5, true);
  const auto message = [](auto&& act) {
    try {
      act();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  Molecule a, b;
  a.position = b.position = {5, 5, 5};
  a.id = 7, b.id = 9;
  CHECK(message([&] {
          const test::System system(model, argon_box, {a, b});
        }).find("act on molecules 7, 9") != std::string::npos);
  b.position = {8, 8, 8};
  b.velocity = {0, 1e200, 0};
  CHECK(message([&] {
          const test::System system(model, argon_box, {a, b});
        }).find("molecule 9 has a kinetic energy that is not finite") != std::string::npos);
  b.velocity = {0, 1e5, 0};
  CHECK(message([&] {
          test::System system(model, argon_box, {a, b});
          system.step(0.004);
        }).find("molecule 9 moved by more than the cutoff") != std::string::npos);
  b.velocity[1] = std::nan("");
  CHECK(message([&] {
          const test::System system(model, argon_box, {a, b});
        }).find("molecule 9") != std::string::npos);
  b.velocity[1] = 0;
  b.orientation[2] = std::nan("");
  CHECK(message([&] {
          const test::System system(model, argon_box, {a, b});
        }).find("molecule 9") != std::string::npos);
  b.orientation[2] = 0;
  b.component = 3;
  CHECK(message([&] {
          const test::System system(model, argon_box, {a, b});
        }).find("of component 4") != std::string::npos);
}

TEST_CASE("molecules take little memory") {
  for (const bool rotating : {false, true}) {
    const Model model = rotating ? test::carbon_dioxide() : test::argon(2.5, true);
    const int edge = 32;
    const double box = rotating ? 56.7 : 33.9;
    test::System system(model, {box, box, box}, test::lattice(edge, box, 1, model, 1));
    system.step(1e-4);
    const double bytes = static_cast<double>(system.particles().memory_bytes()) / (edge * edge * edge);
    MESSAGE("bytes per molecule: ", bytes);
    CHECK(bytes < (rotating ? 200 : 110));
  }
}

}  // namespace tailrace::molecules
