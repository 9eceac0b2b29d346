// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

/// What rules of ownership cost on a mesh of UA, inspected by one process on behalf of one rank after the
/// other.
namespace tailrace::bench {

/// A mesh of UA, and on how many ranks.
struct CountSettings {
  char npb_class = 'C';
  int step = 100;  ///< of the mesh
  int change = 0;  ///< also what the change from the mesh of so many steps before sends; 0: not
  std::vector<int> ranks{8, 64, 128, 512, 1024, 2048};
};

/// A row for each number of ranks and each rule: values that a rank reads of others, single contributions
/// that it sends, its peers and the memory of its map, as sums and as the most of a rank; the balance; what
/// the maps ask of owners when they are made. With `change` a row for each number of ranks about that.
nlohmann::json count_rules(const CountSettings& settings);

}  // namespace tailrace::bench
