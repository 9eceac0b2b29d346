// SPDX-License-Identifier: BSD-3-Clause
#include "device_kernels.hpp"

#include "device/launch.hpp"

namespace tailrace::ultrasound::on_device {

namespace {

/// Where a number of a kernel is: whole divisions of 32 bits, which are fast.
struct Place {
  std::uint32_t x, y, z;
};
TAILRACE_KERNEL inline Place place_of(std::int64_t i, std::uint32_t nx, std::uint32_t ny) {
  const auto at = static_cast<std::uint32_t>(i), row = at / nx;
  return {at - row * nx, row % ny, row / ny};
}

/// `std::array` has no functions for devices.
template <class T>
struct Three {
  T of[3];
};
template <class T>
Three<T> three(const std::array<T, 3>& values) {
  return {{values[0], values[1], values[2]}};
}

template <class Real>
TAILRACE_KERNEL inline Complex<Real> times(Complex<Real> a, Complex<Real> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class Real>
TAILRACE_KERNEL inline Complex<Real> times(Complex<Real> a, Real b) {
  return {a.re * b, a.im * b};
}

/// The place of a column's z in a table, which has half of them.
TAILRACE_KERNEL inline std::int64_t in_table(const Place& at, const ColumnBlock& block) {
  const std::uint32_t half = block.nz / 2, z = at.z <= half ? at.z : block.nz - at.z;
  return (std::int64_t{at.y} * (half + 1) + z) * block.kx + at.x;
}
TAILRACE_KERNEL inline std::uint32_t along(int axis, const Place& at) {
  return axis == 0 ? at.x : axis == 1 ? at.y : at.z;
}
template <class Real>
TAILRACE_KERNEL inline Real value(const Parameter<Real>& parameter, std::int64_t i) {
  return parameter.values != nullptr ? parameter.values[i] : parameter.constant;
}
/// Of real numbers in place of a spectrum.
TAILRACE_KERNEL inline std::int64_t in_spectrum(const Place& at, const Points& points) {
  return (std::int64_t{at.z} * points.ny + at.y) * 2 * points.pitch + at.x;
}

template <class Real>
struct ShareGradient {
  ColumnBlock block;
  Complex<Real>*first, *second;
  const Real* kappa;
  const Complex<Real>* along_z;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    const Place at = place_of(i, block.kx, block.y);
    const auto scaled = times(first[i], kappa[in_table(at, block)]);
    first[i] = scaled;
    second[i] = times(scaled, along_z[at.z]);
  }
};

template <class Real>
struct Multiply {
  ColumnBlock block;
  Three<Complex<Real>*> spectra;
  Three<const Real*> tables;
  Three<const Complex<Real>*> factors;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    const Place at = place_of(i, block.kx, block.y);
    for (int s = 0; s < 3; ++s) {
      if (spectra.of[s] == nullptr) continue;
      auto result = spectra.of[s][i];
      if (tables.of[s] != nullptr) result = times(result, tables.of[s][in_table(at, block)]);
      if (factors.of[s] != nullptr) result = times(result, factors.of[s][along(s, at)]);
      spectra.of[s][i] = result;
    }
  }
};

template <class Real>
struct Differentiate {
  Points points;
  Complex<Real>*in, *out;
  const Complex<Real>*along_x, *along_y;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    const Place at = place_of(i, points.pitch, points.ny);
    const auto before = in[i];
    if (along_x != nullptr) out[i] = times(before, along_x[at.x]);
    if (along_y != nullptr) in[i] = times(before, along_y[at.y]);
  }
};

template <class Real>
struct UpdateVelocity {
  Points points;
  VelocityUpdate<Real> update;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    const Place at = place_of(i, points.nx, points.ny);
    const Real change = value(update.dt_over_rho0, i) * update.gradient[in_spectrum(at, points)];
    Real u = 0;
    if (update.initial) {
      u = Real(0.5) * change;
    } else {
      const Real layer = update.layer[along(update.axis, at)];
      u = layer * (layer * update.u[i] - change);
    }
    if (update.pattern.values != nullptr) u += update.pattern.factor * update.pattern.values[i];
    update.u[i] = u;
  }
};

