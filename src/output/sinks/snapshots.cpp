// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/snapshots.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "output/core/write_call.hpp"
#include "output/sinks/new_file.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

constexpr std::string_view name_start = "step-", name_end = ".h5";

std::string name_of(StepIndex step) {
  return fmt::format("{}{:09}{}", name_start, step, name_end);
}

/// The step of a file by its name, which may be that of an incomplete one; nothing for files of others.
std::optional<StepIndex> step_of(const std::string& name) {
  const auto end = name.find(name_end);
  if (!name.starts_with(name_start) || end == std::string::npos) return {};
  return parse_number<StepIndex>(std::string_view(name).substr(name_start.size(), end - name_start.size()));
}

/// The box of a dataset that is one of `samples`, which follow each other in the order of its elements.
h5::Shape sample_box(const h5::DatasetSpec& spec, std::uint64_t samples) {
  h5::Shape box(spec.shape.size(), 1);
  std::uint64_t left = h5::element_count(spec.shape) / samples;
  bool fits = true;
  for (std::size_t axis = box.size(); axis-- > 0 && left > 1;) {
    box[axis] = std::min(spec.shape[axis], left);
    fits = fits && left % box[axis] == 0 && spec.shape[axis] % box[axis] == 0;
    left /= box[axis];
  }
  if (fits && left == 1) return box;
  throw Error(ErrorInfo{
      .kind = ErrorKind::usage,
      .message = fmt::format("{}: one of {} samples is no box of a dataset of shape {}, and cannot be in a "
                             "file of its own",
                             spec.path, samples, h5::to_string(spec.shape)),
      .path = {},
      .hint = "--write spawn:N"});
}

h5::Shape start_of(const h5::Shape& shape, std::uint64_t element) {
  h5::Shape start(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; element /= shape[axis])
    start[axis] = element % shape[axis];
  return start;
}

/// Puts the entries of a directory onto the device.
void flush_directory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw file_failure(path, "opening", -1, errno);
  const int error = fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (error != 0 && error != EINVAL)  // some file systems know no such thing
    throw file_failure(path, "flushing to the device", -1, error);
}

/// Returns whether a file system that has refused a hard link has none.
bool lacks_links(int error) noexcept {
  return error == EPERM || error == ENOTSUP || error == ENOSYS || error == EMLINK;
}

/// Gives a complete file its name, unless another process was faster with an equal one.
void name_file(const std::string& from, const std::string& to) {
  int error = link(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  if (lacks_links(error))
    error = renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
  remove_file(from);
  if (error == EINVAL || lacks_links(error))
    throw Error(
        ErrorInfo{.kind = ErrorKind::io,
                  .message = fmt::format("{}: this file system can neither link files nor rename them "
                                         "without replacing others ({})",
                                         to, std::strerror(error)),
                  .path = to,
                  .hint = "write to another file system, or with --write spawn:N"});
  if (error != 0 && error != EEXIST) throw file_failure(to, "creation", -1, error);
}

}  // namespace

bool is_split(const PlannedStream& stream) noexcept {
  return stream.reduction == Reduction::none && stream.cadence.samples() > 0;
}

std::string snapshot_directory(const std::string& path) {
  return target_of(path) + ".steps";
}

std::string snapshot_path(const std::string& path, StepIndex step) {
  return fmt::format("{}/{}", snapshot_directory(path), name_of(step));
}

void create_split_dataset(h5::File& file, const std::string& path, const h5::DatasetSpec& spec,
                          const Cadence& cadence) {
  const auto samples = static_cast<std::uint64_t>(cadence.samples());
  const std::uint64_t elements = h5::element_count(spec.shape);
  if (elements == 0) {
    file.create_dataset(spec);
    return;
  }
  const auto directory = std::filesystem::path(snapshot_directory(path)).filename().string();
  std::vector<h5::VirtualPart> parts;
  for (std::uint64_t sample = 0; sample < samples; ++sample)
    parts.push_back(
        {.file = fmt::format("{}/{}", directory, name_of(cadence.step_of(static_cast<StepIndex>(sample)))),
         .start = start_of(spec.shape, elements / samples * sample)});
  file.create_virtual_dataset(spec, sample_box(spec, samples), parts);
}

