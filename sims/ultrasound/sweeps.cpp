// SPDX-License-Identifier: BSD-3-Clause
#include "sweeps.hpp"

namespace tailrace::ultrasound {

template <class Real>
std::int64_t Workspace<Real>::bytes() const noexcept {
  std::size_t sum = (transform.pairs.size() + spectrum.size()) * sizeof(std::complex<Real>);
  for (const auto& values : real) sum += values.size() * sizeof(Real);
  for (const auto& values : block) sum += values.size() * sizeof(std::complex<Real>);
  for (const auto& values : constant) sum += values.size() * sizeof(Real);
  return static_cast<std::int64_t>(sum);
}

template <class Real>
Sweeps<Real>::Sweeps(mpi::CommView comm, const Grid& grid, trace::Log& log)
    : space_(comm, grid), log_(log), workspaces_(static_cast<std::size_t>(omp_get_max_threads())) {
  const auto plane = static_cast<std::size_t>(grid.points.x * space_.ny());
  for (auto& work : workspaces_) {
    work.transform = space_.plane_transform().make_scratch();
    work.spectrum.resize(static_cast<std::size_t>(space_.pitch() * space_.ny()), Complex{});
    for (auto& real : work.real) real.resize(plane);
    for (auto& block : work.block) block = space_.column_transform().make_block();
    for (auto& row : work.constant) row.resize(static_cast<std::size_t>(grid.points.x));
  }
}

template <class Real>
std::int64_t Sweeps<Real>::bytes() const noexcept {
  std::int64_t sum = 0;
  for (const auto& work : workspaces_) sum += work.bytes();
  return sum;
}

/// Sends a finished batch of every spectrum to other nodes.
template <class Real>
void Sweeps<Real>::start(int batch, Exchanges& exchanges) {
  if (space_.batches() == 1) return;
  const trace::Scope scope(log_, trace::Kind::exchange, step_);
  for (auto& exchange : exchanges) exchange.start(batch);
}

/// Waits for the ranks of the node and for what others send.
template <class Real>
void Sweeps<Real>::finish(std::span<SpectralField<Real>* const> results, Exchanges& exchanges) {
  const trace::Scope scope(log_, trace::Kind::exchange, step_);
  for (auto& exchange : exchanges) exchange.finish();
  space_.synchronise(results);
}

template <class Real>
void Sweeps<Real>::rehearse(std::span<SpectralField<Real>* const> fields) {
  const auto exchange = [&](const auto& begin) {
    Exchanges exchanges;
    for (auto* field : fields) exchanges.push_back(begin(*field));
    for (int k = 0; k < space_.batches(); ++k)
      for (auto& each : exchanges) each.start(k);
    for (auto& each : exchanges) each.finish();
  };
  for (int round = 0; round < 2; ++round) {  // the second finds what the first one's pace left out
    exchange([&](SpectralField<Real>& field) { return space_.begin_to_columns(field); });
    exchange([&](SpectralField<Real>& field) { return space_.begin_to_planes(field); });
  }
}

template <class Real>
void Sweeps<Real>::filter(SpectralField<Real>& field, const RadialTable<Real>& table,
                          const ColumnBlock& block, Workspace<Real>& work) const {
  const auto& columns = space_.column_transform();
  const std::int64_t width = columns.width();
  Complex* values = work.block[0].data();
  space_.load(field, block.y, block.kx, values);
  columns.forward(values);
  for (std::int64_t z = 0; z < space_.nz(); ++z)
    kernels::scale_in_place(values + z * width, table.row(block.y, z) + block.first, block.wavenumbers);
  columns.inverse(values);
  space_.store(values, block.y, block.kx, field);
}

template struct Workspace<float>;
template struct Workspace<double>;
template class Sweeps<float>;
template class Sweeps<double>;

}  // namespace tailrace::ultrasound
