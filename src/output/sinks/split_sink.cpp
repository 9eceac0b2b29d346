// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_sink.hpp"
#include "output/sinks/sinks.hpp"
#include "output/sinks/snapshots.hpp"

namespace tailrace::output {

namespace {

/// Puts each sample into a file of its own; what is not due step by step, and the commit mark, into the
/// output file.
class SplitSink final : public Hdf5Sink {
 public:
  explicit SplitSink(const SinkContext& context)
      : Hdf5Sink(context, make_plain_call),
        joins_(context.joins),
        snapshots_(context.path, context.plan, call(),
                   context.process < 0 ? context.comm.rank() : context.process) {}

  /// Where several processes take turns, only the rank whose samples they are knows which were
  /// recorded last.
  void mark_dropped(int source) override {
    if (!joins_) Hdf5Sink::mark_dropped(source);
  }

  void flush() override {
    snapshots_.flush();
    Hdf5Sink::flush();
  }
  /// There is more than one file, and they come and go.
  [[nodiscard]] output::PlacedFiles* placed() noexcept override { return nullptr; }

 private:
  Target locate(std::size_t dataset, std::int64_t offset_bytes) override {
    const auto place = snapshots_.locate(dataset, offset_bytes);
    return place.file == nullptr ? Hdf5Sink::locate(dataset, offset_bytes)
                                 : Target{place.file, place.offset, place.bytes};
  }
  void start_flush() noexcept override {
    snapshots_.start_flush();
    Hdf5Sink::start_flush();
  }
  void close_files() override {
    snapshots_.close();
    Hdf5Sink::close_files();
  }

  bool joins_;
  SnapshotFiles snapshots_;
};

}  // namespace

std::unique_ptr<Sink> create_split_sink(const SinkContext& context) {
  return std::make_unique<SplitSink>(context);
}

}  // namespace tailrace::output
