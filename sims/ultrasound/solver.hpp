#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "field.hpp"
#include "grid.hpp"
#include "medium.hpp"
#include "source.hpp"
#include "spectral_space.hpp"
#include "tailrace/mpi/comm.hpp"
#include "tailrace/output/stream.hpp"
#include "tailrace/trace/trace.hpp"

namespace tailrace::ultrasound {

/// All that defines a run on this rank.
struct Model {
  Grid grid;
  Physics physics;
  Medium medium;
  std::optional<PressureSource> pressure_source;  ///< present on all ranks or on none
  std::optional<Field> initial_pressure;          ///< likewise
};

/// The k-space pseudospectral method for sound in fluids: heterogeneous, non-linear, with power-law
/// absorption (docs/explain/ultrasound.md; Treeby, Jaros, Rendell and Cox 2012). Planes along z are split
/// over the ranks.
///
/// A step passes over the memory six times: three sweeps over planes, in which every element-wise update sits
/// between the inverse transform that it needs and the forward transform that needs it, while the plane is in
/// cache; and three sweeps over columns for the transforms along z. The result is the same, bit for bit, for
/// any number of ranks and threads.
class Solver {
 public:
  /// @collective{comm}
  Solver(mpi::CommView comm, Model model, trace::Log& log);

  /// Before the first step: runs the exchanges of a step on spectra of zeros. MPI takes memory for messages
  /// when they are sent first; after this it has it. @collective{comm}
  void rehearse();
  /// Goes from step - 1 to `step`, counted from 1. @collective{comm}
  void advance(StepIndex step);

  /// This rank's part of "p", "ux", "uy" or "uz". @local
  [[nodiscard]] output::FieldView field(const std::string& quantity) const;
  /// Bytes of all arrays on this rank. @local
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  /// What one thread works with.
  struct Workspace {
    PlaneTransform::Scratch transform;
    AlignedVector<Complex> spectrum;               // one plane
    std::array<AlignedVector<float>, 4> real;      // one plane each
    std::array<AlignedVector<Complex>, 2> block;   // columns along z
    std::array<AlignedVector<float>, 2> constant;  // one row each
    [[nodiscard]] std::int64_t bytes() const noexcept;
  };

  template <class Work>
  void sweep_planes(std::span<SpectralField* const> results, Work work);
  template <class Work>
  void sweep_rows(std::span<SpectralField* const> results, Work work);

  void pressure_gradients();
  void update_velocities();
  void velocity_gradients();
  void update_densities();
  void absorb();
  void start_from_initial_pressure();

  void velocity_plane(std::int64_t z, std::size_t axis, Complex* spectrum, bool initial, Workspace& work);
  void density_plane(std::int64_t z, Workspace& work);
  void pressure_plane(std::int64_t z, float* total);
  void filter_columns(SpectralField& field, const RadialTable& table, std::int64_t y, std::int64_t kx,
                      Workspace& work);
  void inverse_plane(SpectralField& field, std::int64_t z, float* real, Workspace& work);
  void forward_plane(const float* real, std::int64_t z, SpectralField& field, Workspace& work);
  [[nodiscard]] const float* pml_row(std::size_t axis, bool velocity, std::int64_t y, std::int64_t z,
                                     Workspace& work) const;

  void prepare_source();
  void filter_source();
  void filter_source_spectrum();
  void add_source_plane(std::int64_t z, Workspace& work);
  [[nodiscard]] bool source_acts() const noexcept;
  [[nodiscard]] bool source_is_filtered() const noexcept;

  mpi::CommView comm_;
  trace::Log& log_;
  Grid grid_;
  Physics physics_;
  Medium medium_;
  std::optional<PressureSource> source_;
  std::optional<Field> initial_pressure_;

  SpectralSpace space_;
  std::array<PmlProfile, axis_count> pml_;
  std::array<ShiftedDerivative, axis_count> derivative_;
  RadialTable kappa_, source_kappa_, loss_table_, delay_table_;

  Field p_;
  std::array<Field, axis_count> u_, rho_;
  std::array<SpectralField, 3> spectrum_;
  SpectralField source_spectrum_;  // of a filtered source with many signals
  Field source_pattern_;  // of a filtered source with one signal: the filtered points, to be scaled in time
  std::vector<Workspace> workspaces_;
  StepIndex step_ = 0;
};

}  // namespace tailrace::ultrasound
