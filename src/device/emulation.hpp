// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "device/device.hpp"

namespace tailrace::device {

/// Describes an emulated device: what it is short of, and what goes wrong on it.
struct EmulationOptions {
  std::size_t memory_bytes = std::size_t{1} << 30;
  double copy_delay_s = 0;        ///< that each copy takes longer
  std::int64_t failing_copy = 0;  ///< number of the copy that fails, and all after it; 0: none
  bool refuses_to_pin = false;
};

/// The queue of an emulated device, to which kernels are given as functions.
class Emulation {
 public:
  virtual ~Emulation() = default;
  /// Behind what the queue has. @local
  virtual void enqueue(std::function<void()> work) = 0;
};

/// Counters of an emulated device.
struct EmulationCounts {
  std::int64_t copies = 0, unpinned_copies = 0;  ///< to the host
  std::size_t allocated_bytes = 0, max_allocated_bytes = 0;
};

/// A device whose memory is the host's and whose queues are threads: what is given to a queue is done later,
/// as on a real one, so that a missing wait shows. For tests of all that uses devices.
class EmulatedDevice : public Device {
 public:
  [[nodiscard]] virtual EmulationCounts counts() const = 0;
};

/// @param index  that it says it has
std::unique_ptr<EmulatedDevice> emulate(const EmulationOptions& options = {}, int index = 0);

}  // namespace tailrace::device
