// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// What the ranks before this one have, and what all have, found while the ranks do something else.
class Scan {
 public:
  explicit Scan(CommView comm) : comm_(comm) {}
  Scan(const Scan&) = delete;
  Scan& operator=(const Scan&) = delete;
  /// After the end of what was started, unless an error ends the program.
  ~Scan();

  /// Hands in this rank's numbers, as many as all others. @collective{comm}, does not wait
  void start(std::vector<std::int64_t> mine);
  /// True from `start` until `complete` or `wait` has seen its end.
  [[nodiscard]] bool pending() const noexcept;
  /// True once what was started last is complete on this rank. @local, does not wait
  bool complete();
  /// Waits until it is: until all ranks have started it.
  void wait();

  /// After that: sums over the ranks before this one, and over all.
  [[nodiscard]] const std::vector<std::int64_t>& before() const noexcept { return values_->before; }
  [[nodiscard]] const std::vector<std::int64_t>& total() const noexcept { return values_->total; }

 private:
  struct Values {
    std::vector<std::int64_t> mine, before, total, undefined;
  };
  CommView comm_;
  std::array<Request, 2> requests_{Request::none, Request::none};
  std::unique_ptr<Values> values_ = std::make_unique<Values>();
};

}  // namespace tailrace::mpi
