// SPDX-License-Identifier: BSD-3-Clause
#include "native_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "step_writers.hpp"
#include "words.hpp"

namespace tailrace::molecules {

namespace {

/// A text as TOML has it in quotes.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string list(const Vec3& v) {
  return fmt::format("[{}]", fmt::join(v, ", "));
}

std::string component_text(const Component& component) {
  std::vector<std::string> lj, charges, dipoles, quadrupoles;
  for (const auto& site : component.lennard_jones)
    lj.push_back(fmt::format("{{place = {}, mass = {}, epsilon = {}, sigma = {}, shifted = {}}}",
                             list(site.place), site.mass, site.epsilon, site.sigma, site.shifted));
  for (const auto& site : component.charges)
    charges.push_back(
        fmt::format("{{place = {}, mass = {}, charge = {}}}", list(site.place), site.mass, site.charge));
  const auto pole = [](const auto& site) {
    return fmt::format("{{place = {}, direction = {}, moment = {}}}", list(site.place), list(site.direction),
                       site.moment);
  };
  for (const auto& site : component.dipoles) dipoles.push_back(pole(site));
  for (const auto& site : component.quadrupoles) quadrupoles.push_back(pole(site));
  auto text =
      fmt::format("{{name = {}, inertia = {}", quoted(component.name), list(component.inertia_override));
  for (const auto& [kind, sites] :
       {std::pair{"lj", &lj}, {"charge", &charges}, {"dipole", &dipoles}, {"quadrupole", &quadrupoles}})
    if (!sites->empty()) text += fmt::format(", {} = [{}]", kind, fmt::join(*sites, ", "));
  return text + "}";
}

std::string mixing_text(const Model& model) {
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < model.components.size(); ++i)
    for (std::size_t j = i + 1; j < model.components.size(); ++j)
      if (const auto& mixing = model.mixing_of(i, j); mixing != Mixing{})
        pairs.push_back(
            fmt::format("{{components = [{}, {}], xi = {}, eta = {}}}", i, j, mixing.xi, mixing.eta));
  return fmt::format("[{}]", fmt::join(pairs, ", "));
}

/// The name that a writer has here: those of the reference, where one of them has several formats.
std::string writer_name(const Configuration::Output& output) {
  const auto type = output.options.find("type");
  const bool binary = type != output.options.end() && type->second == "binary";
  return output.name == "CheckpointWriter" && binary ? "BinaryCheckpointWriter" : output.name;
}

std::string writer_text(const Configuration::Output& output) {
  const auto option = output.options.find("incremental");
  const bool counts = option == output.options.end() || truth_in(option->second).value_or(true);
  return fmt::format("{{name = {}, every = {}, prefix = {}, incremental = {}}}", quoted(writer_name(output)),
                     output.every, quoted(output.prefix), counts);
}