template <class Real>
struct UpdateDensity {
  Points points;
  bool updates_density, updates_pressure, nonlinear, stokes;
  Three<Real*> rho;
  Three<const Real*> gradients, layers;
  Pattern<Real> pattern;
  Real dt;
  Parameter<Real> rho0, c0_squared, b_over_2a_rho0, absorption;
  Real *p, *mass_flux, *total;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    const Place at = place_of(i, points.nx, points.ny);
    const std::int64_t padded = in_spectrum(at, points);
    Real now[3] = {0, 0, 0};
    for (int axis = 0; axis < 3; ++axis)
      if (rho.of[axis] != nullptr) now[axis] = rho.of[axis][i];
    Real flux = 0;
    if (updates_density)
      flux = advance(i, padded, at, now);
    else if (stokes)
      flux = mass_flux[padded];
    if (updates_pressure) finish(i, padded, sum(now), flux);
  }

 private:
  TAILRACE_KERNEL static Real sum(const Real (&values)[3]) { return values[0] + values[1] + values[2]; }

  /// The densities of a point; returns the mass flux.
  TAILRACE_KERNEL Real advance(std::int64_t i, std::int64_t padded, const Place& at, Real (&now)[3]) const {
    const Real at_rest = value(rho0, i);
    const Real rate = dt * (nonlinear ? at_rest + Real(2) * sum(now) : at_rest);
    const Real added = pattern.values != nullptr ? pattern.factor * pattern.values[i] : Real(0);
    Real slopes[3] = {0, 0, 0};
    for (int axis = 0; axis < 3; ++axis) {
      if (rho.of[axis] == nullptr) continue;
      const Real layer = layers.of[axis][along(axis, at)];
      slopes[axis] = gradients.of[axis][padded];
      now[axis] = layer * (layer * now[axis] - rate * slopes[axis]) + added;
      rho.of[axis][i] = now[axis];
    }
    const Real flux = at_rest * sum(slopes);
    if (mass_flux != nullptr) mass_flux[padded] = flux;
    return flux;
  }

  /// The pressure of a point.
  TAILRACE_KERNEL void finish(std::int64_t i, std::int64_t padded, Real all, Real flux) const {
    const Real squared = nonlinear ? all + value(b_over_2a_rho0, i) * all * all : all;
    Real result = value(c0_squared, i) * squared;
    if (stokes) result += value(absorption, i) * flux;
    p[i] = result;
    if (total != nullptr) total[padded] = all;
  }
};

template <class Real>
struct Lose {
  Points points;
  PowerLawLoss<Real> loss;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    const std::int64_t padded = in_spectrum(place_of(i, points.nx, points.ny), points);
    loss.p[i] +=
        value(loss.absorption, i) * loss.loss[padded] - value(loss.dispersion, i) * loss.delay[padded];
  }
};

template <class Real>
struct ShareDensity {
  const Real* p;
  Parameter<Real> c0_squared;
  Three<Real*> rho;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    Real shares = 0;
    for (const auto* density : rho.of) shares += density != nullptr ? Real(1) : Real(0);
    const Real share = p[i] / (shares * value(c0_squared, i));
    for (auto* density : rho.of)
      if (density != nullptr) density[i] = share;
  }
};

template <class Real>
struct TakeOut {
  Points points;
  const Real* in_place;
  Real* out;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    out[i] = in_place[in_spectrum(place_of(i, points.nx, points.ny), points)];
  }
};

template <class Real>
struct Add {
  Points points;
  const Real* in_place;
  Three<Real*> fields;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    const Real added = in_place[in_spectrum(place_of(i, points.nx, points.ny), points)];
    for (auto* field : fields.of)
      if (field != nullptr) field[i] += added;
  }
};

template <class Real>
TAILRACE_KERNEL inline Real value_of(const SourcePoints<Real>& source, std::int64_t t, std::uint32_t name) {
  if (!source.one_signal) return source.signals[t * source.names_count + name];
  return source.signals[source.delays != nullptr ? t + source.delays[name] : t];
}

template <class Real>
struct ActAtPoints {
  SourcePoints<Real> source;
  std::int64_t t;
  Three<Real*> fields;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    for (std::uint32_t j = source.first[i]; j < source.first[i + 1]; ++j) {
      const Real acts = value_of(source, t, source.names[j]);
      for (auto* field : fields.of) {
        if (field == nullptr) continue;
        Real& there = field[source.at[i]];
        there = source.replaces ? acts : there + acts;
      }
    }
  }
};

template <class Real>
struct Scatter {
  Points points;
  SourcePoints<Real> source;
  std::int64_t t;
  bool ones;
  Real* in_place;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    const std::uint32_t last = source.names[source.first[i + 1] - 1];
    in_place[in_spectrum(place_of(source.at[i], points.nx, points.ny), points)] =
        ones ? Real(1) : value_of(source, t, last);
  }
};

}  // namespace

