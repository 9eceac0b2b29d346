// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "tailrace/error.hpp"
#include "tailrace/run/case_output.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::ultrasound {

/// Describes where a recorded quantity is taken.
enum class Place { sensor, whole };

/// One thing that can be recorded. In the names of datasets and quantities '?' represents an axis: such an
/// item has one dataset per component.
struct SensorQuantity {
  const char* name;  ///< the command-line flag, and the key of the case file's [record] table
  const char* help;
  const char* dataset;
  const char* quantity;  ///< the field that is sampled
  const char* unit;
  output::Reduction reduction;
  Place place;
  bool computed_at_end = false;  ///< from the recorded series, once the last step is done
};
inline constexpr std::array<SensorQuantity, 17> sensor_quantities{{
    {"p_raw", "pressure over time at the sensors", "p", "p", "Pa", output::Reduction::none, Place::sensor},
    {"p_rms", "root mean square of the pressure at the sensors", "p_rms", "p", "Pa", output::Reduction::rms,
     Place::sensor},
    {"p_max", "largest pressure at the sensors", "p_max", "p", "Pa", output::Reduction::max, Place::sensor},
    {"p_min", "smallest pressure at the sensors", "p_min", "p", "Pa", output::Reduction::min, Place::sensor},
    {"p_max_all", "largest pressure in the whole domain", "p_max_all", "p", "Pa", output::Reduction::max,
     Place::whole},
    {"p_min_all", "smallest pressure in the whole domain", "p_min_all", "p", "Pa", output::Reduction::min,
     Place::whole},
    {"p_final", "pressure in the whole domain at the last step", "p_final", "p", "Pa",
     output::Reduction::final, Place::whole},
    {"u_raw", "velocity over time at the sensors", "u?", "u?", "m/s", output::Reduction::none, Place::sensor},
    {"u_non_staggered_raw", "velocity over time at the sensors, shifted to the pressure points",
     "u?_non_staggered", "u?_non_staggered", "m/s", output::Reduction::none, Place::sensor},
    {"u_rms", "root mean square of the velocity at the sensors", "u?_rms", "u?", "m/s",
     output::Reduction::rms, Place::sensor},
    {"u_max", "largest velocity at the sensors", "u?_max", "u?", "m/s", output::Reduction::max,
     Place::sensor},
    {"u_min", "smallest velocity at the sensors", "u?_min", "u?", "m/s", output::Reduction::min,
     Place::sensor},
    {"u_max_all", "largest velocity in the whole domain", "u?_max_all", "u?", "m/s", output::Reduction::max,
     Place::whole},
    {"u_min_all", "smallest velocity in the whole domain", "u?_min_all", "u?", "m/s", output::Reduction::min,
     Place::whole},
    {"u_final", "velocity in the whole domain at the last step", "u?_final", "u?", "m/s",
     output::Reduction::final, Place::whole},
    {"I_avg", "mean acoustic intensity at the sensors; records p_raw and u_non_staggered_raw too", "I?_avg",
     "I?_avg", "W/m^2", output::Reduction::final, Place::sensor, true},
    {"Q_term", "volume rate of heat deposition at the sensors; records as --I_avg does", "Q_term", "Q_term",
     "W/m^3", output::Reduction::final, Place::sensor, true},
}};

/// Describes what a run records, and from which step on.
struct SensorData {
  std::array<bool, sensor_quantities.size()> wanted{};
  StepIndex start = 1;  ///< first recorded step, counted from 1
  bool copy_sensor_mask = false;

  void want(std::string_view name) noexcept;
  /// Adds what goes without saying: the series of pressure and shifted velocity, from which intensity is
  /// computed; the pressure series, as k-Wave does, where nothing else is recorded.
  void complete(bool has_outputs) noexcept;
  /// Returns whether an item of this name is wanted.
  [[nodiscard]] bool wants(const std::string& name) const;
  /// Returns whether something is wanted that is computed from the mean intensity.
  [[nodiscard]] bool wants_intensity() const { return wants("I_avg") || wants("Q_term"); }
  [[nodiscard]] bool needs_mask() const noexcept;
};

/// Returns what is wanted but cannot be had from such an input. @local
Problems check_record(const SensorData& sensor_data, const InputHeader& header);

/// Returns what the [[output]] tables of a case may name, in inputs of three dimensions.
std::vector<run::OfferedQuantity> offered_quantities();

/// Returns what a run of `steps` steps offers to the [[output]] tables of its case: its quantities, the grid
/// with and without the absorbing layers, times as k-Wave counts them (the state after the first step is at 0
/// s), and the names that k-Wave gives to streams.
run::OutputDomain make_output_domain(const InputHeader& header, StepIndex steps);

/// All steps at which some stream takes velocities at the grid points.
output::Cadence non_staggered_cadence(const std::vector<output::Stream>& streams,
                                      const std::vector<output::Stream>& more);

/// The streams of a run of `steps` steps, with the names, shapes and types that k-Wave's readers expect
/// (docs/formats/ultrasound_output.md).
std::vector<output::Stream> make_streams(const SensorData& sensor_data, const InputHeader& header,
                                         const SensorMask& mask, StepIndex steps);

}  // namespace tailrace::ultrasound
