// SPDX-License-Identifier: BSD-3-Clause
#include "configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "phase_space_formats.hpp"

namespace tailrace::molecules {

namespace {

constexpr std::int64_t longest_configuration = 1 << 26;

std::string read_text(const std::string& path) {
  const InputFile file(path, whole_file);
  if (file.size_bytes() > longest_configuration)
    throw file_error(path, "is no configuration: it is too long", "a configuration of MarDyn or ls1 mardyn");
  std::string text(static_cast<std::size_t>(file.size_bytes()), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace

Configuration read_configuration(const std::string& path) {
  const auto text = read_text(path);
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '<' ? read_xml_configuration(text, path)
                                                          : read_old_configuration(text, path);
}

void check_configuration(const Configuration& configuration, Problems& problems) {
  const auto& model = configuration.model;
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (!positive(configuration.dt)) problems.add("the time step is not positive");
  if (!positive(model.cutoff) || !positive(model.lj_cutoff))
    problems.add("a cutoff is missing or not positive");
  else if (model.lj_cutoff > model.cutoff)
    problems.add(fmt::format("the Lennard-Jones cutoff {} is longer than the cutoff {}", model.lj_cutoff,
                             model.cutoff),
                 "as long at most");
  if (configuration.steps && *configuration.steps < 0) problems.add("the number of steps is negative");
  if (!configuration.start) problems.add("no phase-space file is named");
  if (!configuration.box) return;
  for (const double length : *configuration.box) {
    if (!positive(length))
      problems.add(fmt::format("the box has the length {}", length), "positive lengths");
    else if (2 * model.cutoff > length)
      problems.add(
          fmt::format("the cutoff {} is longer than half the length {} of the box", model.cutoff, length),
          "a larger box, or a shorter cutoff");
  }
}

std::string beside(const std::string& path, const std::string& name) {
  namespace fs = std::filesystem;
  return (fs::path(path).parent_path() / name).string();
}

}  // namespace tailrace::molecules
