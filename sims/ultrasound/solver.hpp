// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "any_solver.hpp"
#include "axis_filter.hpp"
#include "field.hpp"
#include "grid.hpp"
#include "medium.hpp"
#include "source.hpp"
#include "source_term.hpp"
#include "state.hpp"
#include "sweeps.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/stream.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::ultrasound {

/// The k-space pseudospectral method for sound in fluids: heterogeneous, non-linear, absorbing, in two or
/// three dimensions (docs/explain/ultrasound.md; Treeby, Jaros, Rendell and Cox 2012). Planes are split over
/// the ranks: along z, or along y in two dimensions. `Real` is float or double.
///
/// A step passes over the memory six times: three sweeps over planes, in which every element-wise update sits
/// between the inverse transform that it needs and the forward transform that needs it, while the plane is in
/// cache; and three sweeps over columns for the transforms along the slowest axis. The result is the same,
/// bit for bit, for any number of ranks and threads.
template <class Real>
class Solver final : public AnySolver<Real> {
 public:
  /// @collective{comm}
  Solver(mpi::CommView comm, Model<Real> model, trace::Log& log);

  void rehearse() override;
  void advance(StepIndex step) override;
  [[nodiscard]] output::FieldView field(const std::string& quantity) const override;
  void state(checkpoint::StateArchive& archive) override;
  void restored(StepIndex step) override;
  void with_velocity_gradients(const ArrayUse& use) override;
  [[nodiscard]] std::int64_t saved_bytes() const noexcept override;
  /// Those of the steps.
  [[nodiscard]] Sweeps<Real>& sweeps() noexcept override { return sweeps_; }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept override;

 private:
  using Complex = std::complex<Real>;
  using Work = Workspace<Real>;

  void pressure_gradients();
  void update_velocities();
  void velocity_gradients();
  void update_densities();
  void absorb();
  void start_from_initial_pressure();
  void transform_pressure();
  void move_velocities_to_grid_points();

  void update_velocity(const Slab& slab, std::size_t axis, bool initial, Work& work);
  void pressure_gradient(const Slab& slab, std::size_t axis, Work& work);
  template <class Group>
  void differentiate(Group& group, std::size_t axis) const;
  template <int dimensions>
  void update_density(const Slab& slab, Work& work);
  template <int dimensions>
  void update_pressure(const Slab& slab, Work& work);
  void forward_after_density(const Slab& slab, Work& work);
  [[nodiscard]] const Real* pml_row(std::size_t axis, bool velocity, std::int64_t y, std::int64_t z,
                                    Work& work) const;

  [[nodiscard]] bool has_axis(std::size_t axis) const noexcept { return grid_.file_axis(axis).has_value(); }
  /// The spectrum that holds a velocity component, and then its derivative.
  [[nodiscard]] SpectralField<Real>& velocity_spectrum(std::size_t axis) noexcept {
    return spectrum_[(axis + 2) % axis_count];
  }
  void prepare_operators();
  void prepare_sources(Sources<Real> sources);

  trace::Log& log_;
  Grid grid_;
  Index3 points_;  // in the folded frame, as everything below
  Physics physics_;
  Medium<Real> medium_;
  output::Cadence non_staggered_;

  Sweeps<Real> sweeps_;
  const SpectralSpace<Real>& space_;
  std::array<PmlProfile<Real>, axis_count> pml_;
  std::array<AxisOperators<Real>, axis_count> operators_;
  RadialTable<Real> kappa_, source_kappa_, loss_table_, delay_table_;

  Field<Real> p_;
  std::array<Field<Real>, axis_count> u_, rho_;
  std::array<SpectralField<Real>, axis_count> spectrum_;
  std::vector<SpectralField<Real>*> velocity_spectra_;  // of the axes that there are
  std::vector<Field<Real>*> densities_;
  std::optional<Field<Real>> initial_pressure_;
  std::optional<SourceTerm<Real>> pressure_source_, transducer_;
  std::array<std::optional<SourceTerm<Real>>, axis_count> velocity_source_;
  std::optional<AxisFilter<Real>> shift_;
  std::array<Field<Real>, axis_count> shifted_;  // velocities at the grid points
  StepIndex step_ = 0;
};

}  // namespace tailrace::ultrasound
