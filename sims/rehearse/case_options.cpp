// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "command_line.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::rehearse {

namespace {

/// Reads the text of a key with a parser; what it finds wrong becomes a problem of the key.
template <class Parse>
void read(run::CaseFile& file, const std::string& key, const std::optional<std::string>& text,
          const Parse& parse) {
  if (!text) return;
  try {
    parse(*text);
  } catch (const Error& error) {
    file.add_problem(key, error.info().message, error.info().hint);
  }
}

template <class Parse>
void read(run::CaseFile& file, const std::string& key, const Parse& parse) {
  read(file, key, file.text(key), parse);
}

/// One number for a cube, three for a box.
void read_cells(run::CaseFile& file, Options& options) {
  auto cells = *file.integers("domain.cells");
  if (cells.size() == 1) cells.resize(3, cells[0]);
  options.formula.cells = file.grid("domain.cells", cells).value_or(Index3{1, 1, 1});
}

/// Checks that the values can be distinguished from each other.
void check_range(run::CaseFile& file, const Options& options) {
  const auto cells = options.formula.cells.volume();
  if (options.steps + 1 > largest_exact_float64 / cells)
    file.add_problem("time.steps",
                     fmt::format("after {} steps the values are no exact numbers", options.steps),
                     fmt::format("at most {} steps, or fewer cells", largest_exact_float64 / cells - 1));
}

void read_type(run::CaseFile& file, Options& options) {
  read(file, "model.precision", [&](const std::string& text) {
    if (text != "float32" && text != "float64")
      throw Error(ErrorInfo{.kind = ErrorKind::usage,
                            .message = fmt::format("\"{}\" is no type", text),
                            .path = {},
                            .hint = "one of float32, float64"});
    options.formula.type = text == "float32" ? h5::ElementType::float32 : h5::ElementType::float64;
  });
}

void read_load(run::CaseFile& file, LoadOptions& load) {
  read(file, "rehearse.compute", [&](const std::string& text) { load.work = parse_work(text); });
  const auto ms = file.real("rehearse.compute_ms");
  load.units = file.integer("rehearse.compute_units");
  load.imbalance = *file.real("rehearse.imbalance");
  const auto slow_rank = file.integer("rehearse.slow_rank");
  const auto factor = file.real("rehearse.slow_factor");
  if (ms && load.units)
    file.add_problem("rehearse.compute_units", "conflicts with compute_ms", "give one of them");
  if (factor && !slow_rank)
    file.add_problem("rehearse.slow_factor", "belongs to no rank", "slow_rank = 0, or leave it out");
  load.step_ms = ms.value_or(0);
  if (slow_rank) load.slow_rank = static_cast<int>(*slow_rank);
  load.slow_factor = factor.value_or(load.slow_factor);
  if (load.work == Work::broadcast && (load.imbalance > 0 || load.slow_rank))
    file.add_problem("rehearse.compute", "\"broadcast\" keeps the ranks together: none can be slower",
                     "compute = \"matmul\" or \"memory\", or no imbalance and slow_rank");
}

void read_particle_formula(run::CaseFile& file, ParticleOptions& particle_formula) {
  particle_formula.count = *file.integer("rehearse.particles");
  if (particle_formula.count == 0) {
    for (const char* key : {"rehearse.clustering", "rehearse.drift"})
      file.refuse(key, "belongs to no particles", "particles = 1000, or leave it out");
    return;
  }
  particle_formula.clustering = static_cast<int>(*file.integer("rehearse.clustering"));
  particle_formula.drift_cells = *file.real("rehearse.drift");
}

output::Reduction read_reduction(run::CaseFile& file) {
  using output::Reduction;
  Reduction found = Reduction::none;
  read(file, "rehearse.reduce", [&](const std::string& text) {
    for (const auto reduction : {Reduction::none, Reduction::min, Reduction::max, Reduction::rms,
                                 Reduction::mean, Reduction::final}) {
      if (text != output::to_string(reduction)) continue;
      found = reduction;
      return;
    }
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = fmt::format("\"{}\" is no reduction", text),
                          .path = {},
                          .hint = "one of none, min, max, rms, mean, final"});
  });
  return found;
}

void read_selections(run::CaseFile& file, Options& options) {
  auto& context = options.selection_context;
  context.every = *file.integer("rehearse.every");
  context.data_multiplier = *file.integer("rehearse.data_multiplier");
  context.write_multiplier = *file.integer("rehearse.write_multiplier");
  context.reduction = read_reduction(file);
  context.cells = options.formula.cells;
  context.ownership = options.ownership;
  context.type = options.formula.type;
  const auto texts = file.texts("rehearse.select");
  for (const auto& text : texts.value_or(std::vector<std::string>()))
    read(file, "rehearse.select", text,
         [&](const std::string& one) { options.selections.push_back(parse_selection(one)); });
  if (!texts && options.outputs.empty()) options.selections = {parse_selection("whole")};
}

void read_case(run::CaseFile& file, CommandLine& line) {
  auto& options = line.options;
  run::read_case_table(file, "rehearse", options);
  read_cells(file, options);
  options.steps = *file.integer("time.steps");
  check_range(file, options);
  read_type(file, options);
  read(file, "rehearse.decomposition",
       [&](const std::string& text) { options.ownership = parse_ownership(text); });
  read_load(file, options.load);
  read_particle_formula(file, options.particle_formula);
  options.outputs = run::read_output_tables(file, {{quantity, unit}}, "");
  read_selections(file, options);
  options.verify = *file.boolean("rehearse.verify") || options.verify;
  run::read_run_tables(file, line, options);
}

/// Resolves what of the case is not in the file.
void set_defaults(run::CaseFile& file, const Options& options) {
  const Index3& n = options.formula.cells;
  file.set_default("domain.cells", fmt::format("[{}, {}, {}]", n.x, n.y, n.z));
  file.set_default("rehearse.verify", fmt::format("{}", options.verify));
}

}  // namespace

void apply_case(CommandLine& line) {
  const std::vector<std::string> no_file{"case.simulation=rehearse"};
  auto file =
      run::open_case(program_info, line, line.case_file.empty() ? no_file : std::vector<std::string>());
  read_case(file, line);
  set_defaults(file, line.options);
  run::finish_case(file, line.options);
}

}  // namespace tailrace::rehearse
