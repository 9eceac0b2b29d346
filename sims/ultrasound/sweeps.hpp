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
  FftScratch<Real> rows, columns;               ///< for transforms of slabs, and along z
  AlignedVector<std::complex<Real>> spectrum;   ///< one slab
  std::array<AlignedVector<Real>, 4> real;      ///< one slab each
  std::array<AlignedVector<Real>, 2> constant;  ///< one row each
  std::int64_t stride = 0, pitch = 0;           ///< of the rows of `real` and of `spectrum`

  [[nodiscard]] RowView<Real> rows_of(std::size_t which) noexcept { return {real[which].data(), stride}; }
  [[nodiscard]] RowView<const Real> rows_of(std::size_t which) const noexcept {
    return {real[which].data(), stride};
  }
  [[nodiscard]] RowView<std::complex<Real>> spectrum_rows() noexcept { return {spectrum.data(), pitch}; }
  [[nodiscard]] std::int64_t bytes() const noexcept;
};

/// Neighbouring columns along z, one in each lane of V: those from `kx` on at row y. `first` is the number of
/// the first one among this rank's columns. Two spectra at a time are worked on.
template <class Real, class V>
class ColumnGroup {
 public:
  ColumnGroup(const SpectralSpace<Real>& space, std::int64_t y, std::int64_t kx, FftScratch<Real>& scratch)
      : space_(space),
        y_(y),
        kx_(kx),
        first_(kx - space.columns().kx.begin),
        columns_{scratch.template columns<V>(0), scratch.template columns<V>(1)} {}

  [[nodiscard]] std::int64_t y() const noexcept { return y_; }
  [[nodiscard]] fft::Pair<V>* values(std::size_t which = 0) noexcept { return columns_[which].values; }
  /// Takes columns out of a spectrum and transforms them along z.
  void forward(const SpectralField<Real>& field) noexcept {
    fft::Pair<V>* out = values();
    const std::int64_t at = y_ * space_.pitch() + kx_;
    for (const auto* plane : field.plane_at)
      *out++ = fft::load_pair<V>(reinterpret_cast<const Real*>(plane + at));
    columns_[0].forward(space_.fourier_z());
  }
  /// Transforms columns back and puts them into a spectrum: the inverse is a forward transform read
  /// backwards.
  void inverse(std::size_t which, SpectralField<Real>& field) noexcept {
    columns_[which].forward(space_.fourier_z());
    const auto n = static_cast<std::size_t>(space_.nz());
    const std::int64_t at = y_ * space_.pitch() + kx_;
    for (std::size_t z = 0; z < n; ++z)
      fft::store_pair(reinterpret_cast<Real*>(field.plane_at[z] + at), values(which)[z == 0 ? 0 : n - z]);
  }
  /// The factors along x of these columns, in the order of the lanes.
  [[nodiscard]] fft::Pair<V> pair(const std::complex<Real>* along_x) const noexcept {
    return fft::load_pair<V>(reinterpret_cast<const Real*>(along_x + kx_));
  }
  /// The factors of a table at z, in the order of the lanes.
  [[nodiscard]] V factors(const RadialTable<Real>& table, std::int64_t z) const noexcept {
    return fft::in_lane_order<V>(table.row(y_, z) + first_);
  }

 private:
  const SpectralSpace<Real>& space_;
  std::int64_t y_, kx_, first_;
  std::array<Columns<V>, 2> columns_;
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

  /// Runs work(slab, workspace) for every slab; `results` are the spectra that it fills, which are then moved
  /// to columns. @collective{comm}
  template <class Work>
  void planes(std::span<SpectralField<Real>* const> results, Work work);
  /// Runs work(group) for every group of columns of the spectra `fields`, which are then moved back to
  /// planes. `group` is a ColumnGroup of any width. @collective{comm}
  template <class Work>
  void columns(std::span<SpectralField<Real>* const> fields, Work work);
  /// Sends the given spectra to and fro as a step does, so that MPI takes the memory that it takes for the
  /// first messages. @collective{comm}
  void rehearse(std::span<SpectralField<Real>* const> fields);

  /// Transforms one slab to its spectrum and back; the inverse destroys the spectrum. @local
  void forward(RowView<const Real> real, const Slab& slab, SpectralField<Real>& field,
               Workspace<Real>& work) const {
    space_.plane_transform().forward(real, space_.rows(field, slab), slab.rows, work.rows);
  }
  void inverse(SpectralField<Real>& field, const Slab& slab, RowView<Real> real,
               Workspace<Real>& work) const {
    space_.plane_transform().inverse(space_.rows(field, slab), real, slab.rows, work.rows);
  }
  /// Multiplies spectra, each by the real factors of a table, in the midst of their transforms along z.
  /// @collective{comm}
  void filter(std::span<SpectralField<Real>* const> fields, std::span<const RadialTable<Real>* const> tables);

 private:
  static Workspace<Real>& mine(std::vector<Workspace<Real>>& all) {
    return all[static_cast<std::size_t>(omp_get_thread_num())];
  }
  using Exchanges = std::array<typename SpectralSpace<Real>::Exchange, axis_count>;
  template <class Work>
  void column_block(std::span<SpectralField<Real>* const> fields, std::int64_t y, Range kx, Work& work);
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
  for (std::size_t i = 0; i < results.size(); ++i) space_.begin_to_columns(*results[i], exchanges[i]);
  const std::int64_t together = space_.planes_at_once();
  for (int k = 0; k < space_.batches(); ++k) {
    const Range planes = space_.plane_batch(k);
#pragma omp parallel for schedule(static)
    for (std::int64_t z = planes.begin; z < planes.end; z += together)
      work(space_.slab(z, planes.end), mine(workspaces_));
    start(k, exchanges);
  }
  finish(results, exchanges);
}

template <class Real>
template <class Work>
void Sweeps<Real>::columns(std::span<SpectralField<Real>* const> fields, Work work) {
  const std::int64_t width = space_.columns_at_once();
  Exchanges exchanges;
  for (std::size_t i = 0; i < fields.size(); ++i) space_.begin_to_planes(*fields[i], exchanges[i]);
  for (int k = 0; k < space_.batches(); ++k) {
    const auto [rows, kx] = space_.column_batch(k);
    const std::int64_t blocks = (kx.size() + width - 1) / width;
#pragma omp parallel for collapse(2) schedule(static)
    for (std::int64_t y = rows.begin; y < rows.end; ++y)
      for (std::int64_t i = 0; i < blocks; ++i)
        column_block(fields, y, {kx.begin + i * width, std::min(kx.begin + (i + 1) * width, kx.end)}, work);
    start(k, exchanges);
  }
  finish(fields, exchanges);
}

/// Fetches what the groups of a block will take out of the planes, whole cache lines at a time.
template <class Real>
template <class Work>
void Sweeps<Real>::column_block(std::span<SpectralField<Real>* const> fields, std::int64_t y, Range kx,
                                Work& work) {
  constexpr auto per_line = static_cast<std::int64_t>(alignment_bytes / sizeof(Complex));
  for (const auto* field : fields)
    for (const Complex* plane : field->plane_at)
      for (std::int64_t x = kx.begin; x < kx.end; x += per_line)
        __builtin_prefetch(plane + y * space_.pitch() + x, 1, 2);
  auto& scratch = mine(workspaces_).columns;
  for_column_groups<Real>(kx.size(), [&]<class V>(std::int64_t column) {
    ColumnGroup<Real, V> group(space_, y, kx.begin + column, scratch);
    work(group);
  });
}

}  // namespace tailrace::ultrasound
