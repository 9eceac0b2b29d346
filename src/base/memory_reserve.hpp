// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tailrace/error.hpp"

namespace tailrace {

/// Keeps half a megabyte aside for the end of a run without memory, so that its error can be described,
/// agreed upon by the ranks and reported. One at a time in a process. @local
class MemoryReserve {
 public:
  MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;
  ~MemoryReserve();
};

/// Describes that memory is short. The reserve, if there is one, goes to the heap, and the first description
/// was made with it: a thread that has allocated nothing before cannot when memory is short. Without memory
/// for another description it has no hint. @local
ErrorInfo out_of_memory() noexcept;

}  // namespace tailrace
