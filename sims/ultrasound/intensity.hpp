// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>

#include "field.hpp"
#include "grid.hpp"
#include "input.hpp"
#include "sweeps.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::ultrasound {

/// The recorded series from which intensities follow: pressure and non-staggered velocities at the sensors.
struct RecordedSeries {
  std::string path;       ///< an output file with complete series that may be read
  StepIndex samples = 0;  ///< none: all means are 0
};

/// Time-averaged acoustic intensity at the sensors, and the volume rate of heat deposition that follows from
/// it (docs/explain/ultrasound.md). Velocities are recorded half a step before the pressures, so they are
/// moved by half a step with the Fourier interpolant over the series; I = mean(p u). Q = -div I by spectral
/// derivatives of I, which is taken as 0 off the sensors.
template <class Real>
class Intensity {
 public:
  /// Reads the series of the sensors that this rank owns, in batches of bounded size. @collective{comm},
  /// synchronises; every rank throws the same error or none.
  Intensity(mpi::CommView comm, const Grid& grid, const SensorMask& mask, const RecordedSeries& series,
            bool with_heat, Sweeps<Real>& sweeps);

  /// Returns whether `quantity` is one of those that `field` knows. @local
  [[nodiscard]] static bool has(const std::string& quantity) noexcept;
  /// This rank's part of "Ix_avg", "Iy_avg", "Iz_avg" in W/m^2 or "Q_term" in W/m^3. @local
  [[nodiscard]] output::FieldView field(const std::string& quantity) const;
  /// Bytes that it will take on a rank with these planes, the memory of its construction included.
  static std::int64_t bytes(const Grid& grid, Range planes, StepIndex samples, bool with_heat) noexcept;

 private:
  void read_means(mpi::CommView comm, const SensorMask& mask, const RecordedSeries& series, Range planes);
  void deposit_heat(Sweeps<Real>& sweeps);

  Grid grid_;
  std::array<Field<Real>, axis_count> mean_;  // per axis of the folded frame
  Field<Real> heat_;
};

}  // namespace tailrace::ultrasound
