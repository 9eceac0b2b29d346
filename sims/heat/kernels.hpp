// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "ball.hpp"
#include "batch.hpp"

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
template <int order>
Lanes apply_operator(const Lanes& stiffness, const Lanes& mass, const Whole<order>& from,
                     Whole<order>& into) noexcept;

/// The change of a field per time: `source` - v grad `field`.
template <int order>
void convect(const Vec3& velocity, const Lanes& gradient, const Whole<order>& source,
             const Whole<order>& field, Whole<order>& change) noexcept;

template <int order>
constexpr std::array<double, element_points<order>> make_point_weights() noexcept {
  constexpr std::size_t n = points<order>;
  const auto& along = gll_weights<order>;
  std::array<double, element_points<order>> all{};
  for (std::size_t p = 0; p < element_points<order>; ++p)
    all[p] = along[p % n] * along[p / n % n] * along[p / (n * n)];
  return all;
}
/// Of each point, the product of its weights.
template <int order>
inline constexpr auto point_weights = make_point_weights<order>();

}  // namespace tailrace::heat
