// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/system.hpp"
#include "element_loops.hpp"
#include "elements_of.hpp"
#include "tailrace/error.hpp"

/// The second part of a step: diffusion, implicit, by conjugate gradients with the reciprocal diagonal:
/// always as many iterations, or to a tolerance. Unknowns are the points inside of elements and the mortar
/// points.
namespace tailrace::heat {

namespace {

/// Sets `out` to so many weighted squares.
void weighted_squares(const double* weights, const double* values, std::size_t count, double* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = weights[i] * values[i] * values[i];
}

}  // namespace

/// What conjugate gradients have left: squares of the residual, in the norm of the preconditioner.
void Elements::check_residual(double square, double first) const {
  if (!std::isfinite(square))
    throw Error(ErrorKind::unstable,
                fmt::format("step {}: the field has left the range of its numbers", step_),
                "a smaller time.dt_s");
  if (problem_.solver == SolverRule::converged && square > goal_of(first))
    throw Error(
        ErrorKind::unstable,
        fmt::format("step {}: {} iterations of conjugate gradients have brought the residual to {:.3g} "
                    "of what it was, not to heat.cg_tolerance = {}",
                    step_, problem_.cg_iterations, std::sqrt(square / first), problem_.cg_tolerance),
        "a larger heat.cg_iterations or heat.cg_tolerance, or a smaller time.dt_s");
}

/// The square at which iterations end.
double Elements::goal_of(double first) const noexcept {
  return problem_.cg_tolerance * problem_.cg_tolerance * first;
}

int Elements::diffuse() {
  const double start_s = monotonic_s();
  const double first = start_residual();
  double square = first, keep = 0;
  int iteration = 0;
  for (; iteration < problem_.cg_iterations && square > goal_of(first); ++iteration) {
    const double energy = apply_to_direction(keep);
    const double next = follow_direction(square / energy);
    keep = next / square;
    square = next;
  }
  check_residual(square, first);
  add_correction();
  phases_.diffusion_s += monotonic_s() - start_s;
  return iteration;
}

template <int order>
double ElementsOf<order>::start_residual() {
  exchange_around(mortar_direction_, mortar_residual_, [&](std::size_t b) {
    Whole<order> product;
    batch_mortars_.read(b, mortar_direction_.data(), field_[b]);
    apply_operator<order>(scales_[b].stiffness, scales_[b].mass / problem_.dt, field_[b], product);
    Lanes sum{};
    for (std::size_t p = 0; p < element_points<order>; ++p)
      product.at[p] = residual_[b].at[p] - product.at[p];
    for (std::size_t p = 0; p < inner_points<order>; ++p) {
      const Lanes left = product.at[whole_point<order>(p)];
      inner_residual_[b].at[p] = left;
      direction_[b].at[p] = correction_[b].at[p] = Lanes{};
      sum += inverse_[b].at[p] * left * left;
    }
    lane_sums_[b].at[0] = sum;
    batch_mortars_.write(b, product, contributions_.data());
  });
  std::fill(mortar_direction_.begin(), mortar_direction_.end(), 0.0);
  std::fill(mortar_correction_.begin(), mortar_correction_.end(), 0.0);
  Sum sum = element_sum();
  mortars_.add_products<order>(sum, [&](std::size_t first, std::size_t count, double* out) {
    weighted_squares(&mortar_inverse_[first], &mortar_residual_[first], count, out);
  });
  return reduced(sum);
}

template <int order>
double ElementsOf<order>::apply_to_direction(double keep) {
  const std::size_t owned = mortars_.owned();
  for (std::size_t slot = 0; slot < owned; ++slot)
    mortar_direction_[slot] = mortar_inverse_[slot] * mortar_residual_[slot] + keep * mortar_direction_[slot];
  exchange_around(mortar_direction_, mortar_product_, [&](std::size_t b) {
    Whole<order> direction, product;
    for (std::size_t p = 0; p < inner_points<order>; ++p) {
      const Lanes next = inverse_[b].at[p] * inner_residual_[b].at[p] + keep * direction_[b].at[p];
      direction_[b].at[p] = direction.at[whole_point<order>(p)] = next;
    }
    batch_mortars_.read(b, mortar_direction_.data(), direction);
    lane_sums_[b].at[0] =
        apply_operator<order>(scales_[b].stiffness, scales_[b].mass / problem_.dt, direction, product);
    for (std::size_t p = 0; p < inner_points<order>; ++p)
      product_[b].at[p] = product.at[whole_point<order>(p)];
    batch_mortars_.write(b, product, contributions_.data());
  });
  return reduced(element_sum());
}

template <int order>
double ElementsOf<order>::follow_direction(double length) {
  for_each_batch([&](std::size_t b) {
    Lanes sum{};
    for (std::size_t p = 0; p < inner_points<order>; ++p) {
      correction_[b].at[p] += length * direction_[b].at[p];
      const Lanes left = inner_residual_[b].at[p] - length * product_[b].at[p];
      inner_residual_[b].at[p] = left;
      sum += inverse_[b].at[p] * left * left;
    }
    lane_sums_[b].at[0] = sum;
  });
  Sum sum = element_sum();
  mortars_.add_products<order>(sum, [&](std::size_t first, std::size_t count, double* out) {
    double *const residual = &mortar_residual_[first], *const correction = &mortar_correction_[first];
    const double *const direction = &mortar_direction_[first], *const product = &mortar_product_[first];
    for (std::size_t i = 0; i < count; ++i) {
      correction[i] += length * direction[i];
      residual[i] -= length * product[i];
    }
    weighted_squares(&mortar_inverse_[first], residual, count, out);
  });
  return reduced(sum);
}

template <int order>
void ElementsOf<order>::add_correction() {
  const auto add = [&](std::size_t b) {
    Whole<order> correction;
    batch_mortars_.read(b, mortar_correction_.data(), correction);
    for (std::size_t p = 0; p < inner_points<order>; ++p)
      correction.at[whole_point<order>(p)] = correction_[b].at[p];
    for (std::size_t p = 0; p < element_points<order>; ++p) field_[b].at[p] += correction.at[p];
  };
  auto flight = begin_gather(mortar_correction_);
  for_each_batch(early_, add);
  overlap(late_, std::move(flight), phases_.gather_s, add);
  for_each_batch(rim_, add);
}

#define TAILRACE_COMPILE(order)                                       \
  template double ElementsOf<order>::start_residual();                \
  template double ElementsOf<order>::apply_to_direction(double keep); \
  template double ElementsOf<order>::follow_direction(double length); \
  template void ElementsOf<order>::add_correction();
TAILRACE_FOR_EACH_ORDER(TAILRACE_COMPILE)
#undef TAILRACE_COMPILE

}  // namespace tailrace::heat
