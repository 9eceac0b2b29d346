// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace tailrace::device {

/// Describes the devices that this process can use.
struct Devices {
  std::vector<DeviceInfo> devices;
  std::string why_none;  ///< a sentence, where there are none
};

/// Looks for devices. Never throws: without CUDA, a driver or a device it says why. @local
Devices find_devices();

/// The index of the device for a process: the one wished for, or the next one, rank after rank.
/// @param wish  the value of `--device` or TAILRACE_DEVICE: an index, or "auto"
/// @param node_rank  of this process among those of its machine
/// @local. Errors (usage): the wish is not the index of a device that is there.
int choose_device(const std::string& wish, int node_rank, const Devices& found);

/// Opens a device and makes it the one of the calling thread. @local. Errors (resource): it cannot be used.
std::unique_ptr<Device> open_device(int index);

}  // namespace tailrace::device
