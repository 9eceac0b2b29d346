// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

namespace tailrace::output {

/// The threads by which the kernel carries out io_uring operations of the thread that made this object. They
/// belong to the process, and end when there is nothing to do for some seconds.
class KernelWorkers {
 public:
  KernelWorkers();

  /// CPU seconds that they have used since then. What one uses between the last call and its end is missed.
  double cpu_s();

 private:
  void look();

  std::string name_;
  std::map<long, double> seen_s_;  ///< refers to each worker there is, by its number
  double used_s_ = 0;
};

}  // namespace tailrace::output
