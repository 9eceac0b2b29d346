// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "h5/file.hpp"
#include "tailrace/run/case_output.hpp"

namespace tailrace::molecules {

/// The series of molecules' numbers in an output file that belong together.
struct Trajectory {
  /// One of them, with a sample for each time: (sample, molecule, component).
  struct Series {
    std::string quantity;
    h5::DatasetSpec values;
  };
  std::vector<double> times;
  std::vector<Series> series;  ///< positions, and what is sampled at the same steps; empty: there are none

  [[nodiscard]] bool empty() const noexcept { return series.empty(); }
};

/// The first series of positions among outputs, with the first one of each other quantity that has the same
/// steps. `tables` are those of which `outputs` were made, in their order. @local
Trajectory trajectory_of(const std::vector<run::OutputTable>& tables, const run::CaseOutputs& outputs);

}  // namespace tailrace::molecules
