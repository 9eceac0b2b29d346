// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "base/aligned.hpp"
#include "output/core/writer.hpp"
#include "output/strategies/async_queue.hpp"

namespace tailrace::output {

/// Describes what a writer without a thread works with.
struct AsyncWriterParts {
  AlignedVector<std::byte> memory;  ///< refers to the staging buffers
  std::unique_ptr<AsyncQueue> queue;
};

/// A writer that has operations of a queue carried out instead of a thread. Its sink has known places.
std::unique_ptr<Writer> make_async_writer(const WriterContext& context, AsyncWriterParts parts);

}  // namespace tailrace::output