template <class Real>
void share_gradient(device::Queue& queue, const ColumnBlock& block, Complex<Real>* first,
                    Complex<Real>* second, const Real* kappa, const Complex<Real>* along_z) {
  device::launch(queue, block.count(), ShareGradient<Real>{block, first, second, kappa, along_z});
}

template <class Real>
void multiply(device::Queue& queue, const ColumnBlock& block, const ColumnProducts<Real>& products) {
  device::launch(
      queue, block.count(),
      Multiply<Real>{block, three(products.spectra), three(products.tables), three(products.factors)});
}

template <class Real>
void differentiate(device::Queue& queue, const Points& points, Complex<Real>* in, Complex<Real>* out,
                   const Complex<Real>* along_x, const Complex<Real>* along_y) {
  device::launch(queue, points.spectrum_count(), Differentiate<Real>{points, in, out, along_x, along_y});
}

template <class Real>
void update_velocity(device::Queue& queue, const Points& points, const VelocityUpdate<Real>& update) {
  device::launch(queue, points.count(), UpdateVelocity<Real>{points, update});
}

template <class Real>
void update_density(device::Queue& queue, const Points& points, const DensityUpdate<Real>& update) {
  device::launch(
      queue, points.count(),
      UpdateDensity<Real>{points, update.updates_density, update.updates_pressure, update.nonlinear,
                          update.stokes, three(update.rho), three(update.gradients), three(update.layers),
                          update.pattern, update.dt, update.rho0, update.c0_squared, update.b_over_2a_rho0,
                          update.absorption, update.p, update.mass_flux, update.total});
}

template <class Real>
void lose(device::Queue& queue, const Points& points, const PowerLawLoss<Real>& loss) {
  device::launch(queue, points.count(), Lose<Real>{points, loss});
}

template <class Real>
void share_density(device::Queue& queue, const Points& points, const Real* p,
                   const Parameter<Real>& c0_squared, const std::array<Real*, 3>& rho) {
  device::launch(queue, points.count(), ShareDensity<Real>{p, c0_squared, three(rho)});
}

template <class Real>
void take_out(device::Queue& queue, const Points& points, const Real* in_place, Real* out) {
  device::launch(queue, points.count(), TakeOut<Real>{points, in_place, out});
}

template <class Real>
void add(device::Queue& queue, const Points& points, const Real* in_place,
         const std::array<Real*, 3>& fields) {
  device::launch(queue, points.count(), Add<Real>{points, in_place, three(fields)});
}

template <class Real>
void act_at_points(device::Queue& queue, const SourcePoints<Real>& source, std::int64_t t,
                   const std::array<Real*, 3>& fields) {
  device::launch(queue, source.count, ActAtPoints<Real>{source, t, three(fields)});
}

template <class Real>
void scatter(device::Queue& queue, const Points& points, const SourcePoints<Real>& source, std::int64_t t,
             bool ones, Real* in_place) {
  device::launch(queue, source.count, Scatter<Real>{points, source, t, ones, in_place});
}

#define TAILRACE_FOR(Real)                                                                         \
  template void share_gradient(device::Queue&, const ColumnBlock&, Complex<Real>*, Complex<Real>*, \
                               const Real*, const Complex<Real>*);                                 \
  template void multiply(device::Queue&, const ColumnBlock&, const ColumnProducts<Real>&);         \
  template void differentiate(device::Queue&, const Points&, Complex<Real>*, Complex<Real>*,       \
                              const Complex<Real>*, const Complex<Real>*);                         \
  template void update_velocity(device::Queue&, const Points&, const VelocityUpdate<Real>&);       \
  template void update_density(device::Queue&, const Points&, const DensityUpdate<Real>&);         \
  template void lose(device::Queue&, const Points&, const PowerLawLoss<Real>&);                    \
  template void share_density(device::Queue&, const Points&, const Real*, const Parameter<Real>&,  \
                              const std::array<Real*, 3>&);                                        \
  template void take_out(device::Queue&, const Points&, const Real*, Real*);                       \
  template void add(device::Queue&, const Points&, const Real*, const std::array<Real*, 3>&);      \
  template void act_at_points(device::Queue&, const SourcePoints<Real>&, std::int64_t,             \
                              const std::array<Real*, 3>&);                                        \
  template void scatter(device::Queue&, const Points&, const SourcePoints<Real>&, std::int64_t, bool, Real*)

TAILRACE_FOR(float);
TAILRACE_FOR(double);

}  // namespace tailrace::ultrasound::on_device
