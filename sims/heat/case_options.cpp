// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "command_line.hpp"
#include "mesh_rows.hpp"
#include "tailrace/run/case_exchange.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::heat {

namespace {

void read_vector(run::CaseFile& file, const std::string& key, Vec3& into) {
  const auto numbers = file.reals(key);
  if (!numbers) return;
  if (numbers->size() != 3)
    return file.add_problem(key, fmt::format("has {} numbers", numbers->size()), "three, along x, y, z");
  std::copy(numbers->begin(), numbers->end(), into.begin());
}

/// Demands what no class says.
void demand(run::CaseFile& file, const std::string& key, const std::string& fix) {
  if (!file.has(key)) file.add_problem(key, "is missing, and there is no heat.class", fix);
}

/// The problem of the class, if there is one.
Problem start_of(run::CaseFile& file) {
  const auto name = file.text("heat.class");
  if (const NpbClass* found = name ? find_class(*name) : nullptr) return found->problem();
  if (name)
    file.add_problem("heat.class", fmt::format("\"{}\" is no class", *name), "one of " + class_names());
  if (file.has("heat.class")) return {};
  demand(file, "heat.level", "class = \"A\", or level = 6");
  demand(file, "heat.radius", "class = \"A\", or radius = 0.076");
  demand(file, "time.steps", "class = \"A\", or steps = 200");
  return {};
}

/// How the diffusion is solved.
void read_solver(run::CaseFile& file, Problem& problem) {
  constexpr std::array rules{SolverRule::npb, SolverRule::converged};
  constexpr int max_iterations = 1000;
  constexpr double tolerance = 1e-10;
  problem.solver = rules[file.choice("heat.solver")];
  if (problem.solver == SolverRule::converged) {
    problem.cg_iterations = max_iterations;
    problem.cg_tolerance = file.real("heat.cg_tolerance").value_or(tolerance);
  } else {
    file.refuse("heat.cg_tolerance", "belongs to heat.solver = \"converged\"",
                "solver = \"converged\", or leave the tolerance out");
  }
  if (const auto iterations = file.integer("heat.cg_iterations"))
    problem.cg_iterations = static_cast<int>(*iterations);
}

void read_heat(run::CaseFile& file, Problem& problem) {
  problem = start_of(file);
  const bool has_time_step = file.has("heat.class") && !file.has("heat.level") && !file.has("heat.order");
  if (const auto level = file.integer("heat.level")) problem.level = static_cast<int>(*level);
  if (const auto order = file.integer("heat.order")) problem.order = static_cast<int>(*order);
  problem.radius = file.real("heat.radius").value_or(problem.radius);
  read_vector(file, "heat.velocity", problem.velocity);
  read_vector(file, "heat.centre", problem.centre);
  problem.viscosity = file.real("heat.viscosity").value_or(problem.viscosity);
  read_solver(file, problem);
  problem.adapt_every = file.integer("heat.adapt_every").value_or(problem.adapt_every);
  problem.steps = file.integer("time.steps").value_or(problem.steps);
  if (!has_time_step) problem.dt = default_time_step(problem.level, problem.order);
  problem.dt = file.real("time.dt_s").value_or(problem.dt);
}

void read_samples(run::CaseFile& file, Options& options) {
  if (const auto cells = file.integers("domain.cells"))
    options.samples = file.grid("domain.cells", *cells).value_or(Index3{1, 1, 1});
  std::vector<run::OfferedQuantity> offered{{"temperature", "1"}, {"source", "1/s"}, {"level", "1"}};
  for (const auto* mesh : {MeshRows::all_points, MeshRows::corners})
    offered.push_back({mesh, "1", MeshRows::components_of(mesh, options.problem.order)});
  options.outputs = run::read_output_tables(file, offered, "");
  const bool at_points = std::any_of(options.outputs.begin(), options.outputs.end(), [](const auto& output) {
    return output.shape != run::OutputTable::Shape::rows;
  });
  if (at_points && !file.has("domain.cells"))
    file.add_problem("domain.cells", "is missing: outputs sample the field at points",
                     "cells = [64, 64, 64]");
  std::map<std::string, h5::ElementType> types;
  for (const auto& output : options.outputs)
    if (MeshRows::offers(output.quantity) &&
        types.try_emplace(output.quantity, output.type).first->second != output.type)
      file.add_problem(output.key + ".type",
                       fmt::format("differs from that of another output of \"{}\"", output.quantity),
                       "one type for all of them");
}

void read_distribution(run::CaseFile& file, ExchangeOptions& exchange) {
  constexpr std::array owners{Owners::touching, Owners::balanced,     Owners::block,
                              Owners::cyclic,   Owners::double_block, Owners::reversed_double_block};
  const std::string key = "heat.distribution";
  const bool own = exchange.own_rule && !file.has(key);
  exchange.owners = owners[file.choice(key)];
  if (!own) return;
  exchange.owners = Owners::own;
  file.set_default(key, "\"own\"");
}

/// Makes the resolved case complete.
void set_defaults(run::CaseFile& file, const Problem& problem) {
  const auto set = [&](const char* key, const std::string& value) {
    if (!file.has(key)) file.set_default(key, value);
  };
  set("heat.order", fmt::format("{}", problem.order));
  set("heat.level", fmt::format("{}", problem.level));
  set("heat.radius", fmt::format("{}", problem.radius));
  set("heat.velocity", fmt::format("[{:#}]", fmt::join(problem.velocity, ", ")));
  set("heat.centre", fmt::format("[{:#}]", fmt::join(problem.centre, ", ")));
  set("heat.viscosity", fmt::format("{}", problem.viscosity));
  set("heat.cg_iterations", fmt::format("{}", problem.cg_iterations));
  if (problem.solver == SolverRule::converged)
    set("heat.cg_tolerance", fmt::format("{}", problem.cg_tolerance));
  set("heat.adapt_every", fmt::format("{}", problem.adapt_every));
  set("time.steps", fmt::format("{}", problem.steps));
  set("time.dt_s", fmt::format("{}", problem.dt));
}

}  // namespace

void apply_case(CommandLine& line) {
  auto& options = line.options;
  auto file = run::open_case(program_info, line, npb_settings(line));
  run::read_case_table(file, "heat", options);
  read_heat(file, options.problem);
  options.steps = options.problem.steps;
  read_samples(file, options);
  read_distribution(file, options.exchange);
  constexpr std::array files{VtkhdfFiles::none, VtkhdfFiles::steps, VtkhdfFiles::series};
  options.vtkhdf = files[file.choice("heat.vtkhdf")];
  constexpr std::array cells{VtkhdfCells::lagrange, VtkhdfCells::linear};
  options.cells = cells[file.choice("heat.cells")];
  constexpr std::array sums{SumRule::exact, SumRule::fast};
  options.exchange.sum = sums[file.choice("heat.sum")];
  options.exchange.overlap = *file.boolean("heat.overlap");
  const auto access = run::read_exchange(file);
  options.exchange.transport = access.transport;
  options.exchange.order = access.order;
  options.exchange.aggregate = access.aggregate;
  run::read_run_tables(file, line, options);
  set_defaults(file, options.problem);
  run::finish_case(file, options);
}

}  // namespace tailrace::heat
