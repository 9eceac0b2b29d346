// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "device/device.hpp"
#include "grid.hpp"
#include "medium.hpp"
#include "source.hpp"
#include "state.hpp"
#include "sweeps.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/stream.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::ultrasound {

/// All that defines a run on this rank.
template <class Real>
struct Model {
  Grid grid;
  Physics physics;
  Medium<Real> medium;
  Sources<Real> sources;
  output::Cadence non_staggered = {};  ///< steps at which velocities are wanted at the grid points
};

/// What computes a model, on the processor or on a device; a `run::Simulation`.
template <class Real>
class AnySolver {
 public:
  AnySolver() = default;
  AnySolver(const AnySolver&) = delete;
  AnySolver& operator=(const AnySolver&) = delete;
  virtual ~AnySolver() = default;

  /// Before the first step: runs the exchanges of a step on spectra of zeros. MPI takes memory for messages
  /// when they are sent first; after this it has it. @collective{comm}
  virtual void rehearse() = 0;
  /// Goes from step - 1 to `step`, counted from 1. @collective{comm}
  virtual void advance(StepIndex step) = 0;
  /// This rank's part of "p", "ux", "uy", "uz", or, at the steps that the model names, of "ux_non_staggered"
  /// and so on. @local
  [[nodiscard]] virtual output::FieldView field(const std::string& quantity) const = 0;
  /// Saves or restores the arrays from which a run can continue, under their names in k-Wave's checkpoint
  /// files. @local
  virtual void state(checkpoint::StateArchive& archive) = 0;
  /// After the state was set to that of another run at `step`: recomputes what follows from it.
  /// @collective{comm}
  virtual void restored(StepIndex step) = 0;
  /// Calls `use` with this rank's part of the derivative of each velocity along its own axis after the newest
  /// step, under their names in k-Wave's checkpoint files ("duxdx", ...). They are computed for the call,
  /// into as many fields as the domain has dimensions. @collective{comm}
  virtual void with_velocity_gradients(const ArrayUse& use) = 0;
  /// Bytes of the host that `ArrayList::of(state)` and the gradients take on this rank. @local
  [[nodiscard]] virtual std::int64_t saved_bytes() const noexcept = 0;
  /// Transforms on the processor, for what is computed there from the results. They outlive nothing but the
  /// solver. @collective{comm}
  [[nodiscard]] virtual Sweeps<Real>& sweeps() = 0;
  /// Waits until the steps are done where a device computes them. @local. Errors (resource): it failed.
  virtual void complete() {}
  /// Bytes of the host's memory on this rank. @local
  [[nodiscard]] virtual std::int64_t memory_bytes() const noexcept = 0;
};

/// On the device if there is one. @collective{comm}, synchronises. Errors, on all ranks: (resource) a device
/// has no room, (usage) some ranks have a device and others none.
template <class Real>
std::unique_ptr<AnySolver<Real>> make_solver(mpi::CommView comm, Model<Real> model, trace::Log& log,
                                             const std::optional<device::ComputeQueue>& device);

}  // namespace tailrace::ultrasound
