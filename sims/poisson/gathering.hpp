// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "kernels.hpp"

namespace tailrace::poisson {

/// What a look at a sweep finds on a rank. Blocks share the memory of the data fragments, which live on in it
/// while the sweeps continue.
struct Found {
  std::map<std::string, std::map<int, Values>> fields;  ///< by name, then by the number of the block
  double square = 0;                                    ///< the sum of the squares of the residual
  double rho = 0;                                       ///< r r, of conjugate gradients
};

/// Collects from fragments what is looked at, by the number of the look. Any thread may add to it.
class Gathering {
 public:
  /// Begins again. A look is complete with so many fields of blocks, and the sums. @local
  void begin(std::size_t fields_of_blocks);
  void add(int look, const std::string& field, int block, const Values& values);
  void add_sums(int look, double square, double rho);
  [[nodiscard]] bool complete(int look) const;
  /// Gives away what a complete look has found. @local
  [[nodiscard]] Found take(int look);

 private:
  struct Part {
    Found found;
    std::size_t missing = 0;
  };
  Part& part_of(int look);

  mutable std::mutex mutex_;
  std::size_t parts_ = 0;
  std::map<int, Part> looks_;
};

}  // namespace tailrace::poisson
