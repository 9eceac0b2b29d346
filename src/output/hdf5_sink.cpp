#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <optional>

#include "hdf5_file.hpp"
#include "new_file.hpp"
#include "sinks.hpp"
#include "tailrace/base/error.hpp"
#include "tailrace/mpi/verdict.hpp"
#include "tailrace/output/raw_file.hpp"

namespace tailrace::output {

namespace {

class Hdf5Sink final : public Sink {
 public:
  explicit Hdf5Sink(const SinkContext& context) : path_(context.path), plan_(context.plan) {
    bool in_place = true;
    mpi::agree_on_root(context.comm, [&] { in_place = find_or_create(context); });
    if (mpi::min(context.comm, std::int64_t{in_place}) == 0) {
      places_ = replace_by_copy(context);
      if (context.comm.is_root()) note_copy();
    }
    share_places(context.comm);
    mpi::agree_on_root(context.comm, [&] { prepare(context.resume_after); });
    mpi::agree_on(context.comm,
                  [&] { file_.emplace(path_, make_write_call(context.options, context.comm.rank())); });
  }

  Written write(std::span<const Extent> extents, StepIndex step) override {
    Written written;
    for (const auto& extent : extents) {
      const std::int64_t offset = places_.datasets[extent.dataset] + extent.offset_bytes;
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
    std::fill(slots_.begin(), slots_.end(), static_cast<std::uint64_t>(steps));
    if (!slots_.empty()) file_->write_directly(std::as_bytes(std::span(slots_)), first_slot_);
    recorded_ = steps;
  }

  void flush() override { file_->flush(); }

  void publish(mpi::CommView comm, StepIndex steps) override {
    if (lacks_slots(comm)) mpi::agree_on_root(comm, [&] { set_record(path_, places_, steps); });
  }

  void close(mpi::CommView comm, const FileTail& tail, bool complete) override {
    const auto end = [&] {
      if (comm.is_root() && complete && lacks_slots(comm)) set_record(path_, places_, recorded_);
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

  /// Creates the file, or finds its places. Returns false if it has to be copied first.
  bool find_or_create(const SinkContext& context) {
    bool in_place = true;
    enough_space_ = has_space(path_, static_cast<double>(plan_.file_bytes()), warning_);
    with_path(path_, [&] {
      if (context.resume_after == 0) {
        places_ = create_file(context);
        return;
      }
      const auto found = find_places(context);
      in_place = found.has_value();
      if (found) places_ = *found;
    });
    return in_place;
  }

  void note_copy() {
    if (!warning_.empty()) warning_ += "; ";
    warning_ += fmt::format("{} was laid out by another program and has been copied into our layout", path_);
  }

  void share_places(mpi::CommView comm) {
    std::vector<std::int64_t> numbers = places_.datasets;
    numbers.insert(numbers.end(), {places_.record, places_.record_slots});
    mpi::broadcast(comm, numbers, 0);
    places_.record = numbers.end()[-2];
    places_.record_slots = numbers.back();
    places_.datasets.assign(numbers.begin(), numbers.end() - 2);
    if (lacks_slots(comm)) return;
    const std::int64_t first = places_.record_slots * comm.rank() / comm.size(),
                       end = places_.record_slots * (comm.rank() + 1) / comm.size();
    first_slot_ = places_.record + first * std::int64_t{sizeof(std::uint64_t)};
    slots_.resize(static_cast<std::size_t>(end - first));
  }

  /// The file was made by fewer ranks than there are now: its record stands still until all ranks meet.
  [[nodiscard]] bool lacks_slots(mpi::CommView comm) const noexcept {
    return comm.size() > places_.record_slots;
  }

  /// Samples after step `after` are going to be written again, and may be other ones.
  void prepare(StepIndex after) {
    if (after > 0) set_record(path_, places_, after);
    if (enough_space_) reserve(path_, regions_after(plan_, places_, after));
  }

  void close_layout(const FileTail& tail, bool complete) const {
    with_path(path_, [&] { write_tail(path_, tail, complete); });
    if (complete) release(path_, regions_after(plan_, places_, recorded_));
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
  bool enough_space_ = true;  ///< on the root
  Hdf5Places places_;
  std::vector<std::uint64_t> slots_;  ///< this rank's part of the record
  std::int64_t first_slot_ = 0, unflushed_bytes_ = 0;
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
