// SPDX-License-Identifier: BSD-3-Clause
#include "base/available_memory.hpp"

#include <fstream>
#include <string>

namespace tailrace {

std::optional<std::int64_t> available_memory_bytes() {
  constexpr std::int64_t kibibyte = 1024;
  const std::string key = "MemAvailable:";
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return std::stoll(line.substr(key.size())) * kibibyte;
  return {};
}

}  // namespace tailrace
