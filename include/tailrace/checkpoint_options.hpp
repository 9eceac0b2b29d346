// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tailrace/box.hpp"

/// Describes what a user decides about checkpoints, as plain values.
namespace tailrace::checkpoint {

/// When a run is to take checkpoints; each rule that is given makes some due. None: never.
struct Rules {
  std::optional<StepIndex> every_steps;
  std::optional<double> every_s;  ///< refers to wall-clock time
  /// Mean time between failures of the machine: the interval follows from it and from what checkpoints cost,
  /// as measured.
  std::optional<double> mtbf_s;

  [[nodiscard]] bool any() const noexcept { return every_steps || every_s || mtbf_s; }
};

/// Describes how the cells of a checkpoint are stored.
struct Compression {
  int zstd_level = 0;  ///< 1 (fast) to 19 (small); 0: they are stored as they are

  [[nodiscard]] bool wanted() const noexcept { return zstd_level > 0; }
};

/// Reads "none", "zstd" or "zstd:LEVEL"; `name` is in messages for where the text comes from. Errors
/// (usage): it is none of these, or this build has no zstd. @local
Compression parse_compression(const char* name, const std::string& text);
/// The text that is read as this. @local
std::string compression_text(const Compression& compression);

/// Describes how a state is kept on its way to the file, and how it is stored there.
struct Packing {
  std::int64_t buffer_bytes = 256 << 20;  ///< most bytes of buffers, on each rank
  Compression compression = {};
};

/// The first level of checkpoints, on devices of the nodes.
struct LocalLevel {
  std::string directory;  ///< on each node; empty: there is no such level
  bool partner = false;   ///< each node keeps copies for another one, too
  int copy_every = 1;     ///< each so many of them is for the file system that all nodes share

  [[nodiscard]] bool wanted() const noexcept { return !directory.empty(); }
};

}  // namespace tailrace::checkpoint
