// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "case_model.hpp"
#include "command_line.hpp"
#include "native_case.hpp"
#include "quantities.hpp"
#include "row_choice.hpp"
#include "step_writers.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::molecules {

namespace {

/// A number above 0 that has to be there.
double required(run::CaseFile& file, const char* key, const char* fix) {
  const auto value = file.real(key);
  if (!file.has(key)) file.add_problem(key, "is missing", fix);
  return value.value_or(1);
}

void read_domain(run::CaseFile& file, Problem& problem) {
  if (!file.has("domain.length") && file.has("start.file")) return;  // the file says so
  const auto length =
      read_vec3(file, "domain.length", "length = [18.0, 18.0, 18.0], of the box along x, y, z");
  if (!length) return;
  problem.length = *length;
  for (const double edge : *length)
    if (!(edge > 0))
      return file.add_problem("domain.length", fmt::format("{:g} is no length", edge), "lengths above 0");
}

void read_time(run::CaseFile& file, Problem& problem) {
  problem.dt = file.real("time.dt").value_or(1);
  problem.steps = file.steps("time.end", "dt", problem.dt);
  problem.end = file.real("time.end");
}

StartLattice::Droplet read_droplet(run::CaseFile& file) {
  StartLattice::Droplet droplet;
  droplet.centre = read_vec3(file, "start.centre", "centre = [9.0, 9.0, 9.0]").value_or(Vec3{});
  droplet.radius = required(file, "start.radius", "radius = 5.0");
  droplet.vapour_density = file.real("start.vapour_density").value_or(0);
  return droplet;
}

StartFile read_start_file(run::CaseFile& file) {
  const auto path = file.text("start.file").value_or("");
  const bool keeps_time = file.boolean("start.keep_time").value_or(!file.has("start.time"));
  if (keeps_time && file.has("start.time"))
    file.add_problem("start.keep_time", "conflicts with time", "give one of them");
  return {file.resolve_file_name(path), keeps_time};
}

void read_start(run::CaseFile& file, Problem& problem) {
  const bool droplet = file.choice("start.kind") == 1;
  const bool has_file = file.has("start.file");
  if (has_file == file.has("start.kind"))
    file.add_problem("start",
                     has_file ? "names both a file and a kind of start"
                              : "does not say where the molecules are in the beginning",
                     R"(file = "start.inp", or kind = "lattice" or "droplet")");
  problem.stated_time = file.real("start.time");
  problem.time_of_step_0 = problem.stated_time.value_or(0);
  if (has_file) {
    problem.start = read_start_file(file);
    return;
  }
  StartLattice lattice;
  lattice.density = required(file, "start.density", "density = 0.35, molecules per volume");
  lattice.temperature = *file.real("start.temperature");
  lattice.seed = *file.integer("start.seed");
  lattice.fractions = file.reals("start.fractions").value_or(std::vector<double>());
  const auto components = problem.model.components.size();
  if (!lattice.fractions.empty() && lattice.fractions.size() != components)
    file.add_problem("start.fractions",
                     fmt::format("has {} numbers for {} components", lattice.fractions.size(), components),
                     "one for each [[component]]");
  else if (!lattice.fractions.empty() &&
           *std::max_element(lattice.fractions.begin(), lattice.fractions.end()) <= 0)
    file.add_problem("start.fractions", "add up to 0", "a number above 0 for each component that is there");
  if (droplet) lattice.droplet = read_droplet(file);
  problem.start = lattice;
  if (components == 0)
    file.add_problem("component", "is missing: there is nothing to make molecules of",
                     "[[component]] with lj = [{mass = 1.0, epsilon = 1.0, sigma = 1.0}]");
}

void read_thermostat(run::CaseFile& file, ThermostatOptions& thermostat) {
  file.choice("thermostat.kind");
  if (file.names("thermostat").empty()) return;
  thermostat.from_start = file.boolean("thermostat.from_start").value_or(false);
  if (thermostat.from_start && file.has("thermostat.temperature"))
    file.add_problem("thermostat.from_start", "conflicts with temperature", "give one of them");
  if (thermostat.from_start && !file.has("start.file"))
    file.add_problem("thermostat.from_start", "there is no start.file that states a temperature",
                     "temperature = 1.8, in the place of from_start");
  if (!thermostat.from_start)
    thermostat.temperature = required(file, "thermostat.temperature", "temperature = 1.8");
}

void read_kd(run::CaseFile& file, DecompositionOptions& decomposition) {
  decomposition.every = *file.integer("decomposition.every");
  decomposition.limit = *file.real("decomposition.limit");
  decomposition.kd.min_cells = *file.integer("decomposition.least_cells");
  decomposition.kd.full_search_ranks = static_cast<int>(*file.integer("decomposition.full_search_ranks"));
  decomposition.kd.axes = file.choice("decomposition.cuts") == 1 ? CutAxes::longest : CutAxes::any;
  decomposition.measured = file.choice("decomposition.load") == 1;
}

void refuse_kd(run::CaseFile& file) {
  for (const char* key :
       {"decomposition.every", "decomposition.limit", "decomposition.load", "decomposition.least_cells",
        "decomposition.full_search_ranks", "decomposition.cuts"})
    file.refuse(key, "has no meaning for kind = \"regular\"", "leave it out");
}

void read_decomposition(run::CaseFile& file, DecompositionOptions& decomposition) {
  using Kind = DecompositionOptions::Kind;
  decomposition.kind = file.choice("decomposition.kind") == 1 ? Kind::kd : Kind::regular;
  const bool kd = decomposition.kind == Kind::kd;
  if (const auto grid = file.integers("decomposition.grid")) {
    constexpr std::int64_t max_ranks = 1 << 24;
    const bool good = grid->size() == 3 && std::all_of(grid->begin(), grid->end(), [](std::int64_t n) {
                        return n >= 1 && n <= max_ranks;
                      });
    if (!good || kd)
      file.add_problem("decomposition.grid", kd ? "has no meaning for kind = \"kd\"" : "is no grid of ranks",
                       kd ? "leave it out" : "grid = [2, 2, 1], ranks along x, y, z");
    else
      decomposition.grid = {static_cast<int>((*grid)[0]), static_cast<int>((*grid)[1]),
                            static_cast<int>((*grid)[2])};
  }
  kd ? read_kd(file, decomposition) : refuse_kd(file);
}

/// Returns how many bins each table has, beside what all tables have.
std::vector<Bins> read_bins(run::CaseFile& file, const std::vector<run::OutputTable>& tables) {
  using Numbers = std::vector<std::int64_t>;
  constexpr std::int64_t max_bins = std::int64_t{1} << 24;
  std::vector<Bins> all;
  for (const auto& table : tables) {
    const auto key = table.key + ".bins";
    const auto list = file.integers(key);
    const auto* const quantity = find_quantity(table.quantity);
    const bool binned = quantity != nullptr && quantity->kind == Quantity::Kind::binned;
    Bins bins{1, 1, 1};
    bool good = list && list->size() == bins.size();
    for (std::size_t d = 0; good && d < bins.size(); ++d) {
      bins[d] = (*list)[d];
      good = bins[d] >= 1 && bins[d] <= max_bins;
    }
    good = good && static_cast<double>(bins[0]) * static_cast<double>(bins[1] * bins[2]) <=
                       static_cast<double>(max_bins);
    if (binned && !good)
      file.add_problem(
          key, fmt::format("[{}] is no grid of bins", fmt::join(list.value_or(Numbers()), ", ")),
          fmt::format("bins along x, y, z, {} at most together: [1, 1, 50] are slabs along z", max_bins));
    if (!binned && list)
      file.add_problem(key, fmt::format("\"{}\" has no bins", table.quantity), "leave it out");
    all.push_back(good ? bins : Bins{1, 1, 1});
  }
  return all;
}

void read_outputs(run::CaseFile& file, Options& options) {
  options.outputs = run::read_output_tables(file, offered_quantities(), "");
  options.bins = read_bins(file, options.outputs);
  for (auto& table : options.outputs) {
    const auto* const quantity = find_quantity(table.quantity);
    const bool observable = quantity == nullptr || quantity->kind == Quantity::Kind::observable;
    if (observable && !file.has(table.key + ".type")) {
      table.type = h5::ElementType::float64;
      file.set_default(table.key + ".type", "float64");
    }
    if (table.shape != run::OutputTable::Shape::whole)
      file.add_problem(table.key + ".select", "there is no grid of points to select from",
                       "leave it out; bins = [1, 1, 50] divides the box");
  }
}

/// The writers of the reference, by their names.
void read_writers(run::CaseFile& file, Options& options) {
  for (std::size_t i = 0; i < file.tables("writer"); ++i) {
    WriterOptions writer;
    writer.key = fmt::format("writer[{}]", i);
    writer.name = file.text(writer.key + ".name").value_or("");
    const auto names = writer_names();
    if (!writer.name.empty() && std::count(names.begin(), names.end(), writer.name) == 0)
      file.add_problem(writer.key + ".name", fmt::format("there is no \"{}\"", writer.name),
                       fmt::format("one of {}", fmt::join(names, ", ")));
    writer.prefix = *file.output_name(writer.key + ".prefix");
    writer.every = *file.integer(writer.key + ".every");
    writer.incremental = *file.boolean(writer.key + ".incremental");
    options.writers.push_back(writer);
  }
}

/// Two writers that write one file leave what one of them has written.
void refuse_same_files(run::CaseFile& file, const Options& options) {
  const auto& writers = options.writers;
  const auto known = writer_names();
  const auto is_known = [&](const auto& one) { return std::count(known.begin(), known.end(), one.name) > 0; };
  const auto& problem = options.problem;
  const auto steps = problem.end ? std::nullopt : std::optional(problem.steps);
  for (std::size_t j = 0; j < writers.size(); ++j)
    for (std::size_t i = 0; i < j; ++i) {
      if (!is_known(writers[i]) || !is_known(writers[j])) continue;
      const auto name = common_file(writers[i], writers[j], steps);
      if (name.empty()) continue;
      file.add_problem(writers[j].key + ".prefix",
                       fmt::format("{} would write {}, as {} of {} does", writers[j].name, name,
                                   writers[i].name, writers[i].key),
                       "a prefix of its own (outputprefix in a configuration of ls1 mardyn)");
    }
}

std::optional<int> read_cells_per_cutoff(run::CaseFile& file) {
  const char* const key = "model.cells_per_cutoff";
  if (file.is_text(key)) {
    const auto word = file.text(key);
    if (word != "auto")
      file.add_problem(key, fmt::format("\"{}\" is no number of cells", *word),
                       fmt::format("\"auto\", or 1 to {}", max_cells_per_cutoff));
    return {};
  }
  const auto cells = file.integer(key);
  return cells ? std::optional(static_cast<int>(*cells)) : std::nullopt;
}

void read_case(run::CaseFile& file, CommandLine& line) {
  auto& options = line.options;
  auto& problem = options.problem;
  run::read_case_table(file, "molecules", options);
  read_domain(file, problem);
  read_time(file, problem);
  options.steps = problem.steps;
  problem.model = read_model(file);
  problem.field_from_start = !file.has("model.reaction_field_epsilon");
  problem.cells_per_cutoff = read_cells_per_cutoff(file);
  read_start(file, problem);
  read_thermostat(file, problem.thermostat);
  read_decomposition(file, problem.decomposition);
  read_outputs(file, options);
  read_writers(file, options);
  refuse_same_files(file, options);
  run::read_run_tables(file, line, options);
}

/// Resolves what of the case follows from other keys.
void set_defaults(run::CaseFile& file, const Options& options) {
  if (!options.problem.end) file.set_default("time.steps", fmt::format("{}", options.problem.steps));
  file.set_default("model.lj_cutoff", fmt::format("{}", options.problem.model.lj_cutoff));
  file.set_default("model.cells_per_cutoff", "\"auto\"");
}

/// Returns what a configuration of MarDyn says in the words of a case.
std::vector<std::string> settings_of_file(CommandLine& line) {
  if (!is_configuration(line.case_file)) return {};
  const auto configuration = read_configuration(line.case_file);
  if (!configuration.model.components.empty()) line.options.problem.model_file = line.case_file;
  return settings_of(configuration, line.options.warnings);
}

}  // namespace

void apply_case(CommandLine& line) {
  auto file = run::open_case(program_info, line, settings_of_file(line));
  read_case(file, line);
  set_defaults(file, line.options);
  run::finish_case(file, line.options);
}

}  // namespace tailrace::molecules
