// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "device/boxes.hpp"
#include "device/device.hpp"
#include "device/span_log.hpp"
#include "halo_plan.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/halo.hpp"

namespace tailrace::layout {

/// Does what `Halo` does, for arrays in the memory of a device: packs the points there, copies them to pinned
/// memory of the host on a queue of its own, and back behind the messages, while the device computes. Main
/// thread only. The device and the queue outlive it.
class DeviceHalo {
 public:
  /// @param compute  the queue that computes the arrays
  /// @param fields  the most that are exchanged at once
  /// @collective{comm}, synchronises. Errors (resource), on all ranks: a device has no room.
  DeviceHalo(mpi::CommView comm, device::Device& device, device::Queue& compute, const HaloConfig& config,
             int fields);
  /// As `Halo`, and waits for the copies.
  ~DeviceHalo();
  DeviceHalo(const DeviceHalo&) = delete;
  DeviceHalo& operator=(const DeviceHalo&) = delete;

  [[nodiscard]] const Box& interior() const noexcept { return plan_.interior; }
  [[nodiscard]] const std::vector<Box>& shells() const noexcept { return plan_.shells; }

  /// As `Halo::start`: packs behind what the queue has, and starts the copies; what comes behind in the queue
  /// runs meanwhile. `first` is an address of the device. The field has the next number, from 0 on after each
  /// `finish`. @collective{comm}, does not wait for the queue.
  void start(void* first, StepIndex step);
  /// Waits for messages. The halos are in the arrays for what comes behind in the queue. @collective{comm}
  void finish();

  /// Adds to the trace which copies have come to their end. @local
  void collect_spans() { spans_.collect(); }
  /// Bytes of its memory on a device, and pinned ones of the host, once made. @local
  [[nodiscard]] std::int64_t device_bytes() const noexcept { return device_bytes_; }
  /// What either will be, for a rank. @local
  [[nodiscard]] static double needed_bytes(const HaloConfig& config, int rank, int fields);

 private:
  /// One side of the exchange: what this rank sends, or what it receives.
  struct Side {
    device::BoxList boxes;
    std::size_t bytes = 0;
  };
  struct Field {
    device::Buffer sent, received;
    std::span<std::byte> out, in;  ///< of the host
    std::unique_ptr<device::Event> packed, out_there, in_there;
    void* first = nullptr;
    StepIndex step = 0;
  };
  Side make_side(const std::vector<HaloPart>& parts, const HaloConfig& config, const Box& own);
  void make_fields(int count);
  void send(Field& field, int number);
  void receive(Field& field, int number);
  [[nodiscard]] device::Array array(const Field& field) const noexcept;
  void copy_out(Field& field);
  void copy_in(Field& field);

  mpi::Comm comm_;
  device::Device& device_;
  device::Queue& compute_;
  LocalLayout layout_;
  std::size_t element_bytes_;
  HaloPlan plan_;
  std::unique_ptr<device::Queue> copies_;
  device::SpanLog spans_;
  Side sends_, receives_;
  AlignedVector<std::byte> host_;
  std::optional<device::Pin> pin_;
  std::vector<Field> fields_;
  int started_ = 0;
  std::int64_t device_bytes_ = 0;
  std::vector<mpi::Request> receiving_, sending_;
};

}  // namespace tailrace::layout
