// SPDX-License-Identifier: BSD-3-Clause
#include "conversion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/files.hpp"
#include "component_checks.hpp"
#include "mpi/verdict.hpp"
#include "output/core/plan.hpp"
#include "output/core/resume.hpp"

namespace tailrace::molecules {

namespace {

constexpr std::array all_formats{PhaseSpaceFormat::ascii, PhaseSpaceFormat::binary, PhaseSpaceFormat::cells,
                                 PhaseSpaceFormat::netcdf, PhaseSpaceFormat::mpi_restart};
constexpr const char* give_case = "--case FILE, the case of its run";

/// Cells of about so many molecules: few enough for a table, many enough for any number of ranks.
std::array<std::int64_t, 3> cells_of(const Vec3& box, std::int64_t molecules) {
  constexpr double in_a_cell = 32;
  const double volume = box[0] * box[1] * box[2];
  const auto cells = static_cast<double>(std::max<std::int64_t>(molecules, 1)) / in_a_cell;
  return cells_of_cutoff(box, std::cbrt(volume / cells));
}

bool has_components(PhaseSpaceFormat format) noexcept {
  return format != PhaseSpaceFormat::binary && format != PhaseSpaceFormat::mpi_restart;
}

}  // namespace

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto format : all_formats) names.emplace_back(to_string(format));
  return names;
}

std::vector<run::ForeignFormat> StateInTransit::formats() {
  std::vector<run::ForeignFormat> formats;
  for (const auto format : all_formats)
    formats.push_back(
        {.name = to_string(format),
         .recognises = [format](const std::string& path) { return recognise(path).format == format; },
         .files =
             [format](const std::string& path) {
               const auto files = files_at(format, path);
               return files.header.empty() ? std::vector{files.data} : std::vector{files.header, files.data};
             },
         .read = [this](const std::string& path, const output::Plan&,
                        const output::KeptReductions&) { return read(path); },
         .write = [this, format](const std::string& path, std::optional<StepIndex> step, const output::Plan&,
                                 const output::KeptReductions&) { write(files_at(format, path), step); }});
  return formats;
}

void StateInTransit::state(checkpoint::StateArchive& archive) {
  if (simulation_ == nullptr)
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = "a checkpoint of Tailrace does not state the case of its run",
                          .path = {},
                          .hint = give_case});
  simulation_->state(archive);
  restored_ = archive.restores();
}

/// Finds out what is known beside the molecules: from the case if there is one, otherwise from the file.
void StateInTransit::finalize(const std::string& path, const PhaseSpaceHeader& header) {
  time_ = header.time;
  if (problem_ != nullptr) {
    if (header.box && !same_box(box_, *header.box))
      throw file_error(path,
                       fmt::format("has a box of {}, the case one of {}", fmt::join(*header.box, " x "),
                                   fmt::join(box_, " x ")),
                       "a state of this case");
    return;
  }
  if (!header.box) throw file_error(path, "does not state the box", give_case);
  box_ = *header.box;
  model_.components = header.components;
  model_.mixing = header.mixing;
  model_.reaction_field_epsilon = header.reaction_field_epsilon.value_or(model_.reaction_field_epsilon);
  Problems problems(path);
  check_numbers(model_, {path}, problems);
  problems.throw_if_any();
  temperature_ = header.temperature.value_or(0);
}

Decomposition StateInTransit::decomposition() const {
  if (simulation_ != nullptr) return simulation_->decomposition();
  return Decomposition::regular(box_, comm_.size());
}

MoleculeList StateInTransit::list() const {
  if (restored_) return simulation_->list();
  return {static_cast<std::int64_t>(molecules_.size()),
          [this](std::int64_t i) { return molecules_[static_cast<std::size_t>(i)]; }};
}

std::optional<StepIndex> StateInTransit::read(const std::string& path) {
  PhaseSpaceFiles files;
  mpi::collectively(comm_, [&] { files = recognise(path); });
  const auto file = open_phase_space(comm_, files);
  mpi::collectively(comm_, [&] { finalize(path, file->header()); });
  constexpr auto unknown = std::numeric_limits<std::size_t>::max();
  const auto owners = decomposition();
  file->read({.limits = {box_, model_.components.empty() ? unknown : model_.components.size()},
              .own = owners.region(comm_.rank()),
              .owner = [&](const Vec3& r) { return owners.owner(r); }},
             [this](const Molecule& molecule) { molecules_.push_back(molecule); });
  if (problem_ == nullptr) return {};
  if (into_ == Into::run) simulation_->place(molecules_);
  return step_at(time_.value_or(problem_->time_of_step_0));
}

/// The step of the run that ends then, if one does.
std::optional<StepIndex> StateInTransit::step_at(double time) const {
  constexpr double rounding = 1e-3;  // a time of few digits
  const double steps = (time - problem_->time_of_step_0) / problem_->dt, whole = std::round(steps);
  const bool fits = whole >= 0 && whole <= static_cast<double>(problem_->steps);
  if (!fits || std::abs(steps - whole) > rounding) return {};
  return static_cast<StepIndex>(whole);
}

void StateInTransit::write(const PhaseSpaceFiles& files, std::optional<StepIndex> step) const {
  mpi::collectively(comm_, [&] {
    if (model_.components.empty() && has_components(files.format))
      throw file_error(files.header.empty() ? files.data : files.header,
                       "states the components, which are not known", give_case);
  });
  double time = time_.value_or(0);
  if (!time_ && problem_ != nullptr)
    time = problem_->time_of_step_0 + problem_->dt * static_cast<double>(step.value_or(0));
  const auto molecules = list();
  write_phase_space(comm_, files,
                    {.time = time,
                     .temperature = temperature_,
                     .box = box_,
                     .model = &model_,
                     .own = decomposition().region(comm_.rank()),
                     .list = molecules,
                     .cells = cells_of(box_, mpi::sum(comm_, molecules.count))});
}

}  // namespace tailrace::molecules
