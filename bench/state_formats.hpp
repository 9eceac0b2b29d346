// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/system.hpp"
#include "checkpoint/restore.hpp"
#include "checkpoint/save.hpp"
#include "checkpoint/store.hpp"
#include "molecule_rows.hpp"
#include "molecule_states.hpp"
#include "output/core/staging.hpp"

/// Ways to keep a state of molecules in files.
namespace tailrace::bench {

class StateFormat {
 public:
  StateFormat() = default;
  StateFormat(const StateFormat&) = delete;
  StateFormat& operator=(const StateFormat&) = delete;
  virtual ~StateFormat() = default;

  /// Writes what a part has; when it returns, the files have their names and are on the device. Returns the
  /// seconds after which the state might have changed. @collective{part.comm()}
  virtual double write(const Part& part) = 0;
  /// Puts what was written into a part that is empty. @collective{part.comm()}
  virtual void read(Part& part) = 0;
  /// Of what was written. @local
  [[nodiscard]] virtual std::vector<std::string> paths() const = 0;
};

/// The formats of MarDyn and ls1 mardyn.
class ReferenceFormat final : public StateFormat {
 public:
  enum class Cells {
    per_rank,   ///< as the study's program has them
    per_cutoff  ///< as `tailrace-molecules` writes them
  };
  ReferenceFormat(const std::string& directory, molecules::PhaseSpaceFormat format, Cells cells)
      : files_(molecules::files_of(format, directory + "/state")), cells_(cells) {}

  double write(const Part& part) override {
    const double start_s = monotonic_s();
    const auto& liquid = part.liquid();
    molecules::write_phase_space(
        part.comm(), files_,
        {.temperature = Liquid::temperature,
         .box = liquid.box,
         .model = &liquid.model,
         .own = part.own(),
         .list = part.list(),
         .cells = cells_ == Cells::per_rank ? part.regions()
                                            : molecules::cells_of_cutoff(liquid.box, Liquid::cutoff)});
    return monotonic_s() - start_s;
  }
  void read(Part& part) override {
    molecules::open_phase_space(part.comm(), files_)
        ->read(part.share(), [&](const molecules::Molecule& molecule) { part.take(molecule); });
  }
  [[nodiscard]] std::vector<std::string> paths() const override {
    if (files_.header.empty()) return {files_.data};
    return {files_.header, files_.data};
  }

 private:
  molecules::PhaseSpaceFiles files_;
  Cells cells_;
};

/// A checkpoint of Tailrace.
class OwnFormat final : public StateFormat {
 public:
  OwnFormat(std::string directory, const std::string& strategy, std::int64_t buffer_bytes)
      : directory_(std::move(directory)),
        options_(output::parse_options({.write = strategy, .sink = {}, .pace = {}, .fault = {}})),
        buffer_bytes_(buffer_bytes) {}

  double write(const Part& part) override {
    trace::Log log("checkpoint");
    const double start_s = monotonic_s();
    checkpoint::Saving saving(part.comm(), directory_, {.simulation = "bench", .program = "bench"},
                              [&](checkpoint::StateArchive& archive) { pass(archive, part, {}); }, options_,
                              {.buffer_bytes = buffer_bytes_}, log, {.memory = &memory_});
    const double handed_s = monotonic_s() - start_s;
    saving.finish();
    return handed_s;
  }
  void read(Part& part) override {
    checkpoint::Checkpoint(part.comm(), path(), "bench").restore([&](checkpoint::StateArchive& archive) {
      pass(archive, part, [&](const molecules::Molecule& molecule) { part.take(molecule); });
    });
  }
  [[nodiscard]] std::vector<std::string> paths() const override { return {path()}; }

 private:
  [[nodiscard]] std::string path() const { return checkpoint::checkpoint_path(directory_, 0); }
  static void pass(checkpoint::StateArchive& archive, const Part& part, molecules::MoleculeRows::Add add) {
    const auto& box = part.liquid().box;
    const molecules::FileGrid grid(box, molecules::cells_of_cutoff(box, Liquid::cutoff));
    archive.component("molecules", 1, [&](int) {
      archive.rows("molecule",
                   std::make_unique<molecules::MoleculeRows>(grid, part.own(), part.list(), std::move(add)));
    });
  }

  std::string directory_;
  output::StagingMemory memory_;
  output::WriteOptions options_;
  std::int64_t buffer_bytes_;
};

/// The format of a name, in a directory of its own.
struct NamedFormat {
  const char* name;
  std::unique_ptr<StateFormat> (*make)(const std::string& directory, std::int64_t buffer_bytes);
};

template <molecules::PhaseSpaceFormat format, ReferenceFormat::Cells cells>
std::unique_ptr<StateFormat> reference_format(const std::string& directory, std::int64_t /*buffer_bytes*/) {
  return std::make_unique<ReferenceFormat>(directory, format, cells);
}
inline std::unique_ptr<StateFormat> own_format(const std::string& directory, std::int64_t buffer_bytes) {
  return std::make_unique<OwnFormat>(directory, "threads", buffer_bytes);
}

using molecules::PhaseSpaceFormat;
using enum ReferenceFormat::Cells;
inline constexpr std::array state_formats{
    NamedFormat{"ascii", reference_format<PhaseSpaceFormat::ascii, per_rank>},
    NamedFormat{"binary", reference_format<PhaseSpaceFormat::binary, per_rank>},
    NamedFormat{"netcdf", reference_format<PhaseSpaceFormat::netcdf, per_rank>},
    NamedFormat{"cells", reference_format<PhaseSpaceFormat::cells, per_rank>},
    NamedFormat{"fine-cells", reference_format<PhaseSpaceFormat::cells, per_cutoff>},
    NamedFormat{"mpi-restart", reference_format<PhaseSpaceFormat::mpi_restart, per_rank>},
    NamedFormat{"tailrace", own_format}};

}  // namespace tailrace::bench
