// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <complex>
#include <span>
#include <vector>

#include "field.hpp"
#include "grid.hpp"
#include "kernels.hpp"
#include "spectral_space.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::ultrasound {

/// Describes what one thread works with.
template <class Real>
struct Workspace {
  typename PlaneTransform<Real>::Scratch transform;
  AlignedVector<std::complex<Real>> spectrum;              ///< one plane
  std::array<AlignedVector<Real>, 4> real;                 ///< one plane each
  std::array<AlignedVector<std::complex<Real>>, 2> block;  ///< columns along z
  std::array<AlignedVector<Real>, 2> constant;             ///< one row each
  [[nodiscard]] std::int64_t bytes() const noexcept;
};

/// Neighbouring columns along z, as many as one transform takes: the kx in `kx` at row y. Those from the
/// `wavenumbers`-th on are padding behind the half spectrum; `first` is the number of the first one among
/// this rank's columns.
struct ColumnBlock {
  std::int64_t y = 0;
  Range kx;
  std::int64_t wavenumbers = 0, first = 0;
};

/// The two ways in which a step passes over the grid: plane by plane, and by blocks of columns along z. Both
/// work through the rank's part in batches and send each finished batch on while the next one is computed.
template <class Real>
class Sweeps {
 public:
  using Complex = std::complex<Real>;

  /// @collective{comm}
  Sweeps(mpi::CommView comm, const Grid& grid, trace::Log& log);

  [[nodiscard]] const SpectralSpace<Real>& space() const noexcept { return space_; }
  /// Bytes of the threads' memory.
  [[nodiscard]] std::int64_t bytes() const noexcept;
  /// The step that spans of the trace belong to from now on.
  void set_step(StepIndex step) noexcept { step_ = step; }

  /// Runs work(z, workspace) for every plane; `results` are the spectra that it fills, which are then moved
  /// to columns. @collective{comm}
  template <class Work>
  void planes(std::span<SpectralField<Real>* const> results, Work work);
  /// Runs work(block, workspace) for every block of columns; `results` are then moved back to planes.
  /// @collective{comm}
  template <class Work>
  void columns(std::span<SpectralField<Real>* const> results, Work work);
  /// Sends the given spectra to and fro as a step does, so that MPI takes the memory that it takes for the
  /// first messages. @collective{comm}
  void rehearse(std::span<SpectralField<Real>* const> fields);

  /// Transforms one plane to its spectrum and back; the inverse destroys the spectrum. @local
  void forward(const Real* real, std::int64_t z, SpectralField<Real>& field, Workspace<Real>& work) const {
    space_.plane_transform().forward(real, space_.plane(field, z), work.transform);
  }
  void inverse(SpectralField<Real>& field, std::int64_t z, Real* real, Workspace<Real>& work) const {
    space_.plane_transform().inverse(space_.plane(field, z), real, work.transform);
  }
  /// Multiplies a block of columns by real factors, in the midst of its transforms along z. @local
  void filter(SpectralField<Real>& field, const RadialTable<Real>& table, const ColumnBlock& block,
              Workspace<Real>& work) const;

 private:
  static Workspace<Real>& mine(std::vector<Workspace<Real>>& all) {
    return all[static_cast<std::size_t>(omp_get_thread_num())];
  }
  using Exchanges = std::vector<typename SpectralSpace<Real>::Exchange>;
  void start(int batch, Exchanges& exchanges);
  void finish(std::span<SpectralField<Real>* const> results, Exchanges& exchanges);

  SpectralSpace<Real> space_;
  trace::Log& log_;
  StepIndex step_ = 0;
  std::vector<Workspace<Real>> workspaces_;
};

template <class Real>
template <class Work>
void Sweeps<Real>::planes(std::span<SpectralField<Real>* const> results, Work work) {
  Exchanges exchanges;
  for (auto* field : results) exchanges.push_back(space_.begin_to_columns(*field));
  for (int k = 0; k < space_.batches(); ++k) {
    const Range planes = space_.plane_batch(k);
#pragma omp parallel for schedule(static)
    for (std::int64_t z = planes.begin; z < planes.end; ++z) work(z, mine(workspaces_));
    start(k, exchanges);
  }
  finish(results, exchanges);
}

template <class Real>
template <class Work>
void Sweeps<Real>::columns(std::span<SpectralField<Real>* const> results, Work work) {
  const std::int64_t width = space_.column_transform().width();
  Exchanges exchanges;
  for (auto* field : results) exchanges.push_back(space_.begin_to_planes(*field));
  for (int k = 0; k < space_.batches(); ++k) {
    const auto [rows, kx] = space_.column_batch(k);
    const std::int64_t blocks = (kx.size() + width - 1) / width;
#pragma omp parallel for collapse(2) schedule(static)
    for (std::int64_t y = rows.begin; y < rows.end; ++y)
      for (std::int64_t i = 0; i < blocks; ++i) {
        const std::int64_t begin = kx.begin + i * width, end = std::min(begin + width, kx.end);
        work(ColumnBlock{.y = y,
                         .kx = {begin, end},
                         .wavenumbers = std::clamp<std::int64_t>(space_.half_nx() - begin, 0, end - begin),
                         .first = begin - space_.columns().kx.begin},
             mine(workspaces_));
      }
    start(k, exchanges);
  }
  finish(results, exchanges);
}

}  // namespace tailrace::ultrasound
