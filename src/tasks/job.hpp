// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tailrace::tasks {

/// Something to be done once by whatever thread is free.
class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  virtual ~Job() = default;

  /// Does it. The job may end its own life here.
  virtual void run() = 0;
  /// Called instead of `run` if the pool ends before.
  virtual void abandon() noexcept {}
};

/// Says what a free thread takes first.
enum class Priority : std::uint8_t { urgent, normal };
inline constexpr int priority_count = 2;

}  // namespace tailrace::tasks
