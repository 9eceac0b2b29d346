// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "command_line.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::ultrasound {

namespace {

void read_sensor_data(run::CaseFile& file, CommandLine& line) {
  auto& sensor_data = line.options.sensor_data;
  for (std::size_t i = 0; i < sensor_quantities.size(); ++i)
    if (const auto wanted = file.boolean(fmt::format("record.{}", sensor_quantities[i].name)))
      sensor_data.wanted[i] = sensor_data.wanted[i] || *wanted;
  sensor_data.copy_sensor_mask = *file.boolean("record.copy_sensor_mask") || sensor_data.copy_sensor_mask;
  if (const auto start = file.integer("record.start"); start && line.start == 0) line.start = *start;
  sensor_data.complete(!line.options.outputs.empty());
}

/// Fills what the command line left open from the case, and lists what is wrong with it.
void read_case(run::CaseFile& file, CommandLine& line) {
  auto& options = line.options;
  run::read_case_table(file, "ultrasound", options);
  file.text("input.script");  // makes the input; the launcher runs it
  options.input = file.file_name("input.file").value_or("");
  if (const auto steps = file.integer("time.steps"); steps && line.benchmark_steps == 0)
    line.benchmark_steps = *steps;
  const auto precision = *file.text("model.precision");
  if (line.precision.empty())
    file.try_to([&] { options.precision = parse_precision("model.precision", precision); });
  options.outputs = run::read_output_tables(file, offered_quantities(), "pml");
  read_sensor_data(file, line);
  run::read_run_tables(file, line, options);
}

/// Makes the resolved case complete.
void set_defaults(run::CaseFile& file, const CommandLine& line) {
  const auto& options = line.options;
  const auto truth = [](bool value) { return value ? "true" : "false"; };
  file.set_default("model.precision", to_string(options.precision));
  for (std::size_t i = 0; i < sensor_quantities.size(); ++i)
    file.set_default(fmt::format("record.{}", sensor_quantities[i].name),
                     truth(options.sensor_data.wanted[i]));
  file.set_default("record.copy_sensor_mask", truth(options.sensor_data.copy_sensor_mask));
  file.set_default("record.start", fmt::format("{}", std::max<StepIndex>(line.start, 1)));
}

}  // namespace

void apply_case(CommandLine& line) {
  using Words = std::vector<std::string>;
  const bool native_input = std::filesystem::path(line.case_file).extension() != ".toml";
  const Words native{"case.simulation=ultrasound", "input.file=" + line.case_file};
  auto file = run::open_case(program_info, line, native_input ? native : Words());
  read_case(file, line);
  set_defaults(file, line);
  run::finish_case(file, line.options);
  if (native_input) line.options.resolved["input"]["file"] = line.options.input;
}

}  // namespace tailrace::ultrasound
