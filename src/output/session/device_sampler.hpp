// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "device/span_log.hpp"
#include "output/core/accumulator.hpp"
#include "output/core/plan.hpp"
#include "output/core/services.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::output {

/// The device's part of taking samples: packs what is due into blocks of the device's memory, behind the
/// kernels that computed it, and copies full blocks to staging buffers on a queue of its own, while the next
/// kernels run. Keeps running reductions on the device. All blocks are allocated here. Whatever is passed to
/// the constructor outlives it.
class DeviceSampler {
 public:
  /// @param stream  of the program, on which its fields are computed; see `DeviceFields`
  /// @local. Errors (resource): the device has too little memory.
  DeviceSampler(device::Device& device, void* stream, const Plan& plan);
  DeviceSampler(const DeviceSampler&) = delete;
  DeviceSampler& operator=(const DeviceSampler&) = delete;
  /// Waits for the copies. @local
  ~DeviceSampler();

  /// Bytes of a device's memory that all of them will take. @local
  [[nodiscard]] static double needed_bytes(const Plan& plan) noexcept;
  [[nodiscard]] device::Device& device() const noexcept { return device_; }

  /// Takes a block for the values of a step; `wait` is called with what waits until one is free, if none is.
  /// @local
  void begin(StepIndex step, const std::function<void(const std::function<void()>&)>& wait);
  /// Packs values of a share, whose place in the staging buffer is `out`, behind what the program's stream
  /// has.
  void pack(const FieldView& field, const Share& share, std::int64_t first, std::int64_t count,
            std::span<std::byte> out);
  /// Starts the copies of what was packed since `begin`. Nobody touches their places in the staging buffer
  /// before the event is reached, which stays valid as long as this object. @local
  const device::Event& end();

  /// Takes one sample into a reduction. What is in `accumulator` at the first call is where it begins.
  void add(Accumulator& accumulator, Reduction reduction, const FieldView& field);
  /// Adds to the trace which copies have come to their end. @local
  void collect_spans() { spans_.collect(); }
  /// Brings a reduction back into its accumulator, if it is on the device. @local, waits for the device
  void fetch(Accumulator& accumulator);

 private:
  struct Block {
    device::Buffer memory;
    std::unique_ptr<device::Event> copied;
  };
  /// Neighbours in the block and in the staging buffer.
  struct CopyExtent {
    std::byte* to;
    std::size_t from, bytes;
  };
  const LocalPoint* points_of(const Share& share);

  device::Device& device_;
  const Plan& plan_;
  std::unique_ptr<device::Queue> compute_, copies_;
  std::unique_ptr<device::Event> packed_;
  device::SpanLog spans_;
  StepIndex step_ = 0;  ///< whose values are packed
  std::vector<Block> blocks_;
  std::size_t block_ = 0;  ///< that is being filled, or was last
  std::size_t used_ = 0;   ///< bytes of it
  std::vector<CopyExtent> extents_;
  std::map<const Share*, device::Buffer> points_;
  std::map<const Accumulator*, device::Buffer> reductions_;
};

/// For the device of the services; null without one. @collective{comm}. Errors (resource), the same on all
/// ranks.
std::unique_ptr<DeviceSampler> make_device_sampler(mpi::CommView comm, const SessionServices& services,
                                                   const Plan& plan);

}  // namespace tailrace::output
