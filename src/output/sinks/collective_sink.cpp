// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/collective_sink.hpp"

#include <cerrno>
#include <utility>

#include "mpi/file.hpp"
#include "mpi/verdict.hpp"
#include "output/core/raw_file.hpp"

namespace tailrace::output {

namespace {

/// Takes all bytes and puts them nowhere: the library does that afterwards.
class NoCall final : public WriteCall {
 public:
  ssize_t write(int, std::span<const iovec> buffers, off_t, StepIndex) override {
    std::size_t total = 0;
    for (const auto& buffer : buffers) total += buffer.iov_len;
    return static_cast<ssize_t>(total);
  }
};

}  // namespace

CollectiveSink::CollectiveSink(const SinkContext& context)
    : comm_(context.comm),
      path_(context.path),
      job_(context.plan),
      disturbance_(make_write_call(context.options, context.comm.rank(), std::make_unique<NoCall>())) {
  mpi::prefer_romio();
}

void CollectiveSink::flush_file(const std::string& path) {
  RawFile file(path, make_plain_call());
  file.flush();
  file.close();
}

void CollectiveSink::keep_failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (...) {
    if (!failure_) failure_ = describe_current_exception();
  }
}

Written CollectiveSink::write(std::span<const Extent> extents, StepIndex) {
  Written written;
  const auto before = job_.parts().size();
  keep_failure_of([&] { job_.add(extents); });
  for (const auto& extent : extents) written.bytes += static_cast<std::int64_t>(extent.bytes.size());
  written.operations = static_cast<std::int64_t>(job_.parts().size() - before);
  return written;
}

/// The faults and the pace that the user asked for, as for a write of the part.
void CollectiveSink::disturb(const DatasetPart& part, StepIndex step) {
  const auto size = static_cast<std::int64_t>(h5::size_bytes(spec(part.dataset).type));
  std::int64_t offset = place(part.dataset) + part.runs.front().offset * size;
  for (auto left = part.bytes; !left.empty();) {
    iovec buffer{const_cast<std::byte*>(left.data()), left.size()};  // NOLINT: only read
    const ssize_t taken = disturbance_->write(-1, {&buffer, 1}, offset, step);
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) throw file_failure(path_, "writing", offset, taken < 0 ? errno : ENOSPC);
    offset += taken;
    left = left.subspan(static_cast<std::size_t>(taken));
  }
}

void CollectiveSink::finish_job(StepIndex step) {
  const std::size_t failed = job_.specs().size();  // the bit after those of the datasets
  std::vector<std::uint64_t> bits(failed / 64 + 1);
  const auto set = [&](std::size_t bit) { bits[bit / 64] |= std::uint64_t{1} << bit % 64; };
  keep_failure_of([&] { prepare(job_.parts()); });
  keep_failure_of([&] {
    for (const auto& part : job_.parts()) disturb(part, step);
  });
  for (const auto& part : job_.parts()) set(part.dataset);
  if (failure_) set(failed);
  mpi::unite_bits(comm_, bits);
  failed_in_library_ = !is_touched(bits, failed);  // until all ranks have said otherwise
  if (failed_in_library_) keep_failure_of([&] { write_parts(job_.parts(), bits, step); });
  job_.clear();
  share_failure();
  failed_in_library_ = false;
}

void CollectiveSink::commit_mark(int source, StepIndex steps) {
  keep_failure_of([&] { write_commit_mark(source, steps); });  // reported with the next job
}

void CollectiveSink::flush() {
  // Not through the library: there, a rank that fails may leave the others waiting.
  keep_failure_of([&] { flush_files(); });
  share_failure();
}

void CollectiveSink::close(mpi::CommView comm, const FileTail& tail, const FileEnd& end) {
  keep_failure_of([&] { close_file(tail, end); });
  std::optional<Error> shared;
  try {
    share_failure();
  } catch (const Error& error) {
    shared = error;
  }
  const auto finish_here = [&] {
    if (comm.is_root()) {
      finish(tail, {.steps = end.steps, .complete = end.complete && !shared});
      flush_files();
    }
    if (shared) throw Error(*shared);
  };
  mpi::collectively(comm, finish_here, close_limit_s);
}

/// Others may still be inside the library, some forever: MPICH does not return from a collective write that
/// another rank has left with an error. A rank that has failed therefore waits for a shorter time, and then
/// states its own failure.
void CollectiveSink::share_failure() {
  const auto mine = std::exchange(failure_, std::nullopt);
  try {
    mpi::agree(comm_, mine, mine ? mpi::verdict_limit_s : close_limit_s);
  } catch (const Error& error) {
    if (error.info().rank >= 0 || !mine) throw;
    throw Error(*mine);
  }
}

}  // namespace tailrace::output
