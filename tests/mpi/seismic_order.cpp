// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "mpi_case.hpp"
#include "solver.hpp"

/// The observed order of the solver's own time loop for a plane wave in a periodic box. The solver has no
/// periodic boundary, but its state, which a checkpoint passes through, gives access to both levels of its
/// fields: the test starts the wave there, and before each step fills the halo around the grid with the
/// values of the opposite side. Everything else is `Solver::advance`.
namespace tailrace::seismic {

namespace {

using Vector3 = std::array<double, 3>;

constexpr double vp_m_s = 3000, epsilon = 0.24, delta = 0.1, sigma = 0.75, dip = 0.7, azimuth = 1.1;
constexpr double two_pi = 2 * std::numbers::pi;

Parameter value(double number) {
  return {.value = number, .open = {}};
}

Vector3 axis_of(Equations equations) {
  if (equations != Equations::tti) return {0, 0, 1};
  return {std::sin(dip) * std::cos(azimuth), std::sin(dip) * std::sin(azimuth), std::cos(dip)};
}

/// A grid in a box of constant size whose axes differ in length, points and spacing.
struct Grid {
  std::int64_t scale = 1;

  [[nodiscard]] std::array<std::int64_t, 3> points() const { return {5 * scale, 6 * scale, 7 * scale}; }
  [[nodiscard]] Vector3 spacing_m() const {
    const double fine = 12.0 / static_cast<double>(scale);
    return {fine, 0.9 * fine, 1.1 * fine};
  }
};

/// Each wave runs once around the box along x and z, and once against y.
constexpr Vector3 waves{1, -1, 1};

/// The wave number of the mode along an axis.
double wave_number(const Grid& grid, std::size_t axis) {
  return two_pi * waves[axis] / (static_cast<double>(grid.points()[axis]) * grid.spacing_m()[axis]);
}

/// Minus the symbols of the derivatives along each pair of axes.
using Symbols = std::array<Vector3, 3>;

Symbols exact_symbols(const Grid& grid) {
  Symbols symbols{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) symbols[i][j] = wave_number(grid, i) * wave_number(grid, j);
  return symbols;
}

/// Those of the differences that represent the derivatives.
Symbols discrete_symbols(const Grid& grid) {
  Vector3 first{}, second{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto weights = Weights<double>::of_spacing(grid.spacing_m()[axis]);
    const double angle = wave_number(grid, axis) * grid.spacing_m()[axis];
    second[axis] = -weights.second[0];
    for (int k = 1; k <= reach; ++k) {
      first[axis] += 2 * weights.first[static_cast<std::size_t>(k - 1)] * std::sin(k * angle);
      second[axis] -= 2 * weights.second[static_cast<std::size_t>(k)] * std::cos(k * angle);
    }
  }
  Symbols symbols{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) symbols[i][j] = i == j ? second[i] : first[i] * first[j];
  return symbols;
}

/// A plane wave: p and q are these parts of cos(k x - frequency t).
struct Mode {
  double p = 1, q = 1, frequency = 0;
};

/// The faster wave (qP) or the slower one (qSV), from the dispersion relation.
Mode mode_of(Equations equations, const Symbols& symbols, bool fast) {
  const auto axis = axis_of(equations);
  double along = 0, total = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    total += symbols[i][i];
    for (std::size_t j = 0; j < 3; ++j) along += axis[i] * axis[j] * symbols[i][j];
  }
  if (equations == Equations::isotropic) return {.frequency = vp_m_s * std::sqrt(total)};
  const double across = total - along, shear = (epsilon - delta) / sigma;
  const double pp = (1 + 2 * epsilon) * across + shear * along, pq = (1 - shear) * along;
  const double qp = (1 + 2 * delta - shear) * across, qq = along + shear * across;
  const double half = (pp + qq) / 2, root = std::sqrt(half * half - (pp * qq - pq * qp));
  const double rate = fast ? half + root : half - root;
  return {.p = 1, .q = (rate - pp) / pq, .frequency = vp_m_s * std::sqrt(rate)};
}

Problem problem_on(const Grid& grid, Equations equations, double dt_s) {
  const auto points = grid.points();
  const bool isotropic = equations == Equations::isotropic;
  return {.cells = {points[0], points[1], points[2]},
          .spacing_m = grid.spacing_m(),
          .dt_s = dt_s,
          .properties = {.equations = equations,
                         .vp_m_s = value(vp_m_s),
                         .epsilon = isotropic ? Parameter{} : value(epsilon),
                         .delta = isotropic ? Parameter{} : value(delta),
                         .dip_rad = value(dip),
                         .azimuth_rad = value(azimuth),
                         .sigma = value(sigma),
                         .vs_m_s = {}},
          .boundary = {},
          .sources = {},
          .precision = h5::ElementType::float64};
}

/// Describes what is done with each level of a field: `level` is 0 for the current one, 1 for that before.
using Visit = std::function<void(const checkpoint::FieldState& field, bool is_q, int level)>;

/// Shows the fields of a solver to a visitor, where they lie.
class Visitor final : public checkpoint::StateArchive {
 public:
  explicit Visitor(Visit visit) : visit_(std::move(visit)) {}
  [[nodiscard]] bool restores() const noexcept override { return false; }

 private:
  int enter(const std::string&, int version) override { return version; }
  void pass_numbers(const std::string&, h5::ElementType, std::vector<std::byte>&) override {}
  void pass_text(const std::string&, std::string&) override {}
  void pass_rows(const std::string&, checkpoint::RowSet&) override {}
  void pass_items(const std::string&, checkpoint::ItemSet&) override {}
  void pass_field(const std::string& name, const checkpoint::FieldState& field) override {
    visit_(field, name.starts_with('q'), name.ends_with("_before") ? 1 : 0);
  }

