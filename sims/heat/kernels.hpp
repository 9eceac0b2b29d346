// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "batch.hpp"
#include "problem.hpp"

/// What is computed within elements, for those of a batch at a time.
namespace tailrace::heat {

/// What the operators of a batch depend on, per lane: the sizes of the elements.
struct Scales {
  Lanes stiffness{};  ///< viscosity h / 2
  Lanes mass{};       ///< (h / 2)^3
  Lanes gradient{};   ///< 2 / h
};

/// The operator of an element, `stiffness` K + `mass` B, applied to `from`; returns the products of both,
/// summed up.
Lanes apply_operator(const Lanes& stiffness, const Lanes& mass, const Whole& from, Whole& into) noexcept;

/// The change of a field per time: `source` - v grad `field`.
void convect(const Vec3& velocity, const Lanes& gradient, const Whole& source, const Whole& field,
             Whole& change) noexcept;

/// The product of the weights of a point.
double weight_of(std::size_t point) noexcept;

}  // namespace tailrace::heat
