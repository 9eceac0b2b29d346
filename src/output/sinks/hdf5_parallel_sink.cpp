#include <fmt/format.h>

#include <numeric>
#include <system_error>

#include "h5/parallel.hpp"
#include "mpi/verdict.hpp"
#include "output/core/raw_file.hpp"
#include "output/sinks/collective_sink.hpp"
#include "output/sinks/hdf5_layout.hpp"
#include "output/sinks/new_file.hpp"
#include "output/sinks/sinks.hpp"
#include "output/sinks/hyperslab.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// The file of the sink `hdf5`, whose datasets are written by collective calls of a parallel HDF5.
class Hdf5ParallelSink final : public CollectiveSink {
 public:
  explicit Hdf5ParallelSink(const SinkContext& context) : CollectiveSink(context), layout_(context) {
    h5::ParallelTarget target{
        .comm = context.comm.get(), .path = context.path, .datasets = {}, .hints = context.options.mpi_hints};
    for (const auto& stream : context.plan.streams)
      for (const auto& one : stream.datasets) target.datasets.push_back(one.path);
    record_ = target.datasets.size();
    target.datasets.emplace_back(record_path);
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
    for (std::size_t dataset = 0; dataset < record_; ++dataset) {
      if (!is_touched(touched, dataset)) continue;
      const bool mine = part != parts.end() && part->dataset == dataset;
      keep_failure_of([&] {
        const auto slabs = mine ? slabs_of(spec(dataset).shape, part->runs) : std::vector<h5::Slab>();
        const auto values = mine ? part->bytes : std::span<const std::byte>();
        through_hdf5("writing", place(dataset), [&] { file_->write(dataset, slabs, values); });
      });
      if (mine) ++part;
    }
  }

  void write_record(int source, StepIndex steps) override {
    const auto slots = layout_.slots_of(source);
    if (slots.count == 0) return;
    const std::vector<std::uint64_t> values(static_cast<std::size_t>(slots.count),
                                            static_cast<std::uint64_t>(steps));
    const h5::Slab slab{.start = {0, 0, static_cast<std::uint64_t>(slots.first)},
                        .count = {1, 1, static_cast<std::uint64_t>(slots.count)}};
    through_hdf5("writing", layout_.places().record, [&] {
      file_->write_alone(record_, {&slab, 1}, std::as_bytes(std::span(values)));
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
  std::size_t record_ = 0;  ///< number of the record's dataset, after those of the streams
  std::unique_ptr<h5::ParallelFile> file_;
};

}  // namespace

std::unique_ptr<Sink> create_hdf5_parallel_sink(const SinkContext& context) {
  return std::make_unique<Hdf5ParallelSink>(context);
}

}  // namespace tailrace::output
