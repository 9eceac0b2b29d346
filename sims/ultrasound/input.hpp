// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "checkpoint/inputs.hpp"
#include "field.hpp"
#include "grid.hpp"
#include "h5/file.hpp"
#include "medium.hpp"
#include "source.hpp"
#include "tailrace/box.hpp"
#include "tailrace/comm.hpp"

/// k-Wave input files (docs/formats/ultrasound_input.md).
namespace tailrace::ultrasound {

/// A source as the scalars of an input file describe it.
struct SourceHeader {
  std::int64_t steps = 0;  ///< time points of the signal; 0: no such source
  SourceMode mode = SourceMode::additive;
  bool one_signal = true;  ///< for all points
};

/// The numbers of an input file, as every rank knows them. Plain bytes, so that one rank reads them for all.
struct InputHeader {
  Grid grid;
  std::int64_t steps = 0;  ///< refers to the run
  Physics physics;
  int minor_version = 2;
  SourceHeader pressure;
  std::array<SourceHeader, axis_count> velocity;  ///< x, y, z; the third without meaning in two dimensions
  std::int64_t transducer_steps = 0;              ///< 0: no transducer
  bool has_initial_pressure = false;
  bool cuboid_mask = false;
  std::array<bool, 8>
      readable{};  ///< per dataset of `grid_datasets`: it is there, of the right shape and type
};

static_assert(std::is_trivially_copyable_v<InputHeader>, "it travels as bytes");

/// Describes what the sensors see.
struct SensorMask {
  std::vector<std::int64_t> indices;  ///< linear, x fastest, from 0; of an index mask
  std::vector<Box> cuboids;           ///< refers to a cuboid mask
};

/// Describes the sound speeds of this rank's planes.
struct SpeedRange {
  double min_m_s = std::numeric_limits<double>::max(), max_m_s = 0;

  void add(double speed_m_s) noexcept {
    min_m_s = std::min(min_m_s, speed_m_s);
    max_m_s = std::max(max_m_s, speed_m_s);
  }
  void add(const SpeedRange& other) noexcept {
    min_m_s = std::min(min_m_s, other.min_m_s);
    max_m_s = std::max(max_m_s, other.max_m_s);
  }
};

/// An input file, read. The grid-sized parts hold this rank's planes only, the sources this rank's points.
template <class Real>
struct Input {
  InputHeader header;
  std::string description;
  SensorMask mask;
  RawMedium<Real> medium;
  Sources<Real> sources;
  SpeedRange speeds;
  std::vector<std::string> repeated;  ///< on the root: lists with a point that is there twice, and which
  checkpoint::InputDigests digests;   ///< of all that the waves depend on, by the names in the file
};

/// Describes what has to hold beyond the file itself.
struct InputNeeds {
  bool mask = true;                   ///< some stream samples at the sensors
  std::int64_t start_step = 1;        ///< first recorded step, at most the last
  std::optional<std::int64_t> steps;  ///< to be run instead of the file's Nt
  /// Called on all ranks once the grid is known, before anything of its size is there. @collective
  std::function<void(const Grid&)> check_grid = [](const Grid&) {};
  bool check_only = false;  ///< look at every value but keep none of the grid-sized datasets
};

/// Reads and checks a whole input file; every rank reads the planes it owns. `Real` is float or double.
/// @collective{comm}, synchronises. Errors (input), the same on all ranks: all problems of the file together,
/// each naming dataset, value and fix.
template <class Real>
Input<Real> read_input(mpi::CommView comm, const std::string& path, const InputNeeds& needs);

}  // namespace tailrace::ultrasound
