// SPDX-License-Identifier: BSD-3-Clause
#include "long_range.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "tailrace/error.hpp"

namespace tailrace::molecules {

namespace {

/// Integrals over the outside of the cutoff of one power of the potential: of the energy and of the virial.
struct Tail {
  double energy, virial;
};

/// The terms with exponent n (-6 or -3) of r^2 for centres at the distances tau_a and tau_b from theirs.
class TailOf {
 public:
  TailOf(double cutoff, double sigma2, double tau_a, double tau_b) noexcept
      : rc_(cutoff), sigma2_(sigma2), a_(tau_a), b_(tau_b) {}

  [[nodiscard]] Tail term(int n) const noexcept {
    const double scale = std::pow(sigma2_, n);
    if (a_ == 0 && b_ == 0) {
      const double x = -std::pow(rc_, 2 * n + 3) / (scale * (2 * n + 3));
      return {x, 2 * n * x};
    }
    return a_ == 0 || b_ == 0 ? one_off_centre(n, a_ + b_, scale) : both_off_centre(n, scale);
  }

 private:
  [[nodiscard]] Tail one_off_centre(int n, double tau, double scale) const noexcept {
    const auto difference = [&](int k) { return std::pow(rc_ + tau, k) - std::pow(rc_ - tau, k); };
    const double common = 4 * scale * tau * (n + 1);
    const double x = -rc_ * difference(2 * n + 3) / (common * (2 * n + 3)) +
                     difference(2 * n + 4) / (common * (2 * n + 3) * (2 * n + 4));
    return {x, -rc_ * rc_ * difference(2 * n + 2) / common - 3 * x};
  }

  [[nodiscard]] Tail both_off_centre(int n, double scale) const noexcept {
    const double plus = a_ + b_, minus = a_ - b_;
    const auto mixed = [&](int k) {
      return std::pow(rc_ + plus, k) - std::pow(rc_ + minus, k) - std::pow(rc_ - minus, k) +
             std::pow(rc_ - plus, k);
    };
    const double common = 8 * scale * a_ * b_ * (n + 1) * (2 * n + 3);
    const double x = -rc_ * mixed(2 * n + 4) / (common * (2 * n + 4)) +
                     mixed(2 * n + 5) / (common * (2 * n + 4) * (2 * n + 5));
    return {x, -rc_ * rc_ * mixed(2 * n + 3) / common - 3 * x};
  }

  double rc_, sigma2_, a_, b_;
};

double distance(const CompiledComponent& component, int centre) noexcept {
  const auto& place = component.places[static_cast<std::size_t>(centre)];
  return std::sqrt(dot(place, place));
}

/// Adds epsilon24 [X(-6) - X(-3)] and the same of Y over the centres of two components.
Tail tail_of(const ForceField& field, std::size_t k, std::size_t l) {
  const auto &first = field.components()[k], &second = field.components()[l];
  const LennardJonesPair* pair = field.centre_pairs(k, l);
  const double cutoff = field.model().lj_cutoff;
  Tail total{0, 0};
  for (int a = 0; a < first.centres; ++a)
    for (int b = 0; b < second.centres; ++b, ++pair) {
      if (pair->shift6 != 0) continue;
      const double tau_a = distance(first, a), tau_b = distance(second, b);
      if (tau_a + tau_b >= cutoff)
        throw Error(
            ErrorKind::input,
            fmt::format(
                "the long-range correction needs an LJ cutoff above {}: centres of components {} and {} "
                "are that far from their centres of mass; lj_cutoff is {}",
                tau_a + tau_b, k + 1, l + 1, cutoff));
      const TailOf tail(cutoff, pair->sigma2, tau_a, tau_b);
      const Tail repulsion = tail.term(-6), attraction = tail.term(-3);
      total.energy += pair->epsilon24 * (repulsion.energy - attraction.energy);
      total.virial += pair->epsilon24 * (repulsion.virial - attraction.virial);
    }
  return total;
}

/// Square of the dipole that the charges and dipoles of a component have together.
double squared_dipole(const CompiledComponent& component) noexcept {
  Triple<double> total;
  for (int s = 0; s < component.charges; ++s)
    total += component.strengths[s] * component.places[component.centres + s];
  for (int s = 0; s < component.dipoles; ++s)
    total += component.strengths[component.charges + s] * component.directions[s];
  return dot(total, total);
}

}  // namespace

Corrections corrections(const ForceField& field, std::span<const std::int64_t> molecules, double volume) {
  Corrections result;
  const std::size_t n = field.components().size();
  const auto count = [&molecules](std::size_t k) { return static_cast<double>(molecules[k]); };
  if (field.model().long_range == LongRange::homogeneous)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t l = 0; l < n; ++l) {
        const Tail tail = tail_of(field, k, l);
        const double scale = std::numbers::pi * count(k) * count(l) / (3 * volume);
        result.u_lj += scale * tail.energy;
        result.virial -= scale * tail.virial;
      }
  for (std::size_t k = 0; k < n; ++k)
    result.u_self -= 0.5 * field.reaction_field() * count(k) * squared_dipole(field.components()[k]);
  result.virial += 3 * result.u_self;
  return result;
}

}  // namespace tailrace::molecules
