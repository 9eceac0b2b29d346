// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/system.hpp"
#include "solver_loops.hpp"
#include "tailrace/error.hpp"

/// The second part of a step: diffusion, implicit, by conjugate gradients with the reciprocal diagonal,
/// always as many iterations. Unknowns are the points inside of elements and the mortar points.
namespace tailrace::heat {

void Solver::read_boundary(std::size_t batch, const std::vector<double>& mortar_values, Whole& into) const {
  for_each_lane(batch, [&](std::size_t element, std::size_t lane) {
    const Pattern& pattern = mortars_.pattern(element);
    const auto slots = mortars_.slots_of(element);
    const auto value = [&](std::int32_t column) {
      return mortar_values[static_cast<std::size_t>(slots[static_cast<std::size_t>(column)])];
    };
    if (pattern.is_plain())
      for (std::size_t c = 0; c < boundary_points; ++c)
        into.value(static_cast<std::size_t>(Pattern::plain_points()[c]), lane) =
            value(static_cast<std::int32_t>(c));
    else
      pattern.to_points(value, [&](std::int32_t point, double sum) {
        into.value(static_cast<std::size_t>(point), lane) = sum;
      });
  });
}

void Solver::write_contributions(std::size_t batch, const Whole& from) {
  for_each_lane(batch, [&](std::size_t element, std::size_t lane) {
    const Pattern& pattern = mortars_.pattern(element);
    double* const out = contributions_.data() + mortars_.first(element);
    if (pattern.is_plain())
      for (std::size_t c = 0; c < boundary_points; ++c)
        out[c] = from.value(static_cast<std::size_t>(Pattern::plain_points()[c]), lane);
    else
      pattern.to_columns(
          [&](std::int32_t point) { return from.value(static_cast<std::size_t>(point), lane); },
          [&](std::int32_t column, double sum) { out[column] = sum; });
  });
}

/// The residual of the continuous field: what is left for the correction.
void Solver::start_residual() {
  for_each_batch([&](std::size_t b) {
    Whole product;
    apply_operator(scales_[b].stiffness, scales_[b].mass / problem_.dt, field_[b], product);
    Lanes sum{};
    for (std::size_t p = 0; p < element_points; ++p) product.at[p] = residual_[b].at[p] - product.at[p];
    for (std::size_t p = 0; p < inner_points; ++p) {
      const Lanes left = product.at[whole_point(p)];
      inner_residual_[b].at[p] = left;
      direction_[b].at[p] = correction_[b].at[p] = Lanes{};
      sum += inverse_[b].at[p] * left * left;
    }
    lane_sums_[b].at[0] = sum;
    write_contributions(b, product);
  });
  scatter(mortar_residual_);
  std::fill(mortar_direction_.begin(), mortar_direction_.end(), 0.0);
  std::fill(mortar_correction_.begin(), mortar_correction_.end(), 0.0);
}

void Solver::diffuse() {
  const double start_s = monotonic_s();
  start_residual();
  double square = total([&](std::size_t slot) {
    return mortar_inverse_[slot] * mortar_residual_[slot] * mortar_residual_[slot];
  });
  double keep = 0;
  for (int iteration = 0; iteration < problem_.cg_iterations && square != 0; ++iteration) {
    const double energy = apply_to_direction(keep);
    const double next = follow_direction(square / energy);
    keep = next / square;
    square = next;
  }
  if (!std::isfinite(square))
    throw Error(ErrorKind::unstable,
                fmt::format("step {}: the field has left the range of its numbers", step_),
                "a smaller time.dt_s");
  add_correction();
  phases_.diffusion_s += monotonic_s() - start_s;
}

/// The next direction, of which the last one is kept to this part, and the operator applied to it; returns
/// the product of both.
double Solver::apply_to_direction(double keep) {
  for (std::size_t slot = 0; slot < mortars_.owned(); ++slot)
    mortar_direction_[slot] = mortar_inverse_[slot] * mortar_residual_[slot] + keep * mortar_direction_[slot];
  gather(mortar_direction_);
  for_each_batch([&](std::size_t b) {
    Whole direction, product;
    for (std::size_t p = 0; p < inner_points; ++p) {
      const Lanes next = inverse_[b].at[p] * inner_residual_[b].at[p] + keep * direction_[b].at[p];
      direction_[b].at[p] = next;
      direction.at[whole_point(p)] = next;
    }
    read_boundary(b, mortar_direction_, direction);
    apply_operator(scales_[b].stiffness, scales_[b].mass / problem_.dt, direction, product);
    Lanes sum{};
    for (std::size_t p = 0; p < inner_points; ++p) {
      product_[b].at[p] = product.at[whole_point(p)];
      sum += direction_[b].at[p] * product_[b].at[p];
    }
    lane_sums_[b].at[0] = sum;
    write_contributions(b, product);
  });
  scatter(mortar_product_);
  return total([&](std::size_t slot) { return mortar_direction_[slot] * mortar_product_[slot]; });
}

/// Follows the direction; returns the square of the residual behind it.
double Solver::follow_direction(double length) {
  for_each_batch([&](std::size_t b) {
    Lanes sum{};
    for (std::size_t p = 0; p < inner_points; ++p) {
      correction_[b].at[p] += length * direction_[b].at[p];
      const Lanes left = inner_residual_[b].at[p] - length * product_[b].at[p];
      inner_residual_[b].at[p] = left;
      sum += inverse_[b].at[p] * left * left;
    }
    lane_sums_[b].at[0] = sum;
  });
  return total([&](std::size_t slot) {
    mortar_correction_[slot] += length * mortar_direction_[slot];
    const double left = mortar_residual_[slot] - length * mortar_product_[slot];
    mortar_residual_[slot] = left;
    return mortar_inverse_[slot] * left * left;
  });
}

void Solver::add_correction() {
  gather(mortar_correction_);
  for_each_batch([&](std::size_t b) {
    Whole correction;
    read_boundary(b, mortar_correction_, correction);
    for (std::size_t p = 0; p < inner_points; ++p) correction.at[whole_point(p)] = correction_[b].at[p];
    for (std::size_t p = 0; p < element_points; ++p) field_[b].at[p] += correction.at[p];
  });
}

}  // namespace tailrace::heat
