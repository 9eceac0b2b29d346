// SPDX-License-Identifier: BSD-3-Clause
#include "output/planner/control_group.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace tailrace::output {

std::optional<double> number_in(const std::string& path) {
  std::ifstream file(path);
  double number = 0;
  if (file >> number) return number;
  return {};
}

namespace {

/// The number behind a name in a file of names and numbers, 0 without it.
double entry_in(const std::string& path, const std::string& wanted) {
  std::ifstream file(path);
  std::string name;
  for (double number = 0; file >> name >> number;)
    if (name == wanted) return number;
  return 0;
}

/// The directories of a group and of all above it, up to the mount's own: inside a container those of the
/// path may be out of sight.
std::vector<std::string> directories(const std::string& mount, std::string group) {
  std::vector<std::string> all;
  for (; group.size() > 1; group.erase(group.rfind('/'))) all.push_back(mount + group);
  all.push_back(mount);
  return all;
}

bool names(const std::string& controllers, const std::string& wanted) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');)
    if (name == wanted) return true;
  return false;
}

void lower(std::optional<double>& least, std::optional<double> value) {
  if (value && (!least || *value < *least)) least = value;
}

/// Returns what one group leaves of its memory.
std::optional<double> memory_left(const std::string& limit_file, const std::string& usage_file,
                                  double reclaimable) {
  const auto limit = number_in(limit_file), used = number_in(usage_file);
  if (!limit || !used) return {};
  return std::max(0.0, *limit - std::max(0.0, *used - reclaimable));
}

/// Bytes, unless there are too many to be a limit: version 1 has a number for that, just below 2^63.
std::optional<std::int64_t> bytes_if_limited(std::optional<double> bytes) {
  constexpr double unlimited = 0x1p62;
  if (!bytes || *bytes >= unlimited) return {};
  return static_cast<std::int64_t>(*bytes);
}

}  // namespace

ControlGroups::ControlGroups(const std::string& listing, const std::string& mount) {
  std::ifstream file(listing);
  for (std::string line; std::getline(file, line);) {  // NUMBER:CONTROLLERS:PATH
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty()) unified_ = directories(mount, group);
    if (names(controllers, "cpu")) processor_ = directories(mount + "/cpu", group);
    if (names(controllers, "memory")) memory_ = directories(mount + "/memory", group);
  }
}

std::optional<double> ControlGroups::cores() const {
  std::optional<double> least;
  for (const auto& group : unified_) {
    std::ifstream file(group + "/cpu.max");
    double quota = 0, period = 0;
    if (file >> quota >> period && period > 0) lower(least, quota / period);
  }
  for (const auto& group : processor_) {
    const auto quota = number_in(group + "/cpu.cfs_quota_us"),
               period = number_in(group + "/cpu.cfs_period_us");
    if (quota && period && *quota > 0 && *period > 0) lower(least, *quota / *period);
  }
  return least;
}

std::optional<std::int64_t> ControlGroups::memory_limit_bytes() const {
  std::optional<double> least;
  for (const auto& group : unified_) lower(least, number_in(group + "/memory.max"));
  for (const auto& group : memory_) lower(least, number_in(group + "/memory.limit_in_bytes"));
  return bytes_if_limited(least);
}

std::optional<std::int64_t> ControlGroups::memory_free_bytes() const {
  std::optional<double> least;
  for (const auto& group : unified_)
    lower(least, memory_left(group + "/memory.max", group + "/memory.current",
                             entry_in(group + "/memory.stat", "inactive_file")));
  for (const auto& group : memory_)
    lower(least, memory_left(group + "/memory.limit_in_bytes", group + "/memory.usage_in_bytes",
                             entry_in(group + "/memory.stat", "total_inactive_file")));
  return bytes_if_limited(least);
}

}  // namespace tailrace::output