/// Collects the settings.
class Settings {
 public:
  template <class Value>
  void add(const char* key, const Value& value) {
    list_.push_back(fmt::format("{}={}", key, value));
  }
  template <class Value>
  void add_if(const char* key, const std::optional<Value>& value) {
    if (value) add(key, *value);
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

void add_model(Settings& settings, const Model& model) {
  std::vector<std::string> components;
  for (const auto& component : model.components) components.push_back(component_text(component));
  if (!components.empty()) settings.add("component", fmt::format("[{}]", fmt::join(components, ", ")));
  if (model.components.size() > 1) settings.add("mixing", mixing_text(model));
  settings.add("model.cutoff", model.cutoff);
  settings.add("model.lj_cutoff", model.lj_cutoff);
  settings.add("model.long_range", model.long_range == LongRange::none ? "none" : "homogeneous");
}

void add_ranks(Settings& settings, const Configuration::Parallelisation& ranks) {
  const bool kd = ranks.division == Configuration::Division::kd;
  settings.add("decomposition.kind", kd ? "kd" : "regular");
  if (!kd && ranks.grid)
    settings.add("decomposition.grid", fmt::format("[{}]", fmt::join(*ranks.grid, ", ")));
  if (!kd) return;
  settings.add_if("decomposition.every", ranks.every);
  settings.add_if("decomposition.limit", ranks.imbalance);
  settings.add_if("decomposition.least_cells", ranks.min_cells);
  settings.add_if("decomposition.full_search_ranks", ranks.full_search_ranks);
  if (ranks.split_longest.value_or(false)) settings.add("decomposition.cuts", "longest");
}

/// As ls1 mardyn has it: run/currenttime goes before the time in a text file, and that in a binary one before
/// run/currenttime; where the time is to be ignored, the run begins at 0 whatever else is stated.
void add_start(Settings& settings, const Configuration& configuration, std::vector<std::string>& warnings) {
  const auto& files = *configuration.start;
  settings.add("start.file", quoted(files.header.empty() ? files.data : files.header));
  if (configuration.ignore_start_time) settings.add("start.keep_time", false);
  const double time = configuration.time.value_or(0);
  if (files.format == PhaseSpaceFormat::ascii && !configuration.ignore_start_time)
    settings.add_if("start.time", configuration.time);
  else if (time != 0)
    warnings.push_back(fmt::format("{}: run/currenttime {} has no effect: {}", configuration.path, time,
                                   configuration.ignore_start_time
                                       ? "with ignoreCheckpointTime the run begins at 0"
                                       : "the time in the state file holds"));
}

/// The writers that there are, and observables for the report.
void add_outputs(Settings& settings, const Configuration& configuration, std::vector<std::string>& warnings) {
  constexpr std::int64_t usual_every = 10;
  std::int64_t every = usual_every;
  const auto known = writer_names();
  std::vector<std::string> writers;
  for (const auto& output : configuration.outputs) {
    if (std::count(known.begin(), known.end(), writer_name(output)) == 0) {
      warnings.push_back(fmt::format("{}: output {} is not written here", configuration.path, output.name));
      continue;
    }
    if (output.name == "ResultWriter") every = output.every;
    writers.push_back(writer_text(output));
  }
  if (configuration.steps) every = std::max<std::int64_t>(1, std::min(every, *configuration.steps));
  if (!writers.empty()) settings.add("writer", fmt::format("[{}]", fmt::join(writers, ", ")));
  settings.add(
      "output",
      fmt::format(R"([{{name = "observables", quantity = "observables", every = {}, initial = true}}])",
                  every));
}

}  // namespace

bool is_configuration(const std::string& path) {
  std::ifstream file(path);
  std::string line, word;
  while (std::getline(file, line)) {
    std::istringstream words(line.substr(0, line.find('#')));
    if (!(words >> word)) continue;
    return word.front() == '<' || word == "MDProjectConfig" || word == "MDPProjectConfig";
  }
  return false;
}

std::vector<std::string> settings_of(const Configuration& configuration, std::vector<std::string>& warnings) {
  warnings.insert(warnings.end(), configuration.warnings.begin(), configuration.warnings.end());
  Settings settings;
  settings.add("case.simulation", "molecules");
  if (configuration.box) settings.add("domain.length", list(*configuration.box));
  settings.add("time.dt", configuration.dt);
  settings.add_if("time.steps", configuration.steps);
  add_model(settings, configuration.model);
  if (configuration.states_field)
    settings.add("model.reaction_field_epsilon", configuration.model.reaction_field_epsilon);
  settings.add_if("model.cells_per_cutoff", configuration.cells_per_cutoff);
  if (configuration.start) add_start(settings, configuration, warnings);
  if (!configuration.temperature)
    settings.add("thermostat.from_start", true);
  else if (*configuration.temperature > 0)
    settings.add("thermostat.temperature", *configuration.temperature);
  add_ranks(settings, configuration.parallelisation);
  add_outputs(settings, configuration, warnings);
  return settings.take();
}

}  // namespace tailrace::molecules
