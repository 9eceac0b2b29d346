// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/error.hpp"
#include "tailrace/file_content.hpp"
#include "tailrace/stream.hpp"

/// The [[output]] tables of a case (docs/reference/case_file.md): what any simulation can be asked to write,
/// at which points and steps.
namespace tailrace::run {

class CaseFile;

/// A quantity that a simulation offers for [[output]].
struct OfferedQuantity {
  std::string name, unit;
  std::int64_t components = 0;           ///< of rows of any number; 0: values at points of the domain
  std::array<double, 3> offset_cells{};  ///< from these points, along x, y, z: halves where it is staggered
};

/// Describes where the samples of a quantity lie that is no field on the grid of the domain: which indices
/// hold them, and how a reader of the file sees one sample, as many elements. A simulation that has such
/// quantities chooses a domain with room for all of them.
struct SamplePlace {
  Box box;
  h5::Shape shape;
  std::string source;  ///< says what the simulation is asked for
};

/// An [[output]] table as written: right by itself, not yet compared with the domain and the steps of the
/// run.
struct OutputTable {
  enum class Shape { whole, box, points, plane, rows };
  std::string key;  ///< "output[0]", for messages
  std::string name, quantity, unit;
  Shape shape = Shape::whole;
  std::vector<std::vector<std::int64_t>> corners;  ///< low and high corner, inclusive; or the points; x, y, z
  std::size_t plane_axis = 0;                      ///< 0, 1, 2: x, y, z
  std::int64_t plane_index = 0;
  std::int64_t components = 1;               ///< refers to rows
  std::array<double, 3> offset_cells{};      ///< from the points of the domain to its own
  bool interior = false;                     ///< without the layers at the boundaries
  StepIndex first = 0, every = 0, last = 0;  ///< 0: not given
  double every_s = 0;                        ///< time between samples instead; 0: not given
  std::vector<StepIndex> at;
  bool initial = false;
  bool open = false;  ///< nobody knows how many samples come: the dataset grows
  output::Reduction reduction = output::Reduction::none;
  h5::ElementType type = h5::ElementType::float32;
  output::OnFailure on_failure = output::OnFailure::stop;
  std::optional<SamplePlace> place;  ///< given by the simulation; the shape is then `whole`
};

/// Reads all [[output]] tables of a case; what is wrong with them becomes problems of the file. `layers` is
/// the key with which a simulation lets its boundary layers be left out ("pml"), empty if it has none. @local
std::vector<OutputTable> read_output_tables(CaseFile& file, const std::vector<OfferedQuantity>& offered,
                                            const std::string& layers);

/// Describes what a run gives to its outputs.
struct OutputDomain {
  Index3 points;
  Box interior;         ///< the points outside of boundary layers
  StepIndex steps = 0;  ///< refers to the run
  double time_of_step_0_s = 0, dt_s = 0;
  std::array<double, 3> spacing_m{1, 1, 1};  ///< along x, y, z
  std::vector<std::string> quantities;       ///< that exist in this domain
  std::vector<std::string> taken_paths{};    ///< says what the simulation puts into the file besides
  std::array<double, 3> origin_m{};          ///< where point 0 lies, along x, y, z
};

/// The outputs of a case on their way to the file: group /NAME with `values`, `step` and `time_s`.
class CaseOutputs {
 public:
  CaseOutputs() = default;
  /// Compares the tables with the domain. Errors (input): all problems together. @local
  CaseOutputs(const std::vector<OutputTable>& tables, const OutputDomain& domain, const std::string& subject);

  [[nodiscard]] const std::vector<output::Stream>& streams() const noexcept { return streams_; }
  /// Describes the grids among them beside the output file, for viewers; see `run::write_xdmf`. @local
  void describe_grids(const std::string& output) const;
  /// The time of the state after a step. @local
  [[nodiscard]] double time_s(StepIndex step) const noexcept { return frame_.time_s(step); }
  /// Adds the numbers of steps, before all else, unless the simulation's own format has them in the head or
  /// nobody said how many steps there are. Returns whether it did.
  bool add_step_counts(output::FileHead& head) const;
  /// Adds the number of steps taken, to a file whose head got it here.
  void add_step_count(output::FileTail& tail, StepIndex steps_done) const;
  /// Adds steps, times and attributes of the groups.
  void add_to(output::FileHead& head) const;
  /// Adds the steps that reductions ended with, which are known at the end.
  void add_to(output::FileTail& tail, StepIndex steps_done) const;

 private:
  std::vector<output::Stream> streams_;
  std::vector<output::GroupWords> described_;  ///< per stream
  output::Frame frame_;
  StepIndex steps_ = 0;
};

}  // namespace tailrace::run
