// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
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

/// Opens a device and makes it the one of the calling thread. @local. Errors (resource): it cannot be used.
std::unique_ptr<Device> open_device(int index);

}  // namespace tailrace::device
