// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <span>

#include "solver.hpp"

/// A small problem with all that the equations have.
namespace tailrace::seismic {

/// A property that varies from point to point.
inline Parameter varying(double base, double amplitude, double phase) {
  return {.value = 0, .open = [=] {
            return Parameter::ReadBox([=](const Box& region, std::span<double> out) {
              std::size_t i = 0;
              for (std::int64_t z = region.lo.z; z < region.hi.z; ++z)
                for (std::int64_t y = region.lo.y; y < region.hi.y; ++y)
                  for (std::int64_t x = region.lo.x; x < region.hi.x; ++x)
                    out[i++] = base + amplitude * std::sin(phase + 0.3 * static_cast<double>(x) +
                                                           0.5 * static_cast<double>(y) +
                                                           0.2 * static_cast<double>(z));
            });
          }};
}

inline Problem small_problem(Equations equations, Boundary::Kind kind) {
  return {.cells = {21, 18, 15},
          .spacing_m = {12.5, 11, 10},
          .dt_s = 8e-4,
          .properties = {.equations = equations,
                         .vp_m_s = varying(2500, 400, 0),
                         .epsilon = varying(0.2, 0.04, 1),
                         .delta = {.value = 0.1, .open = {}},
                         .dip_rad = varying(0.5, 0.3, 2),
                         .azimuth_rad = {.value = 0.8, .open = {}},
                         .sigma = {.value = 0.75, .open = {}},
                         .vs_m_s = {}},
          .boundary = {.kind = kind, .width = kind == Boundary::Kind::zero ? 0 : 5, .seed = 3},
          // Beside a cut of every division, and in a corner.
          .sources = {{.cell = {10, 9, 7}, .values = ricker_values(60, -0.05, 1, 8e-4, 20)},
                      {.cell = {0, 0, 14}, .values = {0.5, -0.25}}},
          .precision = h5::ElementType::float32};
}

}  // namespace tailrace::seismic
