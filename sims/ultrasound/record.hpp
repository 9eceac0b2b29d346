#pragma once

#include <array>
#include <string>
#include <vector>

#include "input.hpp"
#include "tailrace/output/stream.hpp"

namespace tailrace::ultrasound {

/// Where a recorded quantity is taken.
enum class Place { sensor, whole };

/// One thing that can be recorded: the name is the command-line flag, the key of the case file's [record]
/// table, and, but for the raw series, the name of the dataset.
struct RecordItem {
  const char* name;
  const char* help;
  bool velocity;  ///< three components instead of the pressure
  output::Reduction reduction;
  Place place;
};
inline constexpr std::array<RecordItem, 14> record_items{{
    {"p_raw", "pressure over time at the sensors", false, output::Reduction::none, Place::sensor},
    {"p_rms", "root mean square of the pressure at the sensors", false, output::Reduction::rms,
     Place::sensor},
    {"p_max", "largest pressure at the sensors", false, output::Reduction::max, Place::sensor},
    {"p_min", "smallest pressure at the sensors", false, output::Reduction::min, Place::sensor},
    {"p_max_all", "largest pressure in the whole domain", false, output::Reduction::max, Place::whole},
    {"p_min_all", "smallest pressure in the whole domain", false, output::Reduction::min, Place::whole},
    {"p_final", "pressure in the whole domain at the last step", false, output::Reduction::final,
     Place::whole},
    {"u_raw", "velocity over time at the sensors", true, output::Reduction::none, Place::sensor},
    {"u_rms", "root mean square of the velocity at the sensors", true, output::Reduction::rms, Place::sensor},
    {"u_max", "largest velocity at the sensors", true, output::Reduction::max, Place::sensor},
    {"u_min", "smallest velocity at the sensors", true, output::Reduction::min, Place::sensor},
    {"u_max_all", "largest velocity in the whole domain", true, output::Reduction::max, Place::whole},
    {"u_min_all", "smallest velocity in the whole domain", true, output::Reduction::min, Place::whole},
    {"u_final", "velocity in the whole domain at the last step", true, output::Reduction::final,
     Place::whole},
}};

/// What a run records, and from which step on.
struct Record {
  std::array<bool, record_items.size()> wanted{};
  StepIndex start = 1;  ///< first recorded step, counted from 1
  bool copy_sensor_mask = false;

  /// With nothing named, k-Wave records the pressure series.
  void apply_default() noexcept;
  [[nodiscard]] bool needs_mask() const noexcept;
};

/// The streams of a run of `steps` steps, with the names, shapes and types that k-Wave's readers expect
/// (docs/formats/ultrasound_output.md).
std::vector<output::Stream> make_streams(const Record& record, const InputHeader& header,
                                         const SensorMask& mask, StepIndex steps);

}  // namespace tailrace::ultrasound
