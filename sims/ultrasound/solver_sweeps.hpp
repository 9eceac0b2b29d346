#pragma once

#include <omp.h>

#include "solver.hpp"

/// The two ways in which a step passes over the grid. Both work through the rank's part in pieces and send
/// each finished piece on while the next one is computed.
namespace tailrace::ultrasound {

/// Runs work(z, workspace) for every plane; `results` are the spectra that it fills, which are then moved to
/// rows.
template <class Work>
void Solver::sweep_planes(std::span<SpectralField* const> results, Work work) {
  std::vector<SpectralSpace::Exchange> exchanges;
  for (auto* field : results) exchanges.push_back(space_.begin_to_rows(*field));
  for (int k = 0; k < space_.pieces(); ++k) {
    const Range planes = space_.plane_piece(k);
#pragma omp parallel for schedule(static)
    for (std::int64_t z = planes.begin; z < planes.end; ++z)
      work(z, workspaces_[static_cast<std::size_t>(omp_get_thread_num())]);
    const trace::Scope scope(log_, trace::Kind::exchange, step_);
    for (auto& exchange : exchanges) exchange.start(k);
    if (k + 1 == space_.pieces())
      for (auto& exchange : exchanges) exchange.finish();
  }
}

/// Runs work(y, kx, workspace) for every block of columns along z; `results` are then moved back to planes.
template <class Work>
void Solver::sweep_rows(std::span<SpectralField* const> results, Work work) {
  const std::int64_t width = space_.column_transform().width();
  const std::int64_t blocks = (space_.pitch() + width - 1) / width;
  std::vector<SpectralSpace::Exchange> exchanges;
  for (auto* field : results) exchanges.push_back(space_.begin_to_planes(*field));
  for (int k = 0; k < space_.pieces(); ++k) {
    const Range rows = space_.row_piece(k);
#pragma omp parallel for collapse(2) schedule(static)
    for (std::int64_t y = rows.begin; y < rows.end; ++y)
      for (std::int64_t block = 0; block < blocks; ++block)
        work(y, block * width, workspaces_[static_cast<std::size_t>(omp_get_thread_num())]);
    const trace::Scope scope(log_, trace::Kind::exchange, step_);
    for (auto& exchange : exchanges) exchange.start(k);
    if (k + 1 == space_.pieces())
      for (auto& exchange : exchanges) exchange.finish();
  }
}

}  // namespace tailrace::ultrasound
