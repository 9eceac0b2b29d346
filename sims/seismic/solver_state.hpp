// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned.hpp"
#include "device/device.hpp"
#include "grid.hpp"
#include "kernel.hpp"
#include "medium.hpp"
#include "solver.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/decomposition.hpp"
#include "tailrace/halo.hpp"
#include "tailrace/stream.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::seismic {

/// The fields of a solver, whatever their precision and wherever they are.
class SolverState {
 public:
  SolverState() = default;
  SolverState(const SolverState&) = delete;
  SolverState& operator=(const SolverState&) = delete;
  virtual ~SolverState() = default;
  virtual void advance(StepIndex step) = 0;
  /// The field at a point of the rank's box, counted from its low corner.
  [[nodiscard]] virtual output::FieldView view(bool wants_q, Index3 first) = 0;
  [[nodiscard]] virtual SolverMemory memory() const noexcept = 0;
  virtual void state(checkpoint::StateArchive& archive) = 0;
  virtual void get_halos() = 0;
};

/// The solver's part on a rank, as both kinds of states are made from it.
struct StateConfig {
  mpi::CommView comm;
  const Problem& problem;
  const Extremes& extremes;
  const layout::Decomposition& decomposition;
  trace::Log& log;

  [[nodiscard]] Box own() const { return decomposition.box(comm.rank()); }
};

/// In the host's memory. @collective{config.comm}, synchronises
std::unique_ptr<SolverState> make_host_state(const StateConfig& config);
/// In the memory of a device. @collective{config.comm}, synchronises. Errors (resource), on all ranks.
std::unique_ptr<SolverState> make_device_state(const StateConfig& config, const device::ComputeQueue& device);

/// What `SolverState::memory` will be on a rank that owns `own`.
template <class Real>
SolverMemory host_memory(const Problem& problem, const Box& own);
template <class Real>
SolverMemory device_memory(const Problem& problem, const layout::Decomposition& decomposition, int rank);

/// The fields that the equations have: p, and q where it differs.
std::size_t field_count(Equations equations) noexcept;

/// What ranks exchange.
template <class Real>
layout::HaloConfig halo_config(const Problem& problem, const layout::Decomposition& decomposition,
                               const ArrayLayout& layout);

/// A value to be added at a point of the rank's arrays.
struct LocalSource {
  std::int64_t at = 0;
  const Source* source = nullptr;
};
/// The sources whose points this rank stores: a source belongs to its point wherever that is, halos included.
std::vector<LocalSource> local_sources(const std::vector<Source>& sources, const Problem& problem,
                                       const Box& own, const ArrayLayout& layout);

/// What a step reads beside the fields and the medium. The damping along each axis is empty without a sponge.
template <class Real>
struct StepSettings {
  StepArrays<Real> arrays;  ///< without pointers
  std::array<AlignedVector<Real>, 3> damping;

  StepSettings(const Problem& problem, const Extremes& extremes, const Box& own, const ArrayLayout& layout);
};

/// Two levels of each field pass through the archive. Errors (input): another time step.
void pass_levels(checkpoint::StateArchive& archive, double dt_s,
                 const std::vector<std::array<checkpoint::FieldState, 2>>& fields);

}  // namespace tailrace::seismic
