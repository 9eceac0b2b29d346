// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/system.hpp"
#include "element_loops.hpp"
#include "elements_of.hpp"

/// The first part of a step: convection and source, element by element, by the classical method of Runge and
/// Kutta, and the averages at mortar points that make the field continuous.
namespace tailrace::heat {

void Elements::convect(double time) {
  time_ = time;
  const double start_s = monotonic_s();
  const auto each = [&](std::size_t b) { convect_batch(b); };
  for_each_batch(rim_, each);
  for_each_batch(early_, each);
  overlap(late_, begin_scatter(mortar_direction_), phases_.scatter_s, each);
  for (std::size_t slot = 0, owned = mortars_.owned(); slot < owned; ++slot)
    mortar_direction_[slot] *= mortar_average_[slot];
  phases_.convection_s += monotonic_s() - start_s;
}

template <int order>
void ElementsOf<order>::convect_batch(std::size_t batch) {
  const double dt = problem_.dt;
  const Ball balls[]{problem_.ball_at(time_), problem_.ball_at(time_ + dt / 2), problem_.ball_at(time_ + dt)};
  Whole<order>& field = field_[batch];
  Whole<order> source{}, slope, sum, stage = field;
  bool has_source = false;
  for (int i = 0; i < 4; ++i) {
    if (i != 2) {
      if (has_source) source = {};
      has_source = fill_source(batch, balls[(i + 1) / 2], source);
    }
    tailrace::heat::convect<order>(problem_.velocity, scales_[batch].gradient, source, stage, slope);
    const double share = i == 1 || i == 2 ? 2 : 1, next = i == 2 ? dt : dt / 2;
    for (std::size_t p = 0; p < element_points<order>; ++p) {
      sum.at[p] = i == 0 ? slope.at[p] : sum.at[p] + share * slope.at[p];
      stage.at[p] = field.at[p] + next * slope.at[p];
    }
  }
  for (std::size_t p = 0; p < element_points<order>; ++p) sum.at[p] /= 6.0;
  clear_boundary(batch, sum);
  for (std::size_t p = 0; p < element_points<order>; ++p) {
    residual_[batch].at[p] = point_weights<order>[p] * scales_[batch].mass * (field.at[p] / dt + sum.at[p]);
    field.at[p] += dt * sum.at[p];
  }
  batch_mortars_.write_averages(batch, field, contributions_.data());
}

/// Sets the source in the elements that the ball touches, and returns whether there are any; the others keep
/// what they have, zeros.
template <int order>
bool ElementsOf<order>::fill_source(std::size_t batch, const Ball& ball, Whole<order>& source) const {
  constexpr std::size_t n = points<order>;
  bool touched = false;
  for_each_lane(batch, [&](std::size_t element, std::size_t lane) {
    const Leaf& leaf = forest_.leaves[element];
    if (ball.square_distance(leaf) > ball.radius * ball.radius) return;
    touched = true;
    const double half = to_length(leaf.size()) / 2;
    const auto at = [&](std::size_t axis, std::size_t i) {
      return to_length(leaf.low[axis]) + half * (gll_places<order>[i] + 1);
    };
    for (std::size_t p = 0; p < element_points<order>; ++p)
      source.value(p, lane) = ball.source(at(0, p % n), at(1, p / n % n), at(2, p / (n * n)));
  });
  return touched;
}

/// The field does not change on the boundary of the domain.
template <int order>
void ElementsOf<order>::clear_boundary(std::size_t batch, Whole<order>& change) const {
  constexpr std::size_t n = points<order>;
  for_each_lane(batch, [&](std::size_t element, std::size_t lane) {
    const Leaf& leaf = forest_.leaves[element];
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (const bool high : {false, true}) {
        if (high ? leaf.low[axis] + leaf.size() != unit_length : leaf.low[axis] != 0) continue;
        const std::size_t stride = axis == 0 ? 1 : axis == 1 ? n : n * n;
        for (std::size_t p = 0; p < element_points<order>; ++p)
          if (p / stride % n == (high ? n - 1 : 0)) change.value(p, lane) = 0;
      }
  });
}

#define TAILRACE_COMPILE(order) template void ElementsOf<order>::convect_batch(std::size_t batch);
TAILRACE_FOR_EACH_ORDER(TAILRACE_COMPILE)
#undef TAILRACE_COMPILE

}  // namespace tailrace::heat
