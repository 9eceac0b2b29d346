// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

/// Devices with memory of their own that work beside the processor: their memory, queues, events and copies.
/// The only module that includes CUDA's headers, but for sources with kernels. The reasons are in
/// docs/explain/device.md.
namespace tailrace::device {

class Emulation;

/// Describes a device.
struct DeviceInfo {
  int index = 0;  ///< among those that this process sees
  std::string name;
  std::string pci_address;       ///< as hwloc and the system write it; empty without one
  std::size_t memory_bytes = 0;  ///< all of it
  int major = 0, minor = 0;      ///< compute capability
};

/// A mark in a queue, which is reached when all that was put into the queue before has been done.
class Event {
 public:
  virtual ~Event() = default;
  /// Returns whether the last mark is reached; true before the first. Any thread. @local. Errors (resource):
  /// the device failed.
  [[nodiscard]] virtual bool reached() const = 0;
  /// Waits for it. Any thread. @local. Errors: as `reached`.
  virtual void wait() const = 0;
  /// Seconds by the device from the last mark of an earlier event to that of this one. Both are reached, and
  /// of `Device::make_timed_event`. @local. Errors: as `reached`.
  [[nodiscard]] virtual double seconds_since(const Event& earlier) const = 0;
};

/// Work that a device does in the order in which it was given; work of different queues may overlap. No call
/// but `synchronize` waits for the device. Errors (resource) of all functions: the device refused or failed;
/// an operation that fails later fails whoever waits for it.
class Queue {
 public:
  virtual ~Queue() = default;
  /// Copies to memory of the host, which nobody touches before an event behind it is reached. @local
  virtual void copy_to_host(void* to, const void* from, std::size_t bytes) = 0;
  /// Copies from memory of the host, which stays as it is until an event behind it is reached. @local
  virtual void copy_to_device(void* to, const void* from, std::size_t bytes) = 0;
  /// Makes memory of the device zeros. @local
  virtual void clear(void* memory, std::size_t bytes) = 0;
  /// Puts a mark behind all that was given so far. @local
  virtual void record(Event& event) = 0;
  /// What is given from now on begins when the last mark of `event` is reached. @local
  virtual void wait_for(const Event& event) = 0;
  /// Waits until all is done. @local, waits for the device
  virtual void synchronize() = 0;
  /// The stream of the device's own library, for kernels: a `cudaStream_t`.
  [[nodiscard]] virtual void* native() const noexcept = 0;
  /// The queue of an emulated device, for kernels; null for others.
  [[nodiscard]] virtual Emulation* emulation() noexcept = 0;
};

/// A device of this process. It outlives all that it makes. Functions may be called by any thread.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
  /// Bytes of its memory that are free now, whoever uses the others. @local
  [[nodiscard]] virtual std::size_t free_bytes() const = 0;

  [[nodiscard]] virtual std::unique_ptr<Queue> make_queue() = 0;
  /// A queue for a stream that belongs to the caller, as `Queue::native`; null: the stream that is there
  /// without being made. @local
  [[nodiscard]] virtual std::unique_ptr<Queue> queue_of(void* native) = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event() = 0;
  /// One that also says when its mark was reached.
  [[nodiscard]] virtual std::unique_ptr<Event> make_timed_event() = 0;

  /// Memory of the device. @local. Errors (resource): as much is not there; the message says how much is.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Makes memory of the host one that copies reach without help of the processor, until `unpin`. Returns
  /// false if the system refuses: copies are right without it, but slow, and hold their caller up. @local
  [[nodiscard]] virtual bool pin(std::span<std::byte> memory) = 0;
  virtual void unpin(std::span<std::byte> memory) noexcept = 0;
};

/// Names a device and the queue on which a program computes there.
struct ComputeQueue {
  Device* device = nullptr;
  Queue* queue = nullptr;
};

/// Memory of a device that belongs to its holder.
class Buffer {
 public:
  Buffer() = default;
  /// @local. Errors (resource): as `Device::allocate`.
  Buffer(Device& device, std::size_t bytes)
      : device_(&device), data_(device.allocate(bytes)), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_ != nullptr) device_->release(data_);
  }

  /// Only kernels and copies of the device may look at it.
  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  Device* device_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Memory of the host that is pinned while this lives; see `Device::pin`.
class Pin {
 public:
  Pin(Device& device, std::span<std::byte> memory)
      : device_(&device), memory_(memory), pinned_(device.pin(memory)) {}
  Pin(Pin&& other) noexcept
      : device_(other.device_), memory_(other.memory_), pinned_(std::exchange(other.pinned_, false)) {}
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  Pin& operator=(Pin&&) = delete;
  ~Pin() {
    if (pinned_) device_->unpin(memory_);
  }

 private:
  Device* device_;
  std::span<std::byte> memory_;
  bool pinned_;
};

}  // namespace tailrace::device
