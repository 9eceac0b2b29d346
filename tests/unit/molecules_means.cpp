// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "pictures.hpp"
#include "running_means.hpp"

namespace tailrace::molecules {

TEST_CASE("means run over the last steps, and resume from their numbers with the same bits") {
  RunningMeans means;
  CHECK(means.means() == RunningMeans::Values{});
  for (int step = 0; step < 1500; ++step) means.add({1.0 * step, 0.1 * step, -1});
  CHECK(means.means()[0] == doctest::Approx(999.5));  // of steps 500 to 1499
  CHECK(means.means()[1] == doctest::Approx(99.95));
  CHECK(means.means()[2] == -1);
  CHECK(means.mean_energy() == doctest::Approx(749.5));
  RunningMeans other;
  other.add({5, 5, 5});
  other.restore(means.numbers());
  for (int step = 0; step < 700; ++step) {
    means.add({0.3 * step, 1, 2});
    other.add({0.3 * step, 1, 2});
  }
  CHECK(other.means() == means.means());
  CHECK(other.mean_square_energy() == means.mean_square_energy());
}

TEST_CASE("pictures say how many molecules come, and where they are") {
  Model model;
  model.components.resize(1);
  model.components[0].lennard_jones = {{.mass = 1, .epsilon = 1, .sigma = 2}};
  const Molecule molecule{.position = {1, 2.5, 3}, .velocity = {}, .id = 42};
  const Moment moment{
      .time = 0.5, .molecules = 7, .box = {10, 11, 12}, .model = model, .own = std::span(&molecule, 1)};
  const auto xyz = xyz_text(moment);
  CHECK(xyz.front().head.starts_with("7\nLattice=\"10 0 0 0 11 0 0 0 12\""));
  CHECK(xyz.front().own == "Ar 1 2.5 3 42\n");
  const auto vis = vis_text(moment, false);
  CHECK(vis.front().head == "#\n");
  CHECK(vis.front().own ==
        "      42 0      1.000      2.500      3.000  1.000  0.000  0.000  0.000        0\n");
  const auto pov = pov_text(moment);
  CHECK(pov.front().head.find("sphere { <0,0,0>, 1 }") != std::string::npos);
  CHECK(pov.front().own == "object { T0 matrix <1,0,0,0,1,0,0,0,1,1,2.5,3> }\n");
}

}  // namespace tailrace::molecules