void discard_snapshots(const std::string& path, StepIndex after) {
  namespace fs = std::filesystem;
  const auto directory = snapshot_directory(path);
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(directory, code)) {
    const auto step = step_of(entry.path().filename().string());
    if (!step || *step <= after || unlink(entry.path().c_str()) == 0) continue;
    throw file_failure(entry.path().string(), "removal", -1, errno);
  }
  fs::remove(directory, code);  // as long as it holds a file, it stays
}

void check_snapshots(const std::string& path, const Plan& plan, StepIndex until) {
  for (StepIndex step = 0; step <= until; ++step) {
    const auto file = snapshot_path(path, step);
    if (!plan.rows(step) || access(file.c_str(), R_OK) == 0) continue;
    throw Error(ErrorInfo{
        .kind = ErrorKind::input,
        .message = fmt::format("{}: the samples of step {} are in {}, which is missing", path, step, file),
        .path = file,
        .hint = "move the directory together with the output file, or start from the beginning"});
  }
}

SnapshotFiles::SnapshotFiles(std::string path, const Plan& plan, std::shared_ptr<WriteCall> call, int process)
    : path_(std::move(path)), call_(std::move(call)), process_(process) {
  for (const auto& stream : plan.streams)
    for (const auto& spec : stream.datasets) {
      auto& dataset = datasets_.emplace_back();
      const std::uint64_t elements = h5::element_count(spec.shape);
      if (!is_split(stream) || elements == 0) continue;
      const auto samples = static_cast<std::uint64_t>(stream.cadence.samples());
      dataset.stream = &stream;
      dataset.sample = spec;
      dataset.sample.shape = sample_box(spec, samples);
      dataset.sample_bytes = static_cast<std::int64_t>(elements / samples * h5::size_bytes(spec.type));
    }
}

SnapshotFiles::Place SnapshotFiles::locate(std::size_t dataset, std::int64_t offset) {
  const auto& split = datasets_[dataset];
  if (split.stream == nullptr) return {};
  auto& found = open(split.stream->cadence.step_of(offset / split.sample_bytes));
  const std::int64_t within = offset % split.sample_bytes;
  return {.file = found.file.get(),
          .offset = found.places.at(dataset) + within,
          .bytes = split.sample_bytes - within};
}

SnapshotFiles::Open& SnapshotFiles::open(StepIndex step) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const Open& file) { return file.step == step; });
  if (found != open_.end()) {
    open_.splice(open_.begin(), open_, found);
    return open_.front();
  }
  if (open_.size() == max_open) {
    open_.back().file->start_flush();
    open_.pop_back();
  }
  auto places = create(step);
  return open_.emplace_front(Open{step, open_raw(step), std::move(places)});
}

std::unique_ptr<RawFile> SnapshotFiles::open_raw(StepIndex step) {
  unflushed_.insert(step);
  return std::make_unique<RawFile>(snapshot_path(path_, step), call_);
}

/// Creates the file of a step unless it is there; returns where its datasets are. Equal plans give equal
/// files, so that those who find one know its places too.
std::map<std::size_t, std::int64_t> SnapshotFiles::create(StepIndex step) const {
  const auto name = snapshot_path(path_, step), place = fmt::format("{}.{}.partial", name, process_);
  std::error_code code;
  std::filesystem::create_directory(snapshot_directory(path_),
                                    code);  // what fails, the file's creation says
  std::map<std::size_t, std::int64_t> places;
  try {
    auto file = h5::File::create(place, name);
    for (std::size_t number = 0; number < datasets_.size(); ++number) {
      const auto& dataset = datasets_[number];
      if (dataset.stream != nullptr && dataset.stream->cadence.is_due(step))
        places[number] = static_cast<std::int64_t>(file.create_dataset(dataset.sample).value_or(0));
    }
    file.close();
  } catch (...) {
    remove_file(place);
    throw;
  }
  name_file(place, name);
  return places;
}

void SnapshotFiles::start_flush() noexcept {
  for (const auto& file : open_) file.file->start_flush();
}

void SnapshotFiles::flush() {
  if (unflushed_.empty()) return;
  for (auto& file : open_) {
    file.file->flush();
    unflushed_.erase(file.step);
  }
  for (const auto step : unflushed_) RawFile(snapshot_path(path_, step), make_plain_call()).flush();
  flush_directory(snapshot_directory(path_));
  unflushed_.clear();
  for (const auto& file : open_) unflushed_.insert(file.step);
}

void SnapshotFiles::close() {
  for (auto& file : open_) file.file->close();
  open_.clear();
}

}  // namespace tailrace::output
