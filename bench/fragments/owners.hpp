// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "graph.hpp"

namespace tailrace::bench {

/// Which rank has which points: blocks of almost equal numbers.
struct Owners {
  int width, ranks;

  [[nodiscard]] Points points_of(int rank) const noexcept { return {begin_of(rank), begin_of(rank + 1)}; }
  [[nodiscard]] int rank_of(int point) const noexcept {
    return static_cast<int>(((static_cast<std::int64_t>(point) + 1) * ranks - 1) / width);
  }

 private:
  [[nodiscard]] int begin_of(int rank) const noexcept {
    return static_cast<int>(static_cast<std::int64_t>(rank) * width / ranks);
  }
};

}  // namespace tailrace::bench
