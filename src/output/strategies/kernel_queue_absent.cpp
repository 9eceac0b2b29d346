// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/async_queue.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

constexpr const char* obstacle =
    "this build has no io_uring, as liburing was not found when it was configured";

}  // namespace

std::string kernel_queue_obstacle() {
  return obstacle;
}

std::unique_ptr<AsyncQueue> open_kernel_queue(const std::vector<int>&, std::span<std::byte>, const Cpus&) {
  throw Error(ErrorInfo{.kind = ErrorKind::io,
                        .message = obstacle,
                        .path = {},
                        .hint = "install liburing-dev and build again"});
}

}  // namespace tailrace::output
