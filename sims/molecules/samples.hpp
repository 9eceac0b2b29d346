// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "id_order.hpp"
#include "model.hpp"
#include "molecule_list.hpp"
#include "options.hpp"
#include "quantities.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::molecules {

/// Describes what the outputs of a run ask for, and the values of a step on their way to them.
///
/// Samples lie in a space of indices with room for all kinds: y counts molecules in the order of their ids,
/// of which each rank owns some, x counts the numbers that belong to one; what belongs to the whole system is
/// at y = 0.
class Samples {
 public:
  /// The outputs of a case with their places, `all_observables` as one for each. `molecules` in the whole
  /// system.
  /// @local
  static std::vector<run::OutputTable> placed(const std::vector<run::OutputTable>& tables,
                                              const std::vector<Bins>& bins, std::int64_t molecules);
  /// The extents of that space. @local
  static Index3 space(const std::vector<run::OutputTable>& placed, std::int64_t molecules);

  /// `streams` are those of the placed tables; `order` and `model` outlive the object.
  Samples(mpi::CommView comm, const std::vector<output::Stream>& streams, Index3 space, const Vec3& box,
          const Model& model, const IdOrder& order);

  /// The part of the space that this rank owns.
  [[nodiscard]] Box own_box() const noexcept { return own_box_; }
  /// True if an output takes a sample of this step, and needs what `take` gathers. @local
  [[nodiscard]] bool due(StepIndex step) const noexcept;
  /// Gathers what is due at a step. @collective{comm}; synchronises if anything but observables is due
  void take(StepIndex step, const ObservableValues& values, const MoleculeList& molecules);
  /// The same for the outputs of the last state, `reduce = "final"`, of a run that ended early.
  /// @collective{comm}
  void take_last(const ObservableValues& values, const MoleculeList& molecules);
  /// Returns where the values of a quantity are; for streams of the plan. @local
  [[nodiscard]] output::FieldView field(const std::string& source) const;
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  /// Describes what some outputs have in common: a quantity, and its values.
  struct Source {
    const Quantity* quantity = nullptr;
    Bins bins{1, 1, 1};
    std::int64_t width = 1;      ///< numbers that are side by side
    std::vector<double> values;  ///< refers to this rank's part of the space
  };
  struct Wanted {
    output::Cadence cadence;
    bool final = false;
    Source* source = nullptr;
  };
  void gather(const std::vector<Source*>& sources, const ObservableValues& values,
              const MoleculeList& molecules);
  void gather_by_id(const std::vector<Source*>& sources, const MoleculeList& molecules);
  void gather_bins(Source& source, const MoleculeList& molecules) const;

  mpi::CommView comm_;
  Index3 space_;
  Box own_box_;
  Vec3 box_;
  const Model& model_;
  const IdOrder& order_;
  std::map<std::string, Source> sources_;
  std::vector<Wanted> wanted_;
};

}  // namespace tailrace::molecules
