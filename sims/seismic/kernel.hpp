// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "grid.hpp"
#include "tailrace/box.hpp"

/// One time step on a box of points: free of MPI, input and output.
namespace tailrace::seismic {

/// Describes which terms the equations have.
enum class Equations {
  isotropic,  ///< p only
  vti,        ///< axis along z
  tti,        ///< axis anywhere
};
const char* to_string(Equations equations) noexcept;

/// A coefficient at each point, or one row of equal values that serves all rows (distances 0).
template <class Real>
struct Coefficient {
  const Real* first = nullptr;  ///< at the low corner of the box
  std::int64_t stride_y = 0, stride_z = 0;

  [[nodiscard]] const Real* row(std::int64_t y, std::int64_t z) const noexcept {
    return first + z * stride_z + y * stride_y;
  }
};

/// Weights of the derivatives along an axis, with the spacing in them.
template <class Real>
struct Weights {
  std::array<Real, reach> first{};       ///< refers to f(+k) - f(-k), k = 1..4
  std::array<Real, reach + 1> second{};  ///< refers to f(0), then of f(+k) + f(-k)

  static Weights of_spacing(double spacing_m);
};

/// Sum of the magnitudes of the second derivative's weights for spacing 1, both sides: the largest value of
/// its symbol.
double largest_symbol() noexcept;

/// All that a step reads and writes. Pointers are those of the low corner of the rank's box.
template <class Real>
struct StepArrays {
  Equations equations = Equations::tti;
  const Real *p = nullptr, *q = nullptr;        ///< current level, with halos
  Real *p_other = nullptr, *q_other = nullptr;  ///< the level before, replaced by the one after
  std::int64_t stride_y = 0, stride_z = 0;      ///< refers to the fields
  Coefficient<Real> speed;                      ///< (dt vpz)^2
  Coefficient<Real> across, moveout;            ///< 1 + 2 epsilon, 1 + 2 delta
  Coefficient<Real> shear;                      ///< (vsz / vpz)^2
  std::array<Coefficient<Real>, 3> axis;        ///< components of the symmetry axis along x, y, z
  std::array<Weights<Real>, 3> weights;         ///< along x, y, z
  std::array<const Real*, 3> damping{};  ///< refers to a sponge, to be added up over the axes; null: none
};

/// Takes the points of `box`, counted from the low corner of the rank's box, from one level to the next but
/// one: other = 2 now - other + dt^2 (right-hand side of now). The value of a point does not depend on the
/// box that it is computed in, nor on the number of threads.
template <class Real>
void update(const StepArrays<Real>& arrays, const Box& box);

}  // namespace tailrace::seismic
