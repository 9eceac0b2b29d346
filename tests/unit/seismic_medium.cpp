// SPDX-License-Identifier: BSD-3-Clause
#include "medium.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "solver.hpp"
#include "sponge.hpp"
#include "tailrace/error.hpp"

namespace tailrace::seismic {

namespace {

Parameter value(double number) {
  return {.value = number, .open = {}};
}

/// A parameter that is `f` of the point.
Parameter by_point(double (*f)(Index3)) {
  return {.value = 0, .open = [f] {
            return Parameter::ReadBox([f](const Box& region, std::span<double> out) {
              std::size_t i = 0;
              for (std::int64_t z = region.lo.z; z < region.hi.z; ++z)
                for (std::int64_t y = region.lo.y; y < region.hi.y; ++y)
                  for (std::int64_t x = region.lo.x; x < region.hi.x; ++x) out[i++] = f({x, y, z});
            });
          }};
}

Properties usual() {
  return {.equations = Equations::tti,
          .vp_m_s = value(3000),
          .epsilon = value(0.24),
          .delta = value(0.1),
          .dip_rad = value(std::atan(1.0)),
          .azimuth_rad = value(1),
          .sigma = value(0.75),
          .vs_m_s = {}};
}

std::string refusal(const Properties& properties, const Box& region) {
  try {
    survey(properties, region);
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::input);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("coefficients of the usual tilted medium") {
  const Index3 cells{5, 4, 3};
  const auto properties = usual();
  const auto extremes = survey(properties, Box::whole(cells));
  CHECK(extremes.vp_m_s == 3000);
  CHECK(extremes.vs_m_s == doctest::Approx(1296.148139681572).epsilon(1e-12));
  CHECK(extremes.speed_m_s == doctest::Approx(3649.6575).epsilon(1e-7));
  const Medium<double> medium(properties, {}, extremes, cells, Box::whole(cells), 1e-3);
  StepArrays<double> arrays;
  medium.lend(arrays);
  const double x = arrays.axis[0].row(3, 2)[4], y = arrays.axis[1].row(3, 2)[4],
               z = arrays.axis[2].row(3, 2)[4];
  CHECK(x * x == doctest::Approx(0.145963).epsilon(1e-5));
  CHECK(y * y == doctest::Approx(0.354037).epsilon(1e-5));
  CHECK(2 * x * y == doctest::Approx(0.454649).epsilon(1e-5));
  CHECK(2 * x * z == doctest::Approx(0.540302).epsilon(1e-5));
  CHECK(2 * y * z == doctest::Approx(0.841471).epsilon(1e-5));
  CHECK(arrays.speed.row(0, 0)[0] == doctest::Approx(9));
  // One value each, not one per point.
  CHECK(medium.memory_bytes() < 7 * 64 * 8);
}

TEST_CASE("the largest stable time step") {
  CHECK(largest_symbol() == doctest::Approx(6.501587).epsilon(1e-6));
  CHECK(largest_stable_dt_s({12.5, 12.5, 12.5}, 3649.7) == doctest::Approx(1.551e-3).epsilon(1e-3));
}

TEST_CASE("wave speeds in the directions where they are largest") {
  CHECK(wave_speeds(1.48, 1.2, 0.18).fastest == doctest::Approx(std::sqrt(1.48)));
  CHECK_FALSE(wave_speeds(1.48, 1.2, 0).grow);
  // delta above epsilon and no shear waves: waves grow; with shear waves they do not.
  CHECK(wave_speeds(1.0, 1.4, 0).grow);
  CHECK_FALSE(wave_speeds(1.0, 1.4, 0.2 / 0.75).grow);
  CHECK(wave_speeds(1.0, 1.4, 0.2 / 0.75).fastest > 1.01);
  CHECK(wave_speeds(0.8, 0.6, 0).fastest == doctest::Approx(1).epsilon(0.01));
  // Shear waves that are faster than the others.
  CHECK(wave_speeds(1.2, 1.1, 4).fastest > 2);
}

TEST_CASE("sigma above 10 means no shear waves") {
  auto properties = usual();
  for (const double sigma : {11.0, std::numeric_limits<double>::infinity()}) {
    properties.sigma = value(sigma);
    CHECK(survey(properties, {{0, 0, 0}, {1, 1, 1}}).vs_m_s == 0);
  }
}

TEST_CASE("values that cannot be are named with their place") {
  const Box region = Box::whole({4, 5, 6});
  auto properties = usual();
  properties.vp_m_s = by_point([](Index3 p) { return p == Index3{2, 3, 4} ? -1.0 : 2000.0; });
  CHECK(refusal(properties, region).find("model.vp_m_s: -1 at the point x, y, z = 2, 3, 4 cannot be") !=
        std::string::npos);
  properties = usual();
  properties.epsilon = by_point([](Index3 p) { return p.z == 5 ? std::nan("") : 0.3; });
  CHECK(refusal(properties, region).find("model.epsilon: nan at the point x, y, z = 0, 0, 5") !=
        std::string::npos);
  properties = usual();
  properties.sigma = value(0);
  CHECK(refusal(properties, region).find("model.sigma: 0 cannot be. Fix: a number above 0") !=
        std::string::npos);
}

TEST_CASE("points where waves grow are counted") {
  auto properties = usual();
  properties.sigma = value(100);
  properties.delta = by_point([](Index3 p) { return p.y == 2 && p.z == 1 ? 0.5 : 0.1; });
  const auto found = survey(properties, Box::whole({3, 4, 5}));
  CHECK(found.unstable == 3);
  CHECK(found.first_unstable == Index3{0, 2, 1});
}

TEST_CASE("random speeds stay between 0 and the largest one, and away from the domain") {
  const Index3 cells{6, 5, 4};
  const Boundary boundary{.kind = Boundary::Kind::random, .width = 3, .seed = 5};
  const auto properties = usual();
  const auto extremes = survey(properties, Box::whole(cells));
  const Box grid = Box::whole({12, 11, 10});
  const Medium<double> whole(properties, boundary, extremes, cells, grid, 1e-3);
  const Box part{{7, 2, 4}, {12, 6, 10}};
  const Medium<double> mine(properties, boundary, extremes, cells, part, 1e-3);
  StepArrays<double> a, b;
  whole.lend(a);
  mine.lend(b);
  int changed = 0;
  for (std::int64_t z = 0; z < 10; ++z)
    for (std::int64_t y = 0; y < 11; ++y)
      for (std::int64_t x = 0; x < 12; ++x) {
        const double speed = a.speed.row(y, z)[x];
        CHECK(speed >= 0);
        CHECK(speed <= 9.0 * (1 + 1e-12));
        const bool inside = x >= 3 && x < 9 && y >= 3 && y < 8 && z >= 3 && z < 7;
        if (inside) CHECK(speed == doctest::Approx(9).epsilon(1e-14));
        changed += std::abs(speed - 9) > 1e-9 ? 1 : 0;
        if (part.contains({x, y, z}))
          CHECK(b.speed.row(y - part.lo.y, z - part.lo.z)[x - part.lo.x] == speed);
      }
  CHECK(changed == 12 * 11 * 10 - 6 * 5 * 4);
}

TEST_CASE("random numbers fill the range from 0 to 1 evenly") {
  double sum = 0, least = 1, most = 0;
  constexpr int count = 20000;
  for (int i = 0; i < count; ++i) {
    const double r = random_at(3, i);
    sum += r, least = std::min(least, r), most = std::max(most, r);
  }
  CHECK(sum / count == doctest::Approx(0.5).epsilon(0.02));
  CHECK(least >= 0);
  CHECK(least < 0.001);
  CHECK(most < 1);
  CHECK(most > 0.999);
  CHECK(random_at(3, 1) != random_at(4, 1));
}

TEST_CASE("a sponge grows towards both ends of the grid and leaves the domain alone") {
  const Sponge sponge{.points = 30, .width = 6, .spacing_m = 10, .speed_m_s = 2000, .dt_s = 1e-3};
  for (std::int64_t i = 0; i < 30; ++i) {
    CHECK(sponge.damping(i) == sponge.damping(29 - i));
    CHECK((sponge.damping(i) > 0) == (i < 6 || i >= 24));
  }
  CHECK(sponge.damping(0) > sponge.damping(1));
}

}  // namespace tailrace::seismic
