// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "output/core/plan.hpp"

namespace tailrace::output {

/// Values of a share that are together in a staging buffer. Means the same to any process that knows the
/// shares of the rank.
struct StagedExtent {
  std::size_t share = 0;              ///< its number
  std::int64_t sample = 0;            ///< number of the sample in the dataset
  std::int64_t first = 0, count = 0;  ///< the share's values, in the order of its runs
  std::size_t position = 0;           ///< refers to the first byte in the buffer
};

/// Rows of a stream that takes them, all that this rank has of a sample.
struct StagedRows {
  std::size_t dataset = 0;   ///< as `Share::dataset`
  std::int64_t sample = 0;   ///< number of the sample in the dataset
  std::size_t position = 0;  ///< refers to the first byte in the buffer
  std::size_t bytes = 0;
};

/// One staging buffer and what it holds: a job for a writer.
struct Staging {
  std::span<std::byte> bytes;
  std::size_t used = 0;
  std::vector<StagedExtent> staged_extents;
  std::vector<StagedRows> rows;
  int source = 0;                        ///< the rank whose samples they are
  StepIndex step = 0;                    ///< the last one that it holds samples of
  std::optional<StepIndex> commit_mark;  ///< to be marked in the file after the staged extents are written
  bool flush = false;                    ///< to be put onto the device after that

  void clear() noexcept;
  [[nodiscard]] std::size_t room() const noexcept { return bytes.size() - used; }  ///< bytes that are free
  /// Room for `count` values of a share; the caller fills it.
  std::span<std::byte> add(const Share& share, std::int64_t sample, std::int64_t first, std::int64_t count);
  /// Takes rows of a sample in. Nobody knows beforehand how many come: the buffer becomes larger when it
  /// has to, and stays so.
  void add_rows(std::size_t dataset, std::int64_t sample, std::span<const std::byte> values);

 private:
  void make_room(std::size_t needed);
  AlignedVector<std::byte> larger_;  ///< memory of its own, once `bytes` of the pool were too few
};

class StagingPool;

/// The right to use one staging buffer. Whoever holds it, the simulation while packing or the writer while
/// writing, is alone with the buffer; giving it up makes the buffer free again.
class Lease {
 public:
  Lease(Lease&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), staging_(other.staging_) {}
  Lease& operator=(Lease&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(staging_, other.staging_);
    return *this;
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  [[nodiscard]] Staging& operator*() const noexcept { return *staging_; }
  [[nodiscard]] Staging* operator->() const noexcept { return staging_; }

 private:
  friend class StagingPool;
  Lease(StagingPool& pool, Staging& staging) noexcept : pool_(&pool), staging_(&staging) {}
  StagingPool* pool_;
  Staging* staging_;
};

/// Memory for the buffers of writers that come one after the other: what one has touched, the next has ready.
class StagingMemory {
 public:
  StagingMemory() = default;
  StagingMemory(const StagingMemory&) = delete;
  StagingMemory& operator=(const StagingMemory&) = delete;

  /// So many bytes, touched. What was taken before is no longer used by anybody. @local
  std::span<std::byte> take(std::size_t bytes);

 private:
  AlignedVector<std::byte> memory_;
};

/// A fixed number of staging buffers for the samples of rank `source`. Outlives its leases.
class StagingPool {
 public:
  /// In `kept`, or without it in memory of its own, allocated and touched here, so that it neither grows nor
  /// is paid for during the run.
  StagingPool(int buffers, std::int64_t bytes_each, int source = 0, StagingMemory* kept = nullptr);
  /// In memory of somebody else, at `distance` from each other; it is touched here.
  StagingPool(std::span<std::byte> memory, int buffers, std::int64_t bytes_each, int source);
  StagingPool(const StagingPool&) = delete;
  StagingPool& operator=(const StagingPool&) = delete;

  /// Bytes from one buffer to the next.
  static std::size_t distance(std::int64_t bytes_each) noexcept;

  /// A free buffer, or nothing. @local
  std::optional<Lease> try_acquire();
  /// A free buffer; waits until there is one. @local
  Lease acquire();

 private:
  friend class Lease;
  void share_out(std::span<std::byte> memory, int buffers, std::int64_t bytes_each, int source);
  Lease take();  // under the lock, where one is free
  void give_back(Staging& staging) noexcept;

  StagingMemory own_;
  std::vector<Staging> buffers_;
  std::vector<Staging*> free_;
  std::mutex mutex_;
  std::condition_variable freed_;
};

}  // namespace tailrace::output
