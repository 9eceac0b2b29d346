// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <numeric>
#include <system_error>

#include "h5/parallel.hpp"
#include "mpi/verdict.hpp"
#include "output/core/raw_file.hpp"
#include "output/sinks/collective_sink.hpp"
#include "output/sinks/hdf5_layout.hpp"
#include "output/sinks/hyperslab.hpp"
#include "output/sinks/new_file.hpp"
#include "output/sinks/sinks.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// The file of the sink `hdf5`, whose datasets are written by collective calls of a parallel HDF5.
class Hdf5ParallelSink final : public CollectiveSink {
 public:
  explicit Hdf5ParallelSink(const SinkContext& context) : CollectiveSink(context), layout_(context) {
    h5::ParallelTarget target{.comm = context.comm.fortran(),
                              .path = context.path,
                              .datasets = {},
                              .hints = context.options.mpi_hints};
    for (const auto& stream : context.plan.streams)
      for (const auto& one : stream.datasets) target.datasets.push_back(one.path);
    commit_mark_ = target.datasets.size();
    target.datasets.emplace_back(commit_mark_path);
    std::optional<ErrorInfo> failure;
    try {
      through_hdf5("opening", -1, [&] { file_ = h5::open_parallel(target); });
    } catch (...) {
      failure = describe_current_exception();
    }
    mpi::agree(context.comm, failure);
  }

  [[nodiscard]] const std::string& warning() const noexcept override { return layout_.warning(); }
  void publish(mpi::CommView comm, StepIndex steps) override { layout_.publish(comm, steps); }

 private:
  [[nodiscard]] std::int64_t place(std::size_t dataset) const override {
    return from_byte(layout_.places().datasets[dataset], 0).offset;
  }

  void write_parts(std::span<const DatasetPart> parts, std::span<const std::uint64_t> touched,
                   StepIndex) override {
    auto part = parts.begin();
    for (std::size_t dataset = 0; dataset < commit_mark_; ++dataset) {
      if (!is_touched(touched, dataset)) continue;
      const bool mine = part != parts.end() && part->dataset == dataset;
      keep_failure_of([&] {
        const auto hyperslabs =
            mine ? hyperslabs_of(spec(dataset).shape, part->runs) : std::vector<h5::Hyperslab>();
        const auto values = mine ? part->bytes : std::span<const std::byte>();
        through_hdf5("writing", place(dataset), [&] { file_->write(dataset, hyperslabs, values); });
      });
      if (mine) ++part;
    }
  }

  void write_commit_mark(int source, StepIndex steps) override {
    const auto slots = layout_.slots_of(source);
    if (slots.count == 0) return;
    const std::vector<std::uint64_t> values(static_cast<std::size_t>(slots.count),
                                            static_cast<std::uint64_t>(steps));
    const h5::Hyperslab hyperslab{.start = {0, 0, static_cast<std::uint64_t>(slots.first)},
                                  .count = {1, 1, static_cast<std::uint64_t>(slots.count)}};
    through_hdf5("writing", layout_.places().commit_mark, [&] {
      file_->write_alone(commit_mark_, {&hyperslab, 1}, std::as_bytes(std::span(values)));
    });
  }

  void close_file(const FileTail&, const FileEnd&) override {
    through_hdf5("closing", -1, [&] { file_->close(); });
  }

  void finish(const FileTail& tail, const FileEnd& end) override { layout_.finish(tail, end); }

  /// Turns the failures of the parallel HDF5 into ours.
  template <class Action>
  void through_hdf5(const char* operation, std::int64_t offset, const Action& action) const {
    try {
      action();
    } catch (const std::system_error& error) {
      auto info = file_failure(path(), operation, offset, error.code().value()).info();
      info.message += fmt::format(" (parallel HDF5: {})", error.what());
      throw Error(info);
    }
  }

  Hdf5Layout layout_;
  std::size_t commit_mark_ = 0;  ///< number of the commit mark's dataset, after those of the streams
  std::unique_ptr<h5::ParallelFile> file_;
};

}  // namespace

std::unique_ptr<Sink> create_hdf5_parallel_sink(const SinkContext& context) {
  return std::make_unique<Hdf5ParallelSink>(context);
}

}  // namespace tailrace::output
