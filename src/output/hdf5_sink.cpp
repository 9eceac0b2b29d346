#include <climits>
#include <optional>

#include "new_file.hpp"
#include "sinks.hpp"
#include "space.hpp"
#include "tailrace/mpi/verdict.hpp"
#include "tailrace/output/raw_file.hpp"

namespace tailrace::output {

namespace {

/// Creates the file with its whole layout; returns the offset of each stream dataset, then that of the
/// record.
std::vector<std::int64_t> create_with_layout(const SinkContext& context) {
  std::vector<std::int64_t> offsets;
  create_file(context, [&](h5::File& file) {
    const auto create = [&](const h5::DatasetSpec& spec) {
      offsets.push_back(
          static_cast<std::int64_t>(file.create_dataset(spec).value_or(0)));  // 0: no values, never used
    };
    for (const auto& stream : context.plan.streams)
      for (const auto& spec : stream.datasets) create(spec);
    create(record_spec(context.comm.size()));
    const std::vector<std::uint64_t> slots(static_cast<std::size_t>(context.comm.size()), 0);
    file.write<std::uint64_t>(record_path, slots);
  });
  return offsets;
}

/// What the unreduced samples after step `after` take in the file.
std::vector<Region> regions_after(const Plan& plan, const std::vector<std::int64_t>& offsets,
                                  StepIndex after) {
  std::vector<Region> regions;
  std::size_t dataset = 0;
  for (const auto& stream : plan.streams) {
    for (const auto& spec : stream.datasets) {
      const std::int64_t offset = offsets[dataset++];
      const auto bytes = static_cast<std::int64_t>(h5::element_count(spec.shape) * h5::size_bytes(spec.type));
      const StepIndex samples = stream.cadence.samples();
      if (stream.reduction != Reduction::none || samples == 0) continue;
      const std::int64_t used = bytes / samples * stream.cadence.samples_until(after);
      regions.push_back({offset + used, bytes - used});
    }
  }
  return regions;
}

class Hdf5Sink final : public Sink {
 public:
  explicit Hdf5Sink(const SinkContext& context) : path_(context.path), plan_(context.plan) {
    mpi::agree_on_root(context.comm, [&] { create(context); });
    mpi::broadcast(context.comm, offsets_, 0);
    record_offset_ = offsets_.back() + context.comm.rank() * std::int64_t{sizeof(std::uint64_t)};
    mpi::agree_on(context.comm,
                  [&] { file_.emplace(path_, make_write_call(context.options, context.comm.rank())); });
  }

  Written write(std::span<const Extent> extents, StepIndex step) override {
    Written written;
    for (const auto& extent : extents) {
      const std::int64_t offset = offsets_[extent.dataset] + extent.offset_bytes;
      if (offset != next_offset_ || pieces_.size() == IOV_MAX) written.operations += write_gathered(step);
      if (pieces_.empty()) first_offset_ = offset;
      pieces_.push_back(
          {const_cast<std::byte*>(extent.bytes.data()), extent.bytes.size()});  // NOLINT: only read
      next_offset_ = offset + static_cast<std::int64_t>(extent.bytes.size());
      written.bytes += static_cast<std::int64_t>(extent.bytes.size());
    }
    written.operations += write_gathered(step);
    start_flush_after(written.bytes);
    return written;
  }

  void record(StepIndex steps) override {
    const auto slot = static_cast<std::uint64_t>(steps);
    file_->write_directly(std::as_bytes(std::span(&slot, 1)), record_offset_);
    recorded_ = steps;
  }

  void flush() override { file_->flush(); }

  void close(mpi::CommView comm, const FileTail& tail, bool complete) override {
    const auto end = [&] {
      if (comm.is_root()) close_layout(tail, complete);
      file_->flush();
      file_->close();
    };
    mpi::agree_on(comm, end, close_limit_s);
  }

  [[nodiscard]] const std::string& warning() const noexcept override { return warning_; }

 private:
  /// Left to itself the system keeps gigabytes in memory and the run would wait for the device at its end.
  void start_flush_after(std::int64_t bytes) noexcept {
    constexpr std::int64_t flush_every_bytes = 16 << 20;
    unflushed_bytes_ += bytes;
    if (unflushed_bytes_ < flush_every_bytes) return;
    file_->start_flush();
    unflushed_bytes_ = 0;
  }

  void create(const SinkContext& context) {
    const bool enough = has_space(path_, static_cast<double>(plan_.file_bytes()), warning_);
    with_path(path_, [&] { offsets_ = create_with_layout(context); });
    if (enough) reserve(path_, regions_after(plan_, offsets_, 0));
  }

  void close_layout(const FileTail& tail, bool complete) const {
    with_path(path_, [&] { write_tail(path_, tail, complete); });
    if (complete) release(path_, regions_after(plan_, offsets_, recorded_));
  }

  /// Writes the pieces gathered so far, which are neighbours in the file, in one operation.
  std::int64_t write_gathered(StepIndex step) {
    if (pieces_.empty()) return 0;
    const auto clear = [this] {
      pieces_.clear();
      next_offset_ = -1;
    };
    try {
      file_->write(pieces_, first_offset_, step);
    } catch (...) {
      clear();
      throw;
    }
    clear();
    return 1;
  }

  std::string path_, warning_;
  const Plan& plan_;
  std::vector<std::int64_t> offsets_;  ///< of the streams' datasets, then of the record
  std::int64_t record_offset_ = 0, unflushed_bytes_ = 0;
  StepIndex recorded_ = 0;
  std::optional<RawFile> file_;
  std::vector<iovec> pieces_;
  std::int64_t first_offset_ = 0, next_offset_ = -1;
};

}  // namespace

std::unique_ptr<Sink> create_hdf5_sink(const SinkContext& context) {
  return std::make_unique<Hdf5Sink>(context);
}

}  // namespace tailrace::output
