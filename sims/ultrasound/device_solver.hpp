// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "any_solver.hpp"
#include "device/box_transfer.hpp"
#include "device/span_log.hpp"
#include "device_source.hpp"
#include "device_store.hpp"
#include "device_transforms.hpp"

namespace tailrace::ultrasound {

/// `Solver` in the memory of a device: the same passes, by planes and by columns, with the device's
/// transforms and kernels between them. Its results are the same bits in every run, and differ from the
/// processor's, and from those of other numbers of ranks, by rounding.
template <class Real>
class DeviceSolver final : public AnySolver<Real> {
 public:
  /// @collective{comm}, synchronises. Errors (resource), on all ranks: a device has no room.
  DeviceSolver(mpi::CommView comm, Model<Real> model, trace::Log& log, const device::ComputeQueue& device);
  /// Waits for the device.
  ~DeviceSolver() override;

  void rehearse() override;
  void advance(StepIndex step) override;
  [[nodiscard]] output::FieldView field(const std::string& quantity) const override;
  void state(checkpoint::StateArchive& archive) override;
  void restored(StepIndex step) override;
  void with_velocity_gradients(const ArrayUse& use) override;
  [[nodiscard]] std::int64_t saved_bytes() const noexcept override;
  [[nodiscard]] Sweeps<Real>& sweeps() override;
  void complete() override;
  [[nodiscard]] std::int64_t memory_bytes() const noexcept override;
  /// Bytes of the device that it holds. @local
  [[nodiscard]] std::size_t device_bytes() const noexcept;

 private:
  using Complex = on_device::Complex<Real>;
  using Parameter = on_device::Parameter<Real>;

  void make_fields();
  void copy_medium(const Medium<Real>& medium);
  void make_operators();
  void make_tables(bool with_filter);
  void make_sources(Sources<Real> sources);
  template <class Function>
  const Real* make_table(Function function);
  const Complex* copy_factors(const AlignedVector<std::complex<Real>>& factors, std::int64_t from,
                              std::int64_t count, double scale);

  void collect_spans();
  void start_from_initial_pressure();
  void pressure_gradients();
  void update_velocities(bool initial);
  void update_velocity(std::size_t axis, const Real* gradient, bool initial);
  void velocity_gradients();
  void update_densities();
  void transform_after_density(bool power_law);
  void absorb();
  void transform_pressure();
  void transform_velocities();
  void move_velocities_to_grid_points();
  void move_velocity(std::size_t axis);
  void read_gradient(std::size_t axis, std::span<std::byte> out);

  [[nodiscard]] bool has_axis(std::size_t axis) const noexcept { return grid_.file_axis(axis).has_value(); }
  /// The spectrum that holds a velocity component, and then its derivative; as in `Solver`.
  [[nodiscard]] Complex* velocity_spectrum(std::size_t axis) const noexcept {
    return spectrum_[(axis + 2) % axis_count];
  }
  [[nodiscard]] static Real* reals(Complex* spectrum) noexcept { return reinterpret_cast<Real*>(spectrum); }
  [[nodiscard]] const on_device::Points& points() const noexcept { return transforms_.space().points(); }
  [[nodiscard]] output::FieldView view(const Real* field) const noexcept;
  [[nodiscard]] checkpoint::FieldState field_state(Real* field);

  mpi::CommView comm_;
  trace::Log& log_;
  device::Device& device_;
  device::Queue& queue_;
  Grid grid_;
  Physics physics_;
  output::Cadence non_staggered_;
  Box own_;                                      ///< as the output sees it
  std::optional<Field<Real>> initial_pressure_;  ///< of the host, until the first step

  DeviceTransforms<Real> transforms_;
  DeviceStore store_;
  std::optional<device::BoxTransfer> transfer_;  ///< checkpoints read and write fields through it
  /// Factors of the axes, by planes and by columns, and those of the layers from the rank's first plane on.
  std::array<const Complex*, axis_count> forward_{}, backward_{}, shift_{};
  std::array<const Real*, axis_count> velocity_layer_{}, density_layer_{};
  const Real *kappa_ = nullptr, *source_kappa_ = nullptr, *loss_table_ = nullptr, *delay_table_ = nullptr;
  Parameter c0_squared_, rho0_, b_over_2a_rho0_, absorption_, dispersion_;
  std::array<Parameter, axis_count> dt_over_rho0_;
  Real* p_ = nullptr;
  std::array<Real*, axis_count> u_{}, rho_{}, shifted_{};
  std::array<Complex*, axis_count> spectrum_{};
  Complex* scratch_ = nullptr;
  std::optional<DeviceSource<Real>> pressure_source_, transducer_;
  std::array<std::optional<DeviceSource<Real>>, axis_count> velocity_source_;

  std::array<std::unique_ptr<device::Event>, 2> done_;
  device::SpanLog spans_;
  std::unique_ptr<Sweeps<Real>> sweeps_;  ///< once they are asked for
  StepIndex step_ = 0;
};

}  // namespace tailrace::ultrasound
