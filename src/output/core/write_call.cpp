// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/write_call.hpp"

namespace tailrace::output {

namespace {

class PlainCall final : public WriteCall {
 public:
  ssize_t write(int fd, std::span<const iovec> buffers, off_t offset, StepIndex) override {
    return pwritev(fd, buffers.data(), static_cast<int>(buffers.size()), offset);
  }
};

}  // namespace

std::unique_ptr<WriteCall> make_plain_call() {
  return std::make_unique<PlainCall>();
}

std::unique_ptr<WriteCall> make_write_call(const WriteOptions& options, int rank,
                                           std::unique_ptr<WriteCall> real) {
  auto call = std::move(real);
  if (options.pace) call = make_paced_call(std::move(call), *options.pace, rank);
  for (const auto& fault : options.faults)
    if (!fault.rank || *fault.rank == rank) call = make_faulty_call(std::move(call), fault, rank);
  return call;
}

}  // namespace tailrace::output
