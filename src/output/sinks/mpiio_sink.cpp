// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <optional>

#include "mpi/file.hpp"
#include "mpi/verdict.hpp"
#include "output/sinks/hdf5_sink.hpp"
#include "output/sinks/sinks.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// Independent writes through MPI-IO.
class MpiioCall final : public WriteCall {
 public:
  explicit MpiioCall(mpi::File& file) : file_(file) {}
  ssize_t write(int, std::span<const iovec> buffers, off_t offset, StepIndex) override {
    return file_.write_at(buffers, offset);
  }

 private:
  mpi::File& file_;
};

/// The file of the sink `hdf5`, whose bytes go through MPI-IO.
class MpiioSink final : public Sink {
 public:
  explicit MpiioSink(const SinkContext& context)
      : sink_(context, [&] {
          if (!file_) file_.emplace(context.comm, context.path, context.options.mpi_hints);
          return std::make_unique<MpiioCall>(*file_);
        }) {
    const auto ignored = mpi::not_taken(context.options.mpi_hints, file_->hints());
    if (context.comm.is_root() && !ignored.empty())
      sink_.layout().warn(fmt::format("MPI-IO does not take the hints {}", mpi::to_string(ignored)));
  }

  Written write(std::span<const Extent> extents, StepIndex step) override {
    return sink_.write(extents, step);
  }
  void commit_mark(int source, StepIndex steps) override { sink_.commit_mark(source, steps); }
  void mark_dropped(int source) override { sink_.mark_dropped(source); }
  void flush() override { sink_.flush(); }
  void publish(mpi::CommView comm, StepIndex steps) override { sink_.publish(comm, steps); }
  void close(mpi::CommView comm, const FileTail& tail, const FileEnd& end) override {
    std::optional<ErrorInfo> failure;
    try {
      file_->close();
    } catch (...) {
      failure = describe_current_exception();
    }
    sink_.close(comm, tail, end);
    mpi::agree(comm, failure);
  }
  [[nodiscard]] const std::string& warning() const noexcept override { return sink_.warning(); }

 private:
  std::optional<mpi::File> file_;
  Hdf5Sink sink_;
};

}  // namespace

std::unique_ptr<Sink> create_mpiio_sink(const SinkContext& context) {
  return std::make_unique<MpiioSink>(context);
}

}  // namespace tailrace::output
