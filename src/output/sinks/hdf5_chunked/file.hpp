// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/topology.hpp"
#include "h5/chunked.hpp"
#include "output/sinks/hdf5_chunked/filter.hpp"
#include "output/sinks/hdf5_chunked/grid.hpp"
#include "output/sinks/hdf5_chunked/growth.hpp"
#include "output/sinks/hdf5_chunked/packet.hpp"
#include "output/sinks/hdf5_chunked/storage.hpp"

namespace tailrace::output {

/// Seconds and bytes after which what was written becomes part of the file: what a killed run may lose.
inline constexpr double commit_every_s = 1;
inline constexpr std::int64_t commit_every_bytes = 64 << 20;

/// A chunk that waits for more of its values.
struct OpenChunk {
  std::vector<std::byte> bytes;
  std::int64_t filled = 0;
};

/// Chunks that are not complete, by dataset and number.
using OpenChunks = std::map<std::pair<std::size_t, std::int64_t>, OpenChunk>;

/// All that a file needs.
struct ChunkFileSetup {
  const std::string& path;
  const Plan& plan;                            ///< outlives the file
  const std::vector<ChunkedStream>& datasets;  ///< outlive it too
  StepIndex present_until = 0;                 ///< the file holds the samples up to this step
  int ranks = 1;
  int level = 0;  ///< refers to deflate
  std::int64_t queue_bytes = 0;
  Cpus cpus = {};  ///< says where its thread runs; empty: where its starter does
  std::unique_ptr<WriteCall> call;
};

/// The file, open on one rank, and the thread that alone works on it: it takes packets from the queue, puts
/// shared chunks together, hands whole chunks to HDF5, and commits now and then.
class ChunkFile {
 public:
  /// Opens the file, whose layout is, and starts the thread. Errors (io, input).
  explicit ChunkFile(ChunkFileSetup setup);
  ChunkFile(const ChunkFile&) = delete;
  ChunkFile& operator=(const ChunkFile&) = delete;
  ~ChunkFile() { finish(); }

  /// Returns what is to be written. After a failure it takes everything and throws it away.
  [[nodiscard]] PacketQueue& queue() noexcept { return queue_; }
  [[nodiscard]] std::optional<ErrorInfo> failure() const;
  /// Waits until all that was put into the queue is on the device, incomplete chunks too; returns the step up
  /// to which the file holds everything. @local. Errors (io): what failed at any time.
  StepIndex save();
  /// Waits until all that was put into the queue is in the file, incomplete chunks too, and closes it; what
  /// failed is kept. @local
  void finish() noexcept;
  /// Seconds spent in writing, and of these those of the processor. To be read after `finish`.
  [[nodiscard]] double write_s() const noexcept { return write_s_; }
  [[nodiscard]] double write_cpu_s() const noexcept { return write_cpu_s_; }

 private:
  void work() noexcept;
  void write_queue();
  void write(const Packet& packet);
  void write_chunk(std::size_t dataset, const ChunkPlace& place, std::span<const std::byte> bytes,
                   std::uint32_t skipped);
  void add_values(const ExtentHead& head, std::span<const std::byte> bytes);
  OpenChunk open_chunk(std::size_t dataset, const ChunkPlace& place);
  void write_open(OpenChunks::iterator chunk);
  void write_incomplete();
  void take_commit_mark(const Packet& packet);
  void save_growing();
  [[nodiscard]] StepIndex complete_before_open() const;
  void commit(bool to_device);
  void commit_if_due();
  void write_commit_mark();
  void throw_if_failed() const;
  void keep_failure();
  void close() noexcept;

  std::string path_;
  const std::vector<ChunkedStream>& datasets_;
  int level_;
  PagedStorage storage_;
  std::optional<h5::File> file_;  // after the storage, through which it is open
  std::vector<std::optional<h5::ChunkedDataset>> open_datasets_;
  std::map<std::size_t, GrowingStream> growing_;  ///< by their first dataset
  OpenChunks open_;
  std::set<std::pair<std::size_t, std::int64_t>> continued_;  ///< chunks that this run has written again
  std::vector<StepIndex> steps_;    ///< the step up to which each rank's samples were taken in
  std::vector<StepIndex> arrived_;  ///< and up to which its commit marks have come, -1 before the first
  StepIndex last_step_ = 0;         ///< that of which something has come
  std::size_t slots_ = 0;           ///< refers to the commit mark in the file
  std::int64_t uncommitted_bytes_ = 0;
  bool changed_ = false;
  std::atomic<StepIndex> recorded_ = 0;  ///< says what the last commit holds of all ranks
  double last_commit_s_ = 0, write_s_ = 0, write_cpu_s_ = 0;
  PacketQueue queue_;
  mutable std::mutex mutex_;
  std::optional<ErrorInfo> failure_;
  std::jthread thread_;
};

}  // namespace tailrace::output
