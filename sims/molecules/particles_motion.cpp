// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "integrator.hpp"
#include "particles.hpp"
#include "tailrace/error.hpp"

/// The motion of the molecules of a rank: sums go over batches of a fixed number of molecules, so that they
/// do not depend on the number of threads.
namespace tailrace::molecules {

namespace {

constexpr std::int64_t batch = 1024;

/// Calls `treat(k, first, last)` for each batch k, on all threads.
template <class Treat>
void for_each_batch(std::int64_t count, Treat&& treat) {
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < (count + batch - 1) / batch; ++k)
    treat(k, k * batch, std::min(count, (k + 1) * batch));
}

struct Kinetic {
  double trans = 0, rot = 0;
  std::int64_t freedoms = 0;
};

Spin<double> spin_of(const Columns& own, std::int64_t i) noexcept {
  return {own.turn_of(i), {own.momentum[0][i], own.momentum[1][i], own.momentum[2][i]}};
}
Triple<double> torque_of(const Columns& own, std::int64_t i) noexcept {
  return {own.torque[0][i], own.torque[1][i], own.torque[2][i]};
}
void put(Columns& own, std::int64_t i, const Spin<double>& spin) noexcept {
  own.orientation[0][i] = spin.q.w;
  own.orientation[1][i] = spin.q.x;
  own.orientation[2][i] = spin.q.y;
  own.orientation[3][i] = spin.q.z;
  own.momentum[0][i] = spin.momentum.x;
  own.momentum[1][i] = spin.momentum.y;
  own.momentum[2][i] = spin.momentum.z;
}

double squared_speed(const Columns& own, std::int64_t i) noexcept {
  const double vx = own.velocity[0][i], vy = own.velocity[1][i], vz = own.velocity[2][i];
  return vx * vx + vy * vy + vz * vz;
}

/// Returns whether a molecule moves further than the cutoff, or nowhere any more: its numbers are not finite.
bool moves_too_far(const Columns& own, std::int64_t i, double dt, double cutoff) noexcept {
  bool bad = !(dt * dt * squared_speed(own, i) < cutoff * cutoff);
  if (!own.orientation[0].empty()) bad |= !(own.orientation[0][i] * own.orientation[0][i] < 2);
  return bad;
}

/// to += factor of the component x from, for some molecules.
void add_scaled(Numbers& to, const Numbers& from, const std::vector<double>& factors, const Columns& own,
                std::int64_t first, std::int64_t last) noexcept {
  double* const target = to.data();
  const double* const source = from.data();
  if (own.component.empty()) {
    const double factor = factors[0];
#pragma omp simd
    for (std::int64_t i = first; i < last; ++i) target[i] += factor * source[i];
  } else {
    for (std::int64_t i = first; i < last; ++i) target[i] += factors[own.component_of(i)] * source[i];
  }
}

/// Half a step over the mass of each component.
std::vector<double> half_kicks(const ForceField& field, double dt) {
  std::vector<double> factors;
  for (const auto& component : field.components()) factors.push_back(0.5 * dt / component.mass);
  return factors;
}

/// Of the molecules that are wrong, the one with the lowest id.
template <class IsWrong>
[[noreturn]] void refuse(const Columns& own, const std::string& what, const IsWrong& is_wrong) {
  std::int64_t first = -1;
  for (std::int64_t i = 0; i < own.size(); ++i)
    if (is_wrong(i) && (first < 0 || own.id[i] < own.id[first])) first = i;
  const auto text = [&](const auto& columns) {
    return fmt::format("({:.6g}, {:.6g}, {:.6g})", columns[0][first], columns[1][first], columns[2][first]);
  };
  throw Error({.kind = ErrorKind::unstable,
               .message = fmt::format("molecule {} {}: it is at {} with the velocity {}", own.id[first], what,
                                      text(own.position), text(own.velocity)),
               .path = {},
               .hint = "dt is too large, or molecules of the start are too close to each other"});
}

}  // namespace

