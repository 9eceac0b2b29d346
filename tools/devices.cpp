// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "device/devices.hpp"

/// Says as JSON which devices a process finds here, or why there are none: what `tailrace doctor` shows.
int main() {
  const auto found = tailrace::device::find_devices();
  auto devices = nlohmann::json::array();
  for (const auto& device : found.devices)
    devices.push_back({{"index", device.index},
                       {"name", device.name},
                       {"pci_address", device.pci_address},
                       {"memory_bytes", device.memory_bytes},
                       {"capability", fmt::format("{}.{}", device.major, device.minor)}});
  fmt::print("{}\n", nlohmann::json{{"devices", devices}, {"why_none", found.why_none}}.dump());
}
