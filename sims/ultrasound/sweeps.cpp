// SPDX-License-Identifier: BSD-3-Clause
#include "sweeps.hpp"

namespace tailrace::ultrasound {

template <class Real>
std::int64_t Workspace<Real>::bytes() const noexcept {
  auto sum = static_cast<std::int64_t>(spectrum.size() * sizeof(std::complex<Real>));
  for (const auto& values : real) sum += static_cast<std::int64_t>(values.size() * sizeof(Real));
  for (const auto& values : constant) sum += static_cast<std::int64_t>(values.size() * sizeof(Real));
  return sum + rows.bytes() + columns.bytes();
}

template <class Real>
Sweeps<Real>::Sweeps(mpi::CommView comm, const Grid& grid, trace::Log& log)
    : space_(comm, grid), log_(log), workspaces_(static_cast<std::size_t>(omp_get_max_threads())) {
  const auto rows = static_cast<std::size_t>(space_.ny() * space_.planes_at_once());
  // Which row of a slab a plane is depends on the number of ranks where a plane is one row: there every row
  // has the alignment of the first, because the compiler's loops round differently where they begin
  // unaligned.
  const auto nx = static_cast<std::size_t>(grid.points.x), stride = space_.ny() == 1 ? padded<Real>(nx) : nx;
  for (auto& work : workspaces_) {
    work.rows = space_.plane_transform().make_scratch();
    work.columns = FftScratch<Real>(space_.fourier_z().room(), 2);
    work.stride = static_cast<std::int64_t>(stride);
    work.pitch = space_.pitch();
    work.spectrum.resize(static_cast<std::size_t>(space_.pitch()) * rows, Complex{});
    for (auto& real : work.real) real.resize(stride * rows);
    for (auto& row : work.constant) row.resize(nx);
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
    for (std::size_t i = 0; i < fields.size(); ++i) begin(*fields[i], exchanges[i]);
    for (int k = 0; k < space_.batches(); ++k)
      for (auto& each : exchanges) each.start(k);
    for (auto& each : exchanges) each.finish();
  };
  for (int round = 0; round < 2; ++round) {  // the second finds what the first one's pace left out
    exchange([&](SpectralField<Real>& field, auto& to) { space_.begin_to_columns(field, to); });
    exchange([&](SpectralField<Real>& field, auto& to) { space_.begin_to_planes(field, to); });
  }
}

template <class Real>
void Sweeps<Real>::filter(std::span<SpectralField<Real>* const> fields,
                          std::span<const RadialTable<Real>* const> tables) {
  columns(fields, [&](auto& group) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      group.forward(*fields[i]);
      for (std::int64_t z = 0; z < space_.nz(); ++z)
        group.values()[z] = group.values()[z] * group.factors(*tables[i], z);
      group.inverse(0, *fields[i]);
    }
  });
}

template struct Workspace<float>;
template struct Workspace<double>;
template class Sweeps<float>;
template class Sweeps<double>;

}  // namespace tailrace::ultrasound
