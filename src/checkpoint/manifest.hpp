// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tailrace/box.hpp"

namespace tailrace::checkpoint {

inline constexpr const char *state_file = "state.h5", *manifest_file = "manifest.json";
/// Says what to do about a checkpoint that cannot be used.
inline constexpr const char* remedy = "resume from another checkpoint";

/// Numbers in a checkpoint's tables, and compressed data, are of this size.
inline constexpr std::int64_t word_bytes = 8;

/// Refuses a file of a checkpoint. @local. Errors (input): always.
[[noreturn]] void refuse(const std::string& path, const std::string& what);

/// Describes what the manifest says (docs/formats/checkpoint.md).
struct Manifest {
  struct Set {
    std::int64_t count = 0;
    std::uint64_t sum = 0;
  };
  std::string simulation, program;
  StepIndex step = 0;
  double time_s = 0;
  int ranks = 0;
  std::string created;
  bool compressed = false;  ///< its sets are: the format has version 2 then
  std::int64_t file_bytes = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> data =
      {};                  ///< offset and bytes of what has digests of its own
  std::uint64_t rest = 0;  ///< digest of all other bytes
  std::map<std::string, Set> sets;
};

/// Reads it, and sees that the HDF5 file beside it is as long as it says and that all bytes outside `data`
/// are as they were. Errors (input): what is missing, damaged, or of another format or version. @local
Manifest read_manifest(const std::string& checkpoint);

/// Completes `manifest`, of which all but `file_bytes`, `data` and `rest` is given, from the closed HDF5 file
/// beside it, and puts it onto the device. Errors (io). @local
void write_manifest(const std::string& checkpoint, Manifest manifest);

/// The time as a manifest has it.
std::string utc_now();

}  // namespace tailrace::checkpoint
