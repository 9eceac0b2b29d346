// SPDX-License-Identifier: BSD-3-Clause
#include "step_writers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "growing_text.hpp"
#include "mpi/packets.hpp"
#include "mpi/verdict.hpp"
#include "output/core/raw_file.hpp"
#include "phase_space.hpp"
#include "pictures.hpp"
#include "shared_file.hpp"

namespace tailrace::molecules {

namespace {

namespace fs = std::filesystem;

std::string prefix_of(const WriterOptions& options) {
  return options.prefix == "default" ? "mardyn" : options.prefix;
}

/// The digits that the number of each file of a run has: as many as the last one, as the reference has it.
std::size_t digits_of(StepIndex steps, StepIndex every) {
  return fmt::format("{}", steps / every).size();
}

/// Describes what all writers have in common: when, and the names of their files.
class NamedWriter : public StepWriter {
 public:
  NamedWriter(WriterOptions options, const WriterContext& context)
      : options_(std::move(options)), context_(context) {}
  [[nodiscard]] bool due(StepIndex step) const noexcept override { return step % options_.every == 0; }

 protected:
  [[nodiscard]] mpi::CommView comm() const noexcept { return context_.comm; }
  [[nodiscard]] StepIndex every() const noexcept { return options_.every; }
  [[nodiscard]] const WriterContext& context() const noexcept { return context_; }
  [[nodiscard]] FileAccess access(StepIndex step) const { return {call_, step}; }
  /// The prefix with an ending, in the directory of the run unless it names another one.
  [[nodiscard]] std::string path(const std::string& ending) const {
    return (fs::path(context_.directory) / (prefix_of(options_) + ending)).string();
  }
  /// The number of a file.
  [[nodiscard]] std::string number(StepIndex step) const {
    if (!options_.incremental) return "";
    return fmt::format("-{:0{}}", step / options_.every, digits_of(context_.problem.steps, options_.every));
  }

 private:
  WriterOptions options_;
  WriterContext context_;
  std::shared_ptr<output::WriteCall> call_ = output::make_write_call(context_.write, context_.comm.rank());
};

/// Observables as a table of text, with the columns of the reference.
class ResultWriter final : public NamedWriter {
 public:
  using NamedWriter::NamedWriter;

  void write(const StepState& state) override {
    mpi::collectively_on_root(comm(), [&] {
      if (state.step == 0) make_empty(path(".res"));
      const auto size = size_of(path(".res"));
      const auto text = size == 0 ? head() + line(state) : line(state);
      output::RawFile file(path(".res"), access(state.step).call);
      file.write(std::as_bytes(std::span(text)), size, state.step);
      file.close();
    });
  }

  void resume(StepIndex step) override {
    mpi::collectively_on_root(comm(), [&] {
      cut_lines(path(".res"), [step](const std::string& line) {
        StepIndex found = 0;
        return (std::istringstream(line) >> found) && found > step;
      });
    });
  }

 private:
  static std::string head() {
    auto text = fmt::format("# {:>8}", "step");
    for (const char* name : {"time", "U_pot", "U_pot_avg", "U_kin", "U_kin_avg", "p", "p_avg", "beta_trans",
                             "beta_rot", "c_v", "N"})
      text += fmt::format("{:>26}", name);
    return text + '\n';
  }

  static std::string line(const StepState& state) {
    auto text = fmt::format("{:10}{:26.16e}", state.step, state.time);
    using enum Observable::Index;
    for (const auto one : {potential_energy, mean_potential_energy, kinetic_energy, mean_kinetic_energy,
                           pressure, mean_pressure, beta_trans, beta_rot, heat_capacity})
      text += fmt::format("{:26.16e}", state.values[one]);
    return text + fmt::format("{:26}\n", state.molecules);
  }
};

/// Puts sections one behind the other into the bytes of a file from `begin` on: of each the head, then what
/// the ranks have. Returns where it ends. @collective
class SectionPlaces {
 public:
  SectionPlaces(mpi::CommView comm, const std::vector<Section>& sections, std::int64_t begin)
      : sections_(sections) {
    std::vector<std::int64_t> sizes;
    for (const auto& section : sections) sizes.push_back(static_cast<std::int64_t>(section.own.size()));
    before_ = mpi::exclusive_scan(comm, sizes);
    all_ = mpi::sum(comm, sizes);
    for (std::size_t i = 0; i < sections.size(); ++i) {
      begins_.push_back(begin);
      begin += static_cast<std::int64_t>(sections[i].head.size()) + all_[i];
    }
    end_ = begin;
  }
  [[nodiscard]] std::int64_t end() const noexcept { return end_; }
  /// Calls `put(offset, text)` for what this rank has to write.
  template <class Put>
  void write(bool root, const Put& put) const {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const auto head = static_cast<std::int64_t>(sections_[i].head.size());
      if (root) put(begins_[i], sections_[i].head);
      if (!sections_[i].own.empty()) put(begins_[i] + head + before_[i], sections_[i].own);
    }
  }

