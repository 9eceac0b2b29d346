// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "device/choice.hpp"
#include "device/device.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/run/run.hpp"
#include "tailrace/run/run_size.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::run {

/// The choice that the words or the environment name; none if neither does. @local. Errors (usage): it is
/// none of the forms.
device::Wish device_wish(const DeviceChoice& choice);

/// The device on which this rank computes, and the queue of its computation; or none.
class RunDevice {
 public:
  /// No device.
  RunDevice() = default;
  /// Opens the device whose turn it is. @collective{comm}, synchronises. Errors (usage), on all ranks: there
  /// is no such device.
  RunDevice(mpi::CommView comm, const DeviceChoice& choice);

  /// Null: the processor computes.
  [[nodiscard]] device::Device* device() const noexcept { return device_.get(); }
  [[nodiscard]] device::ComputeQueue compute() const noexcept { return {device_.get(), queue_.get()}; }
  /// Its memory is the host's.
  [[nodiscard]] bool is_emulated() const noexcept { return emulated_; }
  /// What the user should know of the choice; empty: nothing.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }
  /// "device 0 (NVIDIA H100 80GB HBM3)", for people.
  [[nodiscard]] std::string text() const;
  /// What run.json says of it; null without one.
  [[nodiscard]] nlohmann::json describe() const;

  /// Devices of a machine that its ranks share out; 0: none.
  [[nodiscard]] int devices() const noexcept { return devices_; }

  /// Adds up what the ranks of each device take. @collective{comm}, synchronises. Errors (input), on all
  /// ranks: a device has less free.
  void check_memory(mpi::CommView comm, double own_bytes, const RunSize& size) const;
  /// As `run::is_finite`, of fields in its memory as well. @local, waits for the device
  [[nodiscard]] bool is_finite(const output::FieldView& field) const;

 private:
  void take_device();
  void find_sharers(mpi::CommView node, mpi::CommView comm);

  std::unique_ptr<device::Device> device_;
  std::unique_ptr<device::Queue> queue_;
  device::Buffer flags_;   ///< of `is_finite`
  double free_bytes_ = 0;  ///< before the run takes any
  bool emulated_ = false;
  int devices_ = 0;
  int sharers_ = 0;  ///< ranks that compute on it, this one included
  std::string warning_;
};

/// The error of ranks that take more than their device has free; nothing if they fit. @local
std::optional<ErrorInfo> too_much_device_memory(double needed_bytes, double free_bytes,
                                                const std::string& device, const RunSize& size);

}  // namespace tailrace::run
