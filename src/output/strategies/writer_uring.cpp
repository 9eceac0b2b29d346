// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "output/strategies/async_writer.hpp"
#include "output/strategies/writers.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

std::unique_ptr<Writer> make_uring_writer(const WriterContext& context) {
  if (context.plan != nullptr && context.plan->may_switch()) {
    context.warning =
        "--write uring: the kernel cannot look where on_failure = \"switch\" has samples go; a thread of "
        "each "
        "rank writes instead";
    return make_threads_writer(context);
  }
  AsyncWriterParts parts;
  parts.memory.resize(static_cast<std::size_t>(context.options.buffers) *
                      StagingPool::distance(context.staging_bytes));
  std::vector<int> descriptors;
  for (auto* file : context.sink.placed()->files()) descriptors.push_back(file->descriptor());
  try {
    parts.queue = open_kernel_queue(descriptors, parts.memory, context.writer_cpus);
  } catch (const Error& error) {
    context.warning =
        fmt::format("--write uring: {}; a thread of each rank writes instead", error.info().message);
    if (!error.info().hint.empty()) context.warning += fmt::format(" ({})", error.info().hint);
    parts.memory = {};
    return make_threads_writer(context);
  }
  return make_async_writer(context, std::move(parts));
}

}  // namespace tailrace::output
