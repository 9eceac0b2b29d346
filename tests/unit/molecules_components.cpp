// SPDX-License-Identifier: BSD-3-Clause
#include "component_checks.hpp"

#include <doctest/doctest.h>

#include <limits>

/// What is said of components, whichever file states them.
namespace tailrace::molecules {

namespace {

/// What the checks have to say of one component.
struct Said {
  std::string problems;
  std::vector<std::string> warnings;

  [[nodiscard]] bool nothing() const { return problems.empty() && warnings.empty(); }
  [[nodiscard]] bool refuses(const char* words) const {
    INFO(problems);
    return problems.find(words) != std::string::npos;
  }
  [[nodiscard]] bool warns(const char* words) const {
    return warnings.size() == 1 && warnings[0].find(words) != std::string::npos;
  }
};

Said said_of(const Component& component, const std::string& file = "") {
  Model model;
  model.components = {component};
  Problems problems("case");
  Said said;
  check_numbers(model, {file}, problems);
  if (problems.empty()) check_frames(model, {file}, problems, said.warnings);
  if (problems.empty()) warn_of_components(model, {file}, said.warnings);
  if (!problems.empty()) said.problems = problems.message();
  return said;
}

LennardJones centre(const Vec3& place, double mass = 1) {
  return {.place = place, .mass = mass, .epsilon = 1, .sigma = 1};
}

/// Two equal centres at these places.
Component pair(const Vec3& a, const Vec3& b) {
  Component component;
  component.lennard_jones = {centre(a), centre(b)};
  return component;
}

/// One centre of these numbers.
Component single(double mass, double epsilon, double sigma) {
  Component component;
  component.lennard_jones = {{.place = {}, .mass = mass, .epsilon = epsilon, .sigma = sigma}};
  return component;
}

}  // namespace

TEST_CASE("numbers of a component that can be none") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(said_of(single(1, 1, 1)).nothing());
  CHECK(said_of(single(1, 0, 0)).nothing());
  CHECK(said_of(single(1, -1, 1)).refuses("component[0], Lennard-Jones centre 1: epsilon = -1"));
  CHECK(said_of(single(1, 1, -1), "a.inp").refuses("a.inp: component 1, Lennard-Jones centre 1: sigma = -1"));
  CHECK(said_of(single(1, 1, 0)).refuses("sigma = 0 and epsilon = 1"));
  CHECK(said_of(single(0, 1, 1)).refuses("component[0] has no mass"));
  CHECK(said_of(single(-1, 1, 1)).refuses("mass = -1"));
  CHECK(said_of(single(nan, 1, 1)).refuses("mass = nan"));
  auto component = single(1, 1, 1);
  component.charges = {{.place = {}, .mass = 0, .charge = nan}};
  CHECK(said_of(component).refuses("charge 1: a charge of nan"));
  component = pair({0, 0, nan}, {0, 0, 1});
  CHECK(said_of(component).refuses("a coordinate of nan"));
}

TEST_CASE("sites that are not about the centre of mass") {
  CHECK(said_of(pair({0, 0, -0.3}, {0, 0, 0.3})).nothing());
  CHECK(said_of(pair({0, 0, -0.30001}, {0, 0, 0.3})).nothing());
  const auto shifted = pair({0, 0, 0}, {0, 0, 0.6});
  CHECK(said_of(shifted).refuses("component[0]: its centre of mass is at (0, 0, 0.3)"));
  CHECK(said_of(shifted).refuses("Fix: subtract (0, 0, 0.3)"));
  CHECK(said_of(shifted, "a.inp").warns("a.inp: component 1: its centre of mass is at (0, 0, 0.3)"));
  auto given = shifted;
  given.inertia_override = {1, 1, 0};
  CHECK(said_of(given).warns("its centre of mass"));
}

TEST_CASE("sites that are not in their principal axes") {
  const auto tilted = pair({-0.2, 0, -0.2}, {0.2, 0, 0.2});
  CHECK(said_of(tilted).refuses("not that of its principal axes: sums of m x y = 0, m x z = 0.08"));
  CHECK(said_of(tilted, "a.inp").warns("principal axes"));
  // A tetrahedron has no axes of its own.
  Component methane;
  for (const Vec3& place : {Vec3{1, 1, 1}, Vec3{1, -1, -1}, Vec3{-1, 1, -1}, Vec3{-1, -1, 1}})
    methane.lennard_jones.push_back(centre(place));
  CHECK(said_of(methane).nothing());
}

TEST_CASE("sites without mass are wherever they are") {
  auto water = pair({0, 0, -0.3}, {0, 0, 0.3});
  water.charges = {{.place = {0, 0, 0.5}, .mass = 0, .charge = 1}, {.place = {}, .mass = 0, .charge = -1}};
  CHECK(said_of(water).nothing());
}

TEST_CASE("molecules that never turn") {
  auto component = single(1, 1, 1);
  component.dipoles = {{.place = {}, .direction = {0, 0, 1}, .moment = 1}};
  CHECK(said_of(component).warns("component[0] has no moment of inertia about x, y and never turns"));
  component.inertia_override = {0.1, 0.1, 0};
  CHECK(said_of(component).nothing());
  component.dipoles[0].direction = {1, 0, 0};
  CHECK(said_of(component).warns("about z and never turns"));
}

TEST_CASE("molecules with a net charge") {
  auto component = single(1, 1, 1);
  component.charges = {{.place = {}, .mass = 0, .charge = 1}};
  CHECK(said_of(component).warns("component[0] has a net charge of 1"));
  component.charges.push_back({.place = {}, .mass = 0, .charge = -1});
  CHECK(said_of(component).nothing());
}

TEST_CASE("only what is the same from all sides has no orientation") {
  CHECK(!single(1, 1, 1).has_orientation());
  CHECK(pair({0, 0, -0.3}, {0, 0, 0.3}).has_orientation());
  auto component = single(1, 1, 1);
  component.dipoles = {{.place = {}, .direction = {0, 0, 1}, .moment = 1}};
  CHECK(component.has_orientation());
}

}  // namespace tailrace::molecules
