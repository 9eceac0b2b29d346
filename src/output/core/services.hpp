// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

namespace tailrace::device {
class Device;
}

namespace tailrace::output {

class IoServers;
class ProcessPlacement;
class StagingMemory;

/// Describes what a program lends to a session; all of it outlives the session.
struct SessionServices {
  IoServers* io_servers = nullptr;  ///< the processes that write for others; null: there are none
  /// From which the writer takes its buffers where they are memory of the process alone; serves one session
  /// at a time. Null: each session has its own.
  StagingMemory* memory = nullptr;
  /// Says where the processes of this machine run, as an earlier session of the same ranks has found out;
  /// null: a session asks them.
  std::shared_ptr<const ProcessPlacement> placement = nullptr;
  /// In whose memory fields may be, and the stream that computes them (`DeviceFields`); null: in none.
  device::Device* device = nullptr;
  void* device_stream = nullptr;
};

}  // namespace tailrace::output
