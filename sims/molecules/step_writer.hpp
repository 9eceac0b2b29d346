// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "molecule_list.hpp"
#include "observables.hpp"
#include "quantities.hpp"
#include "region.hpp"
#include "tailrace/box.hpp"

namespace tailrace::molecules {

/// A step as writers see it: the same on all ranks but for the molecules and their region.
struct StepState {
  StepIndex step = 0;
  double time = 0;
  std::int64_t molecules = 0;  ///< refers to all ranks
  const ObservableValues& values;
  const MoleculeList& own;
  const Region& region;
};

/// Something that writes files of its own at some steps, beside the outputs of the case.
class StepWriter {
 public:
  StepWriter() = default;
  StepWriter(const StepWriter&) = delete;
  StepWriter& operator=(const StepWriter&) = delete;
  virtual ~StepWriter() = default;

  [[nodiscard]] virtual bool due(StepIndex step) const noexcept = 0;
  /// @collective. Errors (io), on all ranks.
  virtual void write(const StepState& state) = 0;
  /// A run continues after this step: forgets what a run before wrote of later ones. @collective
  virtual void resume([[maybe_unused]] StepIndex step) {}
};

}  // namespace tailrace::molecules
