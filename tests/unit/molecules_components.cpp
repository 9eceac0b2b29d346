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

