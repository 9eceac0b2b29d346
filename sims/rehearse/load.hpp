// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/aligned.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::rehearse {

/// Describes what a step computes.
enum class Work {
  none,       ///< nothing
  matmul,     ///< products of small matrices, which stay in the cache
  memory,     ///< a pass over arrays that no cache holds
  broadcast,  ///< messages from each rank one after the other to all
};
const char* to_string(Work work) noexcept;
inline constexpr const char* work_forms = "matmul, memory, broadcast, none";
/// Errors (usage).
Work parse_work(const std::string& text);

/// Describes how much of it.
struct LoadOptions {
  Work work = Work::matmul;
  double step_ms = 0;                 ///< duration of a step on an undisturbed machine
  std::optional<std::int64_t> units;  ///< amount of work instead of a duration
  double imbalance = 0;          ///< 0.2: from 20 % less to 20 % more than the mean, ascending with the rank
  std::optional<int> slow_rank;  ///< this rank does `slow_factor` times its work
  double slow_factor = 2;
};

/// The work of a rank, counted in units and not in time, so that whatever the writing takes from the
/// computation shows.
class Load {
 public:
  /// `threads` threads of this rank do the same work each.
  Load(mpi::CommView comm, const LoadOptions& options, int threads);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Finds out how many units a step of the wanted duration has: as many as the slowest rank does in that
  /// time while all ranks compute. @collective{comm}, synchronises
  void calibrate();
  /// The work of one step. With `Work::broadcast` @collective{comm}, else @local
  void step();

  /// Units of a step before imbalance, and seconds that one took; 0 if that was not measured.
  [[nodiscard]] std::int64_t units() const noexcept { return units_; }
  [[nodiscard]] double unit_s() const noexcept { return unit_s_; }
  /// Units of a step of this rank.
  [[nodiscard]] std::int64_t own_units() const noexcept;
  /// Returns what a unit is, for people.
  [[nodiscard]] const char* unit_text() const noexcept;
  /// A number that depends on all that was computed, so that nothing can be left out.
  [[nodiscard]] double check() const noexcept;
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  void run(std::int64_t units);
  double measure(std::int64_t units);

  class Kernel;
  class Products;
  class Passes;
  class Messages;
  mpi::CommView comm_;
  LoadOptions options_;
  std::unique_ptr<Kernel> kernel_;
  std::int64_t units_ = 0;
  double unit_s_ = 0;
};

}  // namespace tailrace::rehearse
