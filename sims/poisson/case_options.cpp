// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/system.hpp"
#include "block_grid.hpp"
#include "options.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::poisson {

namespace {

constexpr const char* rhs_forms = R"("sines", "smooth", a number, or "file.h5:/dataset")";

/// Two numbers represent a plane.
void read_cells(run::CaseFile& file, Grid& grid) {
  auto cells = file.integers("domain.cells");
  if (!cells) return;
  if (cells->size() == 2) cells->push_back(1);
  grid.cells = file.grid("domain.cells", *cells).value_or(Index3{1, 1, 1});
  grid.dimensions = grid.cells.z == 1 ? 2 : 3;
}

/// Whether a list has an element for each axis, or one for z too in the plane.
template <class T>
bool fits(run::CaseFile& file, const char* key, const std::vector<T>& list, int dimensions) {
  const auto count = static_cast<int>(list.size());
  if (count == dimensions || count == 3) return true;
  file.add_problem(key, fmt::format("has {} elements", count),
                   fmt::format("{}, one for each axis", dimensions));
  return false;
}

void read_sides(run::CaseFile& file, Grid& grid) {
  auto sides = file.texts("domain.sides").value_or(std::vector<std::string>{"dirichlet"});
  if (sides.size() == 1) sides.resize(static_cast<std::size_t>(grid.dimensions), sides.front());
  if (!fits(file, "domain.sides", sides, grid.dimensions)) return;
  for (std::size_t axis = 0; axis < sides.size(); ++axis) {
    const bool periodic = sides[axis] == "periodic";
    if (axis < static_cast<std::size_t>(grid.dimensions)) grid.periodic[axis] = periodic;
    if (!periodic && sides[axis] != "dirichlet")
      return file.add_problem("domain.sides", fmt::format("\"{}\" is not accepted", sides[axis]),
                              "dirichlet or periodic");
  }
}

/// Whether differences of second order can be divided by the square of a distance.
bool has_square(double distance) noexcept {
  return std::isnormal(distance * distance) && std::isnormal(1 / (distance * distance));
}

void read_spacing(run::CaseFile& file, Grid& grid) {
  for (int axis = 0; axis < 3; ++axis) grid.spacing_m[static_cast<std::size_t>(axis)] = 1;
  for (int axis = 0; axis < grid.dimensions; ++axis)
    grid.spacing_m[static_cast<std::size_t>(axis)] = 1 / grid.length_m(axis);
  const auto spacing = file.reals("domain.spacing_m");
  if (!spacing || !fits(file, "domain.spacing_m", *spacing, grid.dimensions)) return;
  std::copy(spacing->begin(), spacing->end(), grid.spacing_m.begin());
  if (std::any_of(spacing->begin(), spacing->end(), [](double h) { return h <= 0; }))
    return file.add_problem("domain.spacing_m", "a distance is 0", "numbers above 0");
  if (!std::all_of(spacing->begin(), spacing->end(), has_square))
    file.add_problem("domain.spacing_m", "the square of a distance is too small or too large for a number",
                     "another unit of length, and problem.rhs in it");
}

void read_rhs(run::CaseFile& file, Options& options) {
  auto& rhs = options.rhs;
  if (!file.has("problem.rhs")) return file.add_problem("problem.rhs", "is missing", rhs_forms);
  if (!file.is_text("problem.rhs")) {
    rhs.value = file.real("problem.rhs").value_or(0);
    return;
  }
  const auto text = *file.text("problem.rhs");
  const auto colon = text.find(":/");
  if (colon != std::string::npos && colon > 0 && colon + 2 < text.size())
    rhs.file = file.resolve_file_name(text.substr(0, colon)), rhs.dataset = text.substr(colon + 1);
  else if (find_formula(text, options.problem.grid).rhs)
    rhs.formula = text;
  else
    file.add_problem("problem.rhs", fmt::format("\"{}\" is neither a formula nor a dataset", text),
                     rhs_forms);
}

void read_boundary(run::CaseFile& file, Options& options) {
  auto& problem = options.problem;
  problem.wall = file.real("problem.boundary").value_or(0);
  if (problem.wall == 0) return;
  if (!options.rhs.formula.empty())
    file.add_problem("problem.boundary", "the solution of a formula is 0 on its sides", "leave it out");
  if (problem.grid.singular())
    file.add_problem("problem.boundary", "no side is Dirichlet", "leave it out, or change domain.sides");
}

void read_blocks(run::CaseFile& file, Problem& problem) {
  const auto& grid = problem.grid;
  problem.block = usual_block(grid.cells, grid.dimensions);
  auto blocks = file.integers("solver.blocks");
  if (!blocks || !fits(file, "solver.blocks", *blocks, grid.dimensions)) return;
  blocks->resize(3, 1);
  for (int axis = 0; axis < 3; ++axis)
    if (const auto size = (*blocks)[static_cast<std::size_t>(axis)]; size < 1 || size > grid.points(axis))
      return file.add_problem(
          "solver.blocks", fmt::format("[{}] are no blocks of this domain", fmt::join(*blocks, ", ")),
          fmt::format("1 to {}, {} and {} points along x, y, z", grid.cells.x, grid.cells.y, grid.cells.z));
  problem.block = {(*blocks)[0], (*blocks)[1], (*blocks)[2]};
}

/// Red and black points must alternate around a periodic axis.
void check_colours(run::CaseFile& file, const Problem& problem) {
  if (problem.method != Method::gauss_seidel) return;
  for (int axis = 0; axis < problem.grid.dimensions; ++axis)
    if (problem.grid.periodic[static_cast<std::size_t>(axis)] && problem.grid.points(axis) % 2 != 0)
      file.add_problem("domain.cells",
                       fmt::format("{} points around a periodic axis cannot be red and black by turns",
                                   problem.grid.points(axis)),
                       "an even number, or another solver.method");
}

void read_solver(run::CaseFile& file, Options& options) {
  auto& problem = options.problem;
  constexpr std::array methods{Method::jacobi, Method::gauss_seidel, Method::conjugate_gradients};
  problem.method = methods[file.choice("solver.method")];
  problem.tolerance = file.real("solver.tolerance").value_or(0);
  problem.check_every = file.integer("solver.check_every").value_or(problem.check_every);
  options.steps = file.integer("time.steps").value_or(1);
  read_blocks(file, problem);
  check_colours(file, problem);
}

void read_fragments(run::CaseFile& file, fragments::Options& how) {
  how.balance = fragments::balance_words[file.choice("fragments.balance")];
  how.live_fragments = file.integer("fragments.live_fragments").value_or(how.live_fragments);
  const auto bytes = file.text("fragments.live_bytes");
  if (!bytes) return;
  try {
    how.live_bytes = parse_byte_limit(*bytes, "fragments.live_bytes");
  } catch (const Error&) {
    file.add_problem("fragments.live_bytes", fmt::format("\"{}\" is no size for a limit", *bytes),
                     "1B to 1000000TB, such as 2GB");
  }
}

/// Makes the resolved case complete.
void set_defaults(run::CaseFile& file, const Problem& problem) {
  const auto& [grid, rhs, solution, size, wall, method, block, tolerance, check_every] = problem;
  std::vector<std::string> sides;
  for (int axis = 0; axis < grid.dimensions; ++axis)
    sides.emplace_back(grid.periodic[static_cast<std::size_t>(axis)] ? "\"periodic\"" : "\"dirichlet\"");
  const auto set = [&](const char* key, const std::string& value) {
    if (!file.has(key)) file.set_default(key, value);
  };
  const std::span spacing(grid.spacing_m.data(), static_cast<std::size_t>(grid.dimensions));
  set("domain.spacing_m", fmt::format("[{:#}]", fmt::join(spacing, ", ")));
  set("domain.sides", fmt::format("[{}]", fmt::join(sides, ", ")));
  set("solver.blocks", fmt::format("[{}, {}, {}]", block.x, block.y, block.z));
}

}  // namespace

void apply_case(const run::CaseWords& words, Options& options) {
  auto file = run::open_case(program_info, words, {});
  run::read_case_table(file, "poisson", options);
  read_cells(file, options.problem.grid);
  read_sides(file, options.problem.grid);
  read_spacing(file, options.problem.grid);
  read_rhs(file, options);
  read_boundary(file, options);
  read_solver(file, options);
  read_fragments(file, options.fragments);
  options.outputs = run::read_output_tables(file, {{"u", "1"}, {"rhs", "1/m^2"}, {"residual", "1/m^2"}}, "");
  run::read_run_tables(file, words, options);
  set_defaults(file, options.problem);
  run::finish_case(file, options);
}

}  // namespace tailrace::poisson