 private:
  const std::vector<Section>& sections_;
  std::vector<std::int64_t> before_, all_, begins_;
  std::int64_t end_ = 0;
};

Moment moment_of(const StepState& state, const Problem& problem, std::span<const Molecule> own) {
  return {.time = state.time,
          .molecules = state.molecules,
          .box = problem.length,
          .model = problem.model,
          .own = own};
}

/// A file for each step.
class PictureWriter final : public NamedWriter {
 public:
  using Text = std::vector<Section> (*)(const Moment&);
  PictureWriter(WriterOptions options, const WriterContext& context, Text text, const char* ending)
      : NamedWriter(std::move(options), context), text_(text), ending_(ending) {}

  void write(const StepState& state) override {
    const auto molecules = in_order(comm(), context().order, state.own);
    const auto sections = text_(moment_of(state, context().problem, molecules));
    const SectionPlaces places(comm(), sections, 0);
    SharedFile file(comm(), path(number(state.step) + ending_), places.end(), access(state.step));
    SharedFile* const files[] = {&file};
    write_together(comm(), files, [&] {
      places.write(comm().is_root(),
                   [&](std::int64_t offset, const std::string& text) { file.write(offset, text); });
    });
  }

 private:
  Text text_;
  const char* ending_;
};

/// Frames one behind the other in one file.
class VisWriter final : public NamedWriter {
 public:
  using NamedWriter::NamedWriter;

  void write(const StepState& state) override {
    const auto molecules = in_order(comm(), context().order, state.own);
    const auto sections = vis_text(moment_of(state, context().problem, molecules), state.step == 0);
    std::int64_t size = 0;
    mpi::collectively_on_root(comm(), [&] {
      if (state.step == 0) make_empty(path(".vis"));
      size = size_of(path(".vis"));
    });
    const SectionPlaces places(comm(), sections, mpi::max(comm(), size));
    mpi::collectively(comm(), [&] {
      output::RawFile file(path(".vis"), access(state.step).call);
      places.write(comm().is_root(), [&](std::int64_t offset, const std::string& text) {
        file.write(std::as_bytes(std::span(text)), offset, state.step);
      });
      file.close();
    });
  }

  void resume(StepIndex step) override {
    mpi::collectively_on_root(comm(), [&] {
      const auto lines = (step / every() + 1) * (context().order.size() + 1);  // with one between frames
      cut_lines(path(".vis"),
                [lines, kept = StepIndex{0}](const std::string&) mutable { return kept++ == lines; });
    });
  }
};

/// The state in a format of the reference.
class CheckpointWriter final : public NamedWriter {
 public:
  CheckpointWriter(WriterOptions options, const WriterContext& context, PhaseSpaceFormat format)
      : NamedWriter(std::move(options), context), format_(format) {}

  void write(const StepState& state) override {
    const auto& problem = context().problem;
    const PhaseSpaceState saved{.time = state.time,
                                .temperature = problem.thermostat.temperature,
                                .box = problem.length,
                                .model = &problem.model,
                                .own = state.region,
                                .list = state.own,
                                .cells = cells_of_cutoff(problem.length, problem.model.cutoff),
                                .access = access(state.step)};
    write_phase_space(comm(), files_of(format_, path(number(state.step))), saved);
  }