  Visit visit_;
};

void visit(Solver& solver, const Visit& visit) {
  Visitor visitor(visit);
  solver.state(visitor);
}

double& at(const checkpoint::FieldState& field, std::int64_t x, std::int64_t y, std::int64_t z) {
  return static_cast<double*>(field.data)[z * field.stride_z + y * field.stride_y + x];
}

template <class F>
void for_points(const Index3& n, const F& body) {
  for (std::int64_t z = 0; z < n.z; ++z)
    for (std::int64_t y = 0; y < n.y; ++y)
      for (std::int64_t x = 0; x < n.x; ++x) body(x, y, z);
}

/// Fills the halo of the current levels from the opposite sides.
void close_the_box(Solver& solver) {
  visit(solver, [](const checkpoint::FieldState& field, bool, int level) {
    if (level != 0) return;
    const Index3& n = field.domain;
    const auto inside = [](std::int64_t i, std::int64_t points) { return (i + points) % points; };
    for (std::int64_t z = -reach; z < n.z + reach; ++z)
      for (std::int64_t y = -reach; y < n.y + reach; ++y) {
        const bool crosses = y == inside(y, n.y) && z == inside(z, n.z);  // the grid
        for (std::int64_t x = -reach; x < n.x + reach; ++x) {
          if (crosses && x == 0) x = n.x;
          at(field, x, y, z) = at(field, inside(x, n.x), inside(y, n.y), inside(z, n.z));
        }
      }
  });
}

/// Largest error, over the largest value, after `steps` steps to the time `end_s` of a wave that begins as
/// the mode says.
double error_after(mpi::CommView comm, const Grid& grid, Equations equations, const Mode& mode, double end_s,
                   StepIndex steps) {
  const double dt_s = end_s / static_cast<double>(steps);
  const auto problem = problem_on(grid, equations, dt_s);
  trace::Log log("test");
  Solver solver(comm, problem, survey(comm, problem), log);
  const auto wave = [&](bool is_q, std::int64_t x, std::int64_t y, std::int64_t z, double time_s) {
    const double turns = waves[0] * static_cast<double>(x) / static_cast<double>(problem.cells.x) +
                         waves[1] * static_cast<double>(y) / static_cast<double>(problem.cells.y) +
                         waves[2] * static_cast<double>(z) / static_cast<double>(problem.cells.z);
    return (is_q ? mode.q : mode.p) * std::cos(two_pi * turns - mode.frequency * time_s);
  };
  visit(solver, [&](const checkpoint::FieldState& field, bool is_q, int level) {
    for_points(field.domain, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      at(field, x, y, z) = wave(is_q, x, y, z, -level * dt_s);
    });
  });
  for (StepIndex step = 1; step <= steps; ++step) {
    close_the_box(solver);
    solver.advance(step);
  }
  double most = 0;
  visit(solver, [&](const checkpoint::FieldState& field, bool is_q, int level) {
    if (level != 0) return;
    for_points(field.domain, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      most = std::max(most, std::abs(at(field, x, y, z) - wave(is_q, x, y, z, end_s)));
    });
  });
  return most / std::max(std::abs(mode.p), std::abs(mode.q));
}

constexpr std::array all_equations{Equations::isotropic, Equations::vti, Equations::tti};

/// Waves that the equations carry: isotropic ones have no qSV.
std::vector<bool> fast_and_slow(Equations equations) {
  if (equations == Equations::isotropic) return {true};
  return {true, false};
}

}  // namespace

MPI_CASE("with time steps as the fourth power of the spacing, plane waves converge to eighth order",
         ranks{1}) {
  // So short that most of the error is that of the spacing: that of the time steps, which has the other sign,
  // would be of eighth order whatever the derivatives are.
  constexpr StepIndex coarse_steps = 600;
  const Grid coarse{.scale = 2}, fine{.scale = 3};
  const double ratio = static_cast<double>(fine.scale) / static_cast<double>(coarse.scale);
  const auto fine_steps = std::llround(static_cast<double>(coarse_steps) * std::pow(ratio, 4));
  for (const auto equations : all_equations)
    for (const bool fast : fast_and_slow(equations)) {
      const auto mode = mode_of(equations, exact_symbols(coarse), fast);
      const double quarter_s = two_pi / mode.frequency / 4;
      const double before = error_after(comm, coarse, equations, mode, quarter_s, coarse_steps),
                   after = error_after(comm, fine, equations, mode, quarter_s, fine_steps);
      const double order = std::log(before / after) / std::log(ratio);
      CAPTURE(std::string(to_string(equations)));
      CAPTURE(fast);
      CAPTURE(before);
      CAPTURE(after);
      CHECK(before < 1e-5);
      CHECK(order > 7.7);
      CHECK(order < 8.3);
    }
}

MPI_CASE("on one grid plane waves converge to the exact ones of that grid with the square of the time step",
         ranks{1}) {
  const Grid grid{.scale = 2};
  for (const auto equations : all_equations)
    for (const bool fast : fast_and_slow(equations)) {
      const auto mode = mode_of(equations, discrete_symbols(grid), fast);
      const double quarter_s = two_pi / mode.frequency / 4;
      const double before = error_after(comm, grid, equations, mode, quarter_s, 20),
                   after = error_after(comm, grid, equations, mode, quarter_s, 40);
      const double order = std::log2(before / after);
      CAPTURE(std::string(to_string(equations)));
      CAPTURE(fast);
      CAPTURE(before);
      CAPTURE(after);
      CHECK(order > 1.95);
      CHECK(order < 2.1);
    }
}

}  // namespace tailrace::seismic
