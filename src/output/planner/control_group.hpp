// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tailrace::output {

/// Returns the first number in a file of the kernel's, or nothing, such as for "max". @local
std::optional<double> number_in(const std::string& path);

/// Describes what the control groups of this process withhold from it, by either version of their hierarchy:
/// those it is in and all above them. What cannot be read sets no limit.
class ControlGroups {
 public:
  /// `listing` names the groups of the process, `mount` is where their directories are. @local
  explicit ControlGroups(const std::string& listing = "/proc/self/cgroup",
                         const std::string& mount = "/sys/fs/cgroup");

  /// Cores' worth of processor time; nothing: no limit. @local
  [[nodiscard]] std::optional<double> cores() const;
  /// Bytes of memory that may still be taken; pages of files that nobody has used lately count as free.
  /// Nothing: no limit. @local
  [[nodiscard]] std::optional<std::int64_t> memory_free_bytes() const;
  /// Bytes of memory that all processes of the group may take together. Nothing: no limit. @local
  [[nodiscard]] std::optional<std::int64_t> memory_limit_bytes() const;

 private:
  std::vector<std::string> unified_, processor_, memory_;  ///< directories, by version and controller
};

}  // namespace tailrace::output