 private:
  PhaseSpaceFormat format_;
};

template <class Writer, class... Arguments>
auto maker(Arguments... arguments) {
  return [=](const WriterOptions& options, const WriterContext& context) -> std::unique_ptr<StepWriter> {
    return std::make_unique<Writer>(options, context, arguments...);
  };
}

/// Describes a writer by what it makes of a prefix.
struct Entry {
  std::function<std::unique_ptr<StepWriter>(const WriterOptions&, const WriterContext&)> make;
  std::vector<std::string> endings;
  bool one_file = false;  ///< for all steps
};

Entry entry_of_checkpoints(PhaseSpaceFormat format) {
  const auto files = files_of(format, "");
  std::vector<std::string> endings{files.data};
  if (!files.header.empty()) endings.push_back(files.header);
  return {maker<CheckpointWriter>(format), endings};
}

const std::map<std::string, Entry>& entries() {
  using Format = PhaseSpaceFormat;
  static const std::map<std::string, Entry> all{
      {"ResultWriter", {maker<ResultWriter>(), {".res"}, true}},
      {"XyzWriter", {maker<PictureWriter>(&xyz_text, ".xyz"), {".xyz"}}},
      {"PovWriter", {maker<PictureWriter>(&pov_text, ".pov"), {".pov"}}},
      {"VTKMoleculeWriter", {maker<PictureWriter>(&vtu_text, ".vtu"), {".vtu"}}},
      {"VISWriter", {maker<VisWriter>(), {".vis"}, true}},
      {"CheckpointWriter", entry_of_checkpoints(Format::ascii)},
      {"BinaryCheckpointWriter", entry_of_checkpoints(Format::binary)},
      {"MPI-IOCheckpointWriter", entry_of_checkpoints(Format::cells)},
      {"PnetCDFCheckpointWriter", entry_of_checkpoints(Format::netcdf)},
      {"MPICheckpointWriter", entry_of_checkpoints(Format::mpi_restart)}};
  return all;
}

/// The names of a writer's files, with # where their numbers are, as many as these have digits.
std::set<std::string> file_names(const WriterOptions& options, std::optional<StepIndex> steps) {
  const auto& entry = entries().at(options.name);
  std::string number;
  if (!entry.one_file && options.incremental)
    number = fmt::format("-{:#>{}}", "", steps ? digits_of(*steps, options.every) : 1);
  std::set<std::string> names;
  for (const auto& ending : entry.endings)
    names.insert(fs::path(prefix_of(options) + number + ending).lexically_normal().string());
  return names;
}

}  // namespace

std::vector<Molecule> in_order(mpi::CommView comm, const IdOrder& order, const MoleculeList& own) {
  std::map<int, mpi::Packet<Molecule>> to;
  for (std::int64_t i = 0; i < own.count; ++i) {
    const auto molecule = own.molecule(i);
    auto& packet = to[order.owner(molecule.id)];
    packet.rank = order.owner(molecule.id);
    packet.values.push_back(molecule);
  }
  std::vector<mpi::Packet<Molecule>> packets;
  for (auto& [rank, packet] : to) packets.push_back(std::move(packet));
  std::vector<Molecule> mine;
  for (const auto& packet : mpi::deliver(comm, packets))
    mine.insert(mine.end(), packet.values.begin(), packet.values.end());
  std::sort(mine.begin(), mine.end(), [](const Molecule& a, const Molecule& b) { return a.id < b.id; });
  return mine;
}

std::vector<std::string> writer_names() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries()) names.push_back(name);
  return names;
}

std::string common_file(const WriterOptions& a, const WriterOptions& b, std::optional<StepIndex> steps) {
  const auto others = file_names(b, steps);
  for (const auto& name : file_names(a, steps))
    if (others.contains(name)) return name;
  return "";
}

void make_directories(const std::vector<WriterOptions>& options, const std::string& directory) {
  for (const auto& one : options) {
    const auto wanted = (fs::path(directory) / prefix_of(one)).parent_path();
    std::error_code code;
    if (!wanted.empty()) fs::create_directories(wanted, code);
    if (code)
      throw Error(ErrorInfo{.kind = ErrorKind::io,
                            .message = fmt::format("{}.prefix: the directory {} cannot be made: {}", one.key,
                                                   wanted.string(), code.message()),
                            .path = wanted.string(),
                            .hint = "a prefix in a directory that can be made"});
  }
}

std::vector<std::unique_ptr<StepWriter>> make_writers(const std::vector<WriterOptions>& options,
                                                      const WriterContext& context) {
  std::vector<std::unique_ptr<StepWriter>> writers;
  for (const auto& one : options) writers.push_back(entries().at(one.name).make(one, context));
  return writers;
}

}  // namespace tailrace::molecules
