// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "long_range.hpp"
#include "molecules_system.hpp"
#include "site_forces.hpp"
#include "tailrace/error.hpp"

/// Pairs of molecules: energies, forces and torques, against ls1 mardyn and against the slope of the energy.
namespace tailrace::molecules {

namespace {

/// The component of the pair table that has this name.
Component named(const std::string& name) {
  Component c{
      .name = name, .lennard_jones = {{{}, 1, 0, 1, false}}, .charges = {}, .dipoles = {}, .quadrupoles = {}};
  if (name == "lj") c.lennard_jones[0] = {{}, 1, 1, 1, false};
  if (name == "ljts") c.lennard_jones[0] = {{}, 1, 1, 1, true};
  if (name == "lj2") c.lennard_jones[0] = {{}, 1, 0.7, 1.3, false};
  if (name == "charge") c.charges = {{{}, 0, 1.5}};
  if (name == "dipole") c.dipoles = {{{}, {0, 0, 1}, 1.2}};
  if (name == "quad") c.quadrupoles = {{{}, {0, 0, 1}, 0.8}};
  if (name == "twocharges") c.charges = {{{0, 0, 0.001}, 0, 600}, {{0, 0, -0.001}, 0, -600}};
  return c;
}

/// Two components, even if they are equal, would be unlike: a like pair has one.
Model pair_model(const std::string& a, const std::string& b) {
  Model model;
  model.components = {named(a)};
  if (a != b) {
    model.components.push_back(named(b));
    model.mixing = {a == "lj" && b == "lj2" ? Mixing{1.05, 0.97} : Mixing{}};
  }
  model.cutoff = model.lj_cutoff = 3;
  model.long_range = LongRange::none;
  return model;
}

struct PairAction {
  double u_lj, u_el, u_rf, virial;
  ForceAndTorque<double> on_a, on_b;
  [[nodiscard]] double u() const { return u_lj + u_el + u_rf; }
};

/// The plain version: one molecule in the place of the lanes.
PairAction act(const ForceField& field, const Molecule& a, const Molecule& b) {
  const auto turn = [](const Quaternion& q) { return Turn<double>{q[0], q[1], q[2], q[3]}; };
  TurnedSites<double> sites_a, sites_b;
  sites_a.set(field.components()[a.component], turn(a.orientation));
  sites_b.set(field.components()[b.component], turn(b.orientation));
  std::vector<Triple<double>> site_forces(sites_a.places.size());
  Energies<double> energies;
  PairAction result{};
  SitePairs<double> pairs(field, a.component, b.component);
  const Triple<double> between = triple(a.position - b.position);
  result.on_b = pairs.act(sites_a, sites_b, between, 1.0, 1.0, site_forces, result.on_a.torque, energies);
  for (std::size_t s = 0; s < site_forces.size(); ++s) {
    result.on_a.force += site_forces[s];
    result.on_a.torque += cross(sites_a.places[s], site_forces[s]);
  }
  result.u_lj = energies.u6_lj / 6;
  result.u_el = energies.u_el;
  result.u_rf = energies.u_rf;
  result.virial = dot(between, result.on_a.force);
  return result;
}

Molecule placed(const std::vector<double>& numbers, std::size_t first, int component) {
  Molecule m;
  for (std::size_t d = 0; d < 3; ++d) m.position[d] = numbers[first + d];
  for (std::size_t d = 0; d < 4; ++d) m.orientation[d] = numbers[first + 3 + d];
  m.id = first;
  m.component = component;
  return m;
}

/// A molecule with one site of each kind, none at the centre.
Model everything() {
  Component c{.name = "all",
              .lennard_jones = {{{0.1, 0, -0.2}, 1, 1, 0.9, false}, {{-0.1, 0.1, 0.2}, 0.5, 0.6, 1.1, true}},
              .charges = {{{0.2, 0, 0}, 0.1, 0.7}, {{-0.2, 0.1, 0}, 0.1, -0.7}},
              .dipoles = {{{0, 0.1, 0}, {0.6, 0, 0.8}, 0.5}},
              .quadrupoles = {{{0, -0.1, 0.1}, {0, 0.6, 0.8}, 0.4}}};
  Component other = c;
  other.lennard_jones[0].epsilon = 1.4;
  other.dipoles[0].moment = 1.1;
  Model model;
  model.components = {c, other};
  model.mixing = {{0.9, 1.02}};
  model.cutoff = model.lj_cutoff = 3;
  model.long_range = LongRange::none;
  return model;
}

/// Turned about an axis of space by a small angle.
Molecule turned_about(Molecule m, std::size_t axis, double angle) {
  const auto [w, x, y, z] = m.orientation;
  const double c = std::cos(angle / 2), s = std::sin(angle / 2);
  const Vec3 v = cross(Vec3{axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0}, Vec3{x, y, z});
  const Vec3 part{axis == 0 ? s * w : 0, axis == 1 ? s * w : 0, axis == 2 ? s * w : 0};
  const std::array<double, 3> old{x, y, z};
  m.orientation = {c * w - s * old[axis], c * x + part[0] + v[0], c * y + part[1] + v[1],
                   c * z + part[2] + v[2]};
  return m;
}

const Molecule first{{15, 15, 15}, {}, {0.5, 0.5, -0.5, 0.5}, {}, 1, 0};
const Molecule second{{15.9, 14.4, 15.8}, {}, {0.8, 0, 0.36, 0.48}, {}, 2, 1};

}  // namespace

TEST_CASE("pairs of sites of every kind have the energies and virials of ls1 mardyn") {
  int rows = 0;
  for (const auto& row : test::read_table("pair-table/pairs.csv")) {
    CAPTURE(row[0]);
    CAPTURE(row[1]);
    const bool like = row[0] == row[1], flipped = row[0] != row[1] &&
                                                  (row[0] == "charge" || row[0] == "dipole") &&
                                                  (row[1] == "charge" || row[1] == "dipole");
    std::vector<double> numbers;
    for (std::size_t k = 3; k < row.size(); ++k) numbers.push_back(std::stod(row[k]));
    const double close = row[1] == "twocharges" ? 1e-9 : 1e-12;  // large charges that nearly cancel
    Model model = pair_model(row[0], row[1]);
    model.reference_charge_dipole_sign = flipped;
    const Molecule a = placed(numbers, 0, 0), b = placed(numbers, 7, like ? 0 : 1);
    const PairAction pair = act(ForceField(model), a, b);
    CHECK(pair.u() == doctest::Approx(numbers[14]).epsilon(close));
    CHECK(pair.virial + 3 * pair.u_rf == doctest::Approx(numbers[15]).epsilon(1e-9));
    const test::System both(model, {30, 30, 30}, {a, b});
    CHECK(both.totals().u_lj + both.totals().u_el + both.totals().u_rf ==
          doctest::Approx(numbers[16]).epsilon(close));
    CHECK(both.totals().pairs == 1);
    if (flipped) {
      model.reference_charge_dipole_sign = false;
      CHECK(act(ForceField(model), a, b).u() == doctest::Approx(-numbers[14]).epsilon(1e-12));
    }
    ++rows;
  }
  CHECK(rows == 33);
}

TEST_CASE("a dipole acts on a charge as two charges do") {
  const auto energy = [](const std::string& kind) {
    return act(ForceField(pair_model("charge", kind)), first, second).u();
  };
  CHECK(energy("dipole") == doctest::Approx(energy("twocharges")).epsilon(1e-5));
}

TEST_CASE("forces and torques are the slope of the energy") {
  const ForceField field(everything());
  const PairAction pair = act(field, first, second);
  const Vec3 force_a = vec3(pair.on_a.force), force_b = vec3(pair.on_b.force),
             torque_a = vec3(pair.on_a.torque), torque_b = vec3(pair.on_b.torque);
  constexpr double h = 1e-5;
  for (std::size_t d = 0; d < 3; ++d) {
    CHECK(force_a[d] == doctest::Approx(-force_b[d]).epsilon(1e-13));
    const auto slope = [&](auto&& change) {
      return (act(field, change(h), second).u() - act(field, change(-h), second).u()) / (2 * h);
    };
    const auto slope_b = [&](auto&& change) {
      return (act(field, first, change(h)).u() - act(field, first, change(-h)).u()) / (2 * h);
    };
    CHECK(force_a[d] == doctest::Approx(-slope([&](double x) {
                          Molecule m = first;
                          m.position[d] += x;
                          return m;
                        })).epsilon(1e-7));
    CHECK(torque_a[d] ==
          doctest::Approx(-slope([&](double x) { return turned_about(first, d, x); })).epsilon(1e-7));
    CHECK(torque_b[d] ==
          doctest::Approx(-slope_b([&](double x) { return turned_about(second, d, x); })).epsilon(1e-7));
  }
}

TEST_CASE("vectors of partners get what single ones get") {
  Model model = everything();
  const ForceField field(model);
  std::vector<Molecule> molecules = test::lattice(5, 6.5, 1, model, 3);
  for (auto& m : molecules) m.position = m.position + Vec3{3, 3, 3};
  const test::System system(model, {13, 13, 13}, molecules);
  double u = 0, virial = 0;
  std::int64_t pairs = 0;
  for (std::size_t i = 0; i < molecules.size(); ++i)
    for (std::size_t j = i + 1; j < molecules.size(); ++j) {
      const Vec3 between = molecules[i].position - molecules[j].position;
      if (dot(between, between) >= 9) continue;
      const PairAction pair = act(field, molecules[i], molecules[j]);
      u += pair.u();
      virial += pair.virial;
      ++pairs;
    }
  CHECK(system.totals().pairs == pairs);
  CHECK(system.totals().u_lj + system.totals().u_el + system.totals().u_rf ==
        doctest::Approx(u).epsilon(1e-12));
  CHECK(system.totals().virial == doctest::Approx(virial).epsilon(1e-11));
}

TEST_CASE("the shift of two different centres of one component does not depend on their order") {
  Model model = everything();
  ForceField field(model);
  CHECK(field.centre_pairs(0, 0)[0].shift6 == 0);
  CHECK(field.centre_pairs(0, 0)[1].shift6 != 0);
  CHECK(field.centre_pairs(0, 0)[1].shift6 == field.centre_pairs(0, 0)[2].shift6);
  model.reference_shift = true;
  field = ForceField(model);
  CHECK(field.centre_pairs(0, 0)[1].shift6 == 0);
  CHECK(field.centre_pairs(0, 0)[2].shift6 == field.centre_pairs(0, 0)[3].shift6);
}

TEST_CASE("the correction of one centre is the known one") {
  const Model model = test::argon(4, false);
  const std::array<std::int64_t, 1> count{2048};
  const double volume = 18.0 * 18 * 18, rho = 2048 / volume;
  const Corrections c = corrections(ForceField(model), count, volume);
  constexpr double pi = 3.14159265358979323846;
  CHECK(c.u() / 2048 ==
        doctest::Approx(8.0 / 3 * pi * rho * (std::pow(4, -9) / 3 - std::pow(4, -3))).epsilon(1e-13));
  CHECK(c.virial / 2048 ==
        doctest::Approx(16 * pi * rho * (std::pow(4, -3) - 2 * std::pow(4, -9) / 3) * -1).epsilon(1e-13));
}

TEST_CASE("corrections of centres beside the centre of mass go over into that of one at it") {
  Model model = test::argon(4, false);
  const std::array<std::int64_t, 1> count{100};
  const double centred = corrections(ForceField(model), count, 1000).u();
  model.components[0].lennard_jones[0].place = {0, 0, 0.05};
  CHECK(corrections(ForceField(model), count, 1000).u() == doctest::Approx(centred).epsilon(5e-3));
  model.components[0].lennard_jones[0].place = {0, 0, 2};
  CHECK_THROWS_AS(corrections(ForceField(model), count, 1000), Error);
}

TEST_CASE("all problems of a force field are said") {
  Model model;
  model.components.resize(2);
  try {
    const ForceField field(model);
    FAIL("accepted");
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const char* part : {"mixing rules", "the cutoff is 0", "component 1 has no mass", "component 2"})
      CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  }
}

}  // namespace tailrace::molecules
