#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <limits>
#include <optional>

#include "sinks.hpp"
#include "tailrace/base/check.hpp"
#include "tailrace/base/error.hpp"
#include "tailrace/base/system.hpp"
#include "tailrace/h5/file.hpp"
#include "tailrace/mpi/verdict.hpp"
#include "tailrace/output/raw_file.hpp"

namespace tailrace::output {

namespace {

constexpr std::uint64_t no_offset = std::numeric_limits<std::uint64_t>::max();

/// Bytes that are free for a file, those of its old version included; nothing if the system does not tell.
std::optional<double> free_bytes(const std::string& path) {
  const auto directory = std::filesystem::path(path).parent_path();
  struct statvfs system {};
  if (statvfs(directory.empty() ? "." : directory.c_str(), &system) != 0) return {};
  struct stat old {};
  const double reused = stat(path.c_str(), &old) == 0 ? 512.0 * static_cast<double>(old.st_blocks) : 0.0;
  return static_cast<double>(system.f_bavail) * static_cast<double>(system.f_frsize) + reused;
}

std::string space_warning(const std::string& path, double needed) {
  const auto free = free_bytes(path);
  if (!free || needed <= *free) return {};
  return fmt::format("{} needs {}, but its file system has {} free: the run will fail when it is full", path,
                     human_bytes(needed), human_bytes(*free));
}

/// Puts the whole layout into a new file; returns the offset of each stream dataset, then that of the record.
std::vector<std::uint64_t> lay_out(h5::File& file, const SinkContext& context) {
  for (const auto& attribute : context.head.attributes) file.create_attribute("/", attribute);
  for (const auto& dataset : context.head.datasets) {
    file.create_dataset(dataset.spec);
    file.write_bytes(dataset.spec.path, dataset.spec.type, dataset.values);
  }
  std::vector<std::uint64_t> offsets;
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets) offsets.push_back(file.create_dataset(spec).value_or(no_offset));
  const std::vector<std::uint64_t> slots(static_cast<std::size_t>(context.comm.size()), 0);
  const h5::DatasetSpec record{.path = record_path,
                               .shape = {1, 1, slots.size()},
                               .type = h5::ElementType::uint64,
                               .attributes = {{.name = "data_type", .value = std::string("long")},
                                              {.name = "domain_type", .value = std::string("real")}}};
  offsets.push_back(file.create_dataset(record).value_or(no_offset));
  file.write<std::uint64_t>(record_path, slots);
  file.close();
  return offsets;
}

/// Removes what was left of a file that could not be completed.
void remove_file(const std::string& path) noexcept {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) unlink(path.c_str());
}

/// Creates the file and closes it with its whole layout, or leaves none.
std::vector<std::uint64_t> create_file(const SinkContext& context) {
  auto file = h5::File::create(context.path);
  try {
    return lay_out(file, context);
  } catch (...) {
    remove_file(context.path);
    throw;
  }
}

/// Runs `action` on the file; HDF5's errors, which name it in their text only, leave with its path.
template <class Action>
void with_path(const std::string& path, const Action& action) {
  try {
    action();
  } catch (...) {
    auto info = describe_current_exception();
    info.path = path;
    throw Error(info);
  }
}

class Hdf5Sink final : public Sink {
 public:
  explicit Hdf5Sink(const SinkContext& context) : path_(context.path) {
    mpi::agree_on_root(context.comm, [&] {
      warning_ = space_warning(path_, static_cast<double>(context.plan.file_bytes()));
      with_path(path_, [&] { offsets_ = create_file(context); });
    });
    mpi::broadcast(context.comm, offsets_, 0);
    record_offset_ = static_cast<std::int64_t>(offsets_.back()) +
                     context.comm.rank() * std::int64_t{sizeof(std::uint64_t)};
    mpi::agree_on(context.comm,
                  [&] { file_.emplace(path_, make_write_call(context.options, context.comm.rank())); });
  }

  Written write(std::span<const Extent> extents, StepIndex step) override {
    Written written;
    for (const auto& extent : extents) {
      const std::int64_t offset = static_cast<std::int64_t>(offsets_[extent.dataset]) + extent.offset_bytes;
      if (offset != next_offset_ || pieces_.size() == IOV_MAX) written.operations += write_gathered(step);
      if (pieces_.empty()) first_offset_ = offset;
      pieces_.push_back(
          {const_cast<std::byte*>(extent.bytes.data()), extent.bytes.size()});  // NOLINT: only read
      next_offset_ = offset + static_cast<std::int64_t>(extent.bytes.size());
      written.bytes += static_cast<std::int64_t>(extent.bytes.size());
    }
    written.operations += write_gathered(step);
    return written;
  }

  void record(StepIndex steps) override {
    const auto slot = static_cast<std::uint64_t>(steps);
    file_->write_directly(std::as_bytes(std::span(&slot, 1)), record_offset_);
  }

  void flush() override { file_->flush(); }

  void close(mpi::CommView comm, const FileTail& tail, bool complete) override {
    mpi::agree_on(comm, [&] { file_->close(); });
    mpi::agree_on_root(comm, [&] {
      with_path(path_, [&] { write_tail(tail, complete); });
      RawFile file(path_, make_plain_call());
      file.flush();
      file.close();
    });
  }

  [[nodiscard]] const std::string& warning() const noexcept override { return warning_; }

 private:
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

  void write_tail(const FileTail& tail, bool complete) const {
    auto file = h5::File::open_for_update(path_);
    for (const auto& [name, text] : tail.attributes) file.update_text_attribute("/", name, text);
    if (complete)
      for (const auto& [name, bytes] : tail.datasets) file.write_bytes(name, file.type(name), bytes);
    file.close();
  }

  std::string path_, warning_;
  std::vector<std::uint64_t> offsets_;
  std::int64_t record_offset_ = 0;
  std::optional<RawFile> file_;
  std::vector<iovec> pieces_;
  std::int64_t first_offset_ = 0, next_offset_ = -1;
};

}  // namespace

std::unique_ptr<Sink> create_hdf5_sink(const SinkContext& context) {
  return std::make_unique<Hdf5Sink>(context);
}

}  // namespace tailrace::output
