// SPDX-License-Identifier: BSD-3-Clause
#include "basis.hpp"

namespace tailrace::heat {

namespace {

/// The inner points' Lagrange polynomials are what is tested with: at the inner points one of them is 1, the
/// others 0, so each row is its integrals over its weight. All integrals are exact by quadrature, over each
/// half.
template <int order>
constexpr Projection<order> make_projection() noexcept {
  const auto& at = gll_places<order>;
  const auto& weights = gll_weights<order>;
  const std::span<const double> tested(at.data() + 1, inner<order>);
  Projection<order> projection{};
  std::array<double, inner<order>> test{};
  const auto add = [&](double place, std::size_t column, double weight) {
    set_lagrange(tested, place, test);
    for (std::size_t i = 0; i < inner<order>; ++i) projection[i + 1][column] += weight * test[i];
  };
  for (const std::size_t half : {0U, 1U})
    for (std::size_t q = 0; q < points<order>; ++q)
      add((at[q] + (half == 0 ? -1 : 1)) / 2, half * order + q, weights[q] / 2);
  add(at.front(), 0, -weights.front());
  add(at.back(), both_halves<order> - 1, -weights.back());
  for (std::size_t i = 0; i < inner<order>; ++i)
    for (double& factor : projection[i + 1]) factor /= weights[i + 1];
  projection.front().front() = projection.back().back() = 1;
  return projection;
}

}  // namespace

template <int order>
const Projection<order>& projection() noexcept {
  static constexpr Projection<order> made = make_projection<order>();
  return made;
}

std::span<const double> gll_places_of(int order) {
  return with_order(order, [](auto known) { return std::span<const double>(gll_places<known>); });
}

#define TAILRACE_COMPILE(order) template const Projection<order>& projection<order>() noexcept;
TAILRACE_FOR_EACH_ORDER(TAILRACE_COMPILE)
#undef TAILRACE_COMPILE

}  // namespace tailrace::heat