void Particles::kick_drift(double dt) {
  const double cutoff = field_.model().cutoff;
  const std::vector<double> kicks = half_kicks(field_, dt), drifts(kicks.size(), dt);
  std::vector<char> bad(static_cast<std::size_t>((size() + batch - 1) / batch), 0);
  for_each_batch(size(), [&](std::int64_t k, std::int64_t first, std::int64_t last) {
    for (std::size_t d = 0; d < 3; ++d) {
      add_scaled(own_.velocity[d], own_.force[d], kicks, own_, first, last);
      add_scaled(own_.position[d], own_.velocity[d], drifts, own_, first, last);
    }
    if (field_.rotates())
      for (std::int64_t i = first; i < last; ++i)
        put(own_, i,
            kick_turn(spin_of(own_, i), torque_of(own_, i),
                      field_.components()[own_.component_of(i)].inverse_inertia, dt));
    bool wrong = false;
    for (std::int64_t i = first; i < last; ++i) wrong |= moves_too_far(own_, i, dt, cutoff);
    bad[static_cast<std::size_t>(k)] = wrong ? 1 : 0;
  });
  if (std::find(bad.begin(), bad.end(), 1) != bad.end())
    refuse(own_, fmt::format("moved by more than the cutoff {} in one step of dt = {}", cutoff, dt),
           [&](std::int64_t i) { return moves_too_far(own_, i, dt, cutoff); });
}

void Particles::kick(double dt, Totals& totals) {
  const std::vector<double> kicks = half_kicks(field_, dt), torque_kicks(kicks.size(), 0.5 * dt);
  for_each_batch(size(), [&](std::int64_t /*k*/, std::int64_t first, std::int64_t last) {
    for (std::size_t d = 0; d < 3; ++d) {
      add_scaled(own_.velocity[d], own_.force[d], kicks, own_, first, last);
      if (field_.rotates()) add_scaled(own_.momentum[d], own_.torque[d], torque_kicks, own_, first, last);
    }
  });
  sum_kinetic(totals);
}

void Particles::sum_kinetic(Totals& totals) const {
  std::vector<Kinetic> sums(static_cast<std::size_t>((size() + batch - 1) / batch));
  for_each_batch(size(), [&](std::int64_t k, std::int64_t first, std::int64_t last) {
    Kinetic sum;
    for (std::int64_t i = first; i < last; ++i) {
      const CompiledComponent& component = field_.components()[own_.component_of(i)];
      double squared = 0;
      for (const auto& velocity : own_.velocity) squared += velocity[i] * velocity[i];
      sum.trans += component.mass * squared;
      sum.freedoms += component.rotational_freedoms;
      if (field_.rotates()) sum.rot += twice_rotational_energy(spin_of(own_, i), component);
    }
    sums[static_cast<std::size_t>(k)] = sum;
  });
  const auto is_finite = [](const Kinetic& sum) { return std::isfinite(sum.trans + sum.rot); };
  if (!std::all_of(sums.begin(), sums.end(), is_finite))
    refuse(own_, "has a kinetic energy that is not finite", [this](std::int64_t i) {
      return !std::isfinite(squared_speed(own_, i)) ||
             (field_.rotates() && !std::isfinite(twice_rotational_energy(
                                      spin_of(own_, i), field_.components()[own_.component_of(i)])));
    });
  for (const Kinetic& sum : sums) {
    totals.twice_kinetic_trans += sum.trans;
    totals.twice_kinetic_rot += sum.rot;
    totals.rotational_freedoms += sum.freedoms;
  }
  totals.molecules += size();
}

void Particles::scale(const Scaling& factors) {
  const auto all = [count = size()](auto& columns, double factor) {
    for (Numbers& column : columns)
      for (std::int64_t i = 0; i < count; ++i) column[i] *= factor;
  };
  all(own_.velocity, factors.trans);
  if (field_.rotates()) all(own_.momentum, factors.rot);
}

}  // namespace tailrace::molecules
