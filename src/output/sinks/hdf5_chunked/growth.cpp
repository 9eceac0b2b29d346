// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_chunked/growth.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "output/sinks/hdf5_chunked/filter.hpp"

namespace tailrace::output {

namespace {

/// Enough for zlib, and little to write again when it is not full.
constexpr std::int64_t row_chunk_bytes = 64 << 10;
constexpr std::uint64_t count_chunk_rows = 1024;

template <class T>
void append_element(GrowingDataset& dataset, T value) {
  dataset.append(std::as_bytes(std::span(&value, 1)));
}

std::int64_t samples_present(const PlannedStream& stream, StepIndex step) noexcept {
  return step > 0 ? stream.cadence.samples_until(step) : 0;  // as the row has it
}

/// The rows of the first samples of a file, 0 without any.
std::int64_t rows_before(const h5::File& file, const Growth& growth, std::int64_t samples) {
  std::int64_t end = 0;
  if (samples > 0)
    file.read_hyperslab<std::int64_t>(growth.offsets(), {static_cast<std::uint64_t>(samples)}, {1},
                                      std::span(&end, 1));
  return end;
}

}  // namespace

h5::Shape row_chunk(const PlannedStream& stream) {
  const auto rows = std::max<std::int64_t>(1, row_chunk_bytes / stream.row_bytes());
  return {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(stream.components)};
}

void create_counts(h5::File& file, const PlannedStream& stream) {
  if (!stream.growth) return;
  const h5::ChunkLayout layout{.chunk = {count_chunk_rows}, .grows = true};
  const auto create = [&](const std::string& path, h5::ElementType type) {
    file.create_chunked_dataset({.path = path, .shape = {0}, .type = type, .attributes = {}}, layout);
  };
  create(stream.growth->step(), h5::ElementType::int64);
  create(stream.growth->time_s(), h5::ElementType::float64);
  if (stream.takes_rows()) create(stream.growth->offsets(), h5::ElementType::int64);
}

void check_counts(const h5::File& file, const PlannedStream& stream, StepIndex present_until,
                  Problems& problems) {
  if (!stream.growth) return;
  const std::int64_t samples = samples_present(stream, present_until);
  const auto check = [&](const std::string& path, h5::ElementType type, std::int64_t least) {
    const bool there = file.has_dataset(path) && file.type(path) == type && file.shape(path).size() == 1;
    const auto layout = there ? file.chunk_layout(path) : std::nullopt;
    if (!layout || !layout->grows || layout->filters() > 0)
      problems.add(fmt::format("dataset {} is missing, or does not count samples that grow", path),
                   "resume with the settings that made the file");
    else if (static_cast<std::int64_t>(file.shape(path).front()) < least)
      problems.add(fmt::format("dataset {} has {} elements, but {} samples were recorded up to step {}", path,
                               file.shape(path).front(), samples, present_until),
                   "start from the beginning");
  };
  check(stream.growth->step(), h5::ElementType::int64, samples);
  check(stream.growth->time_s(), h5::ElementType::float64, samples);
  if (stream.takes_rows()) check(stream.growth->offsets(), h5::ElementType::int64, samples + 1);
}

GrowingDataset::GrowingDataset(const h5::File& file, const std::string& path, int level, std::int64_t rows)
    : dataset_(file, path), layout_(*file.chunk_layout(path)), level_(level) {
  const auto type = file.type(path);
  h5::Shape count = layout_.chunk;
  element_bytes_ = h5::size_bytes(type);
  chunk_.resize(h5::element_count(count) * element_bytes_);
  row_bytes_ = chunk_.size() / count.front();
  const auto open_rows = static_cast<std::uint64_t>(rows) % count.front();
  first_row_ = rows - static_cast<std::int64_t>(open_rows);
  if (open_rows == 0) return;
  count.front() = open_rows;
  h5::Shape start(count.size(), 0);
  start.front() = static_cast<std::uint64_t>(first_row_);
  filled_ = open_rows * row_bytes_;
  file.read_hyperslab_bytes(path, type, start, count, std::span(chunk_).first(filled_));
  placed_ = true;
}

void GrowingDataset::append(std::span<const std::byte> values) {
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), chunk_.size() - filled_);
    std::copy_n(values.begin(), count, chunk_.begin() + static_cast<std::ptrdiff_t>(filled_));
    values = values.subspan(count);
    filled_ += count;
    changed_ = true;
    if (filled_ < chunk_.size()) return;
    write(!placed_);
    first_row_ = rows();
    std::fill(chunk_.begin(), chunk_.end(), std::byte{0});
    filled_ = 0;
    placed_ = false;
  }
}

void GrowingDataset::save() {
  if (!changed_) return;
  write(false);
  placed_ = true;
}

void GrowingDataset::write(bool filtered) {
  const auto chunk =
      filtered ? filter_chunk(chunk_, element_bytes_, layout_, level_) : unfiltered_chunk(chunk_, layout_);
  h5::Shape start(layout_.chunk.size(), 0);
  start.front() = static_cast<std::uint64_t>(first_row_);
  dataset_.grow(static_cast<std::uint64_t>(rows()));
  dataset_.write_chunk(start, chunk.bytes, chunk.skipped);
  changed_ = false;
}

GrowingStream::GrowingStream(const GrowingStreamSetup& setup)
    : stream_(setup.stream),
      ranks_(static_cast<std::size_t>(setup.ranks)),
      samples_(samples_present(setup.stream, setup.present_until)),
      step_(setup.file, setup.stream.growth->step(), setup.level, samples_),
      time_s_(setup.file, setup.stream.growth->time_s(), setup.level, samples_) {
  if (!stream_.takes_rows()) return;
  const auto& file = setup.file;
  const auto& growth = *stream_.growth;
  const std::int64_t counted = samples_ > 0 ? samples_ + 1 : 0;
  rows_.emplace(RowStore{
      .values = {file, stream_.datasets.front().path, setup.level, rows_before(file, growth, samples_)},
      .offsets = {file, growth.offsets(), setup.level, counted},
      .samples = samples_,
      .waiting = {}});
  if (counted == 0) append_element(rows_->offsets, std::int64_t{0});
}

void GrowingStream::take(int source, std::int64_t sample, std::span<const std::byte> new_rows) {
  auto& parts = rows_->waiting[sample];
  parts.resize(ranks_);
  auto& part = parts[static_cast<std::size_t>(source)];
  part.insert(part.end(), new_rows.begin(), new_rows.end());
}

std::int64_t GrowingStream::place(StepIndex arrived) {
  if (!rows_) return 0;
  std::int64_t bytes = 0;
  for (const auto end = stream_.cadence.samples_until(arrived); rows_->samples < end; ++rows_->samples) {
    if (const auto sample = rows_->waiting.extract(rows_->samples))
      for (const auto& part : sample.mapped()) {
        rows_->values.append(part);
        bytes += static_cast<std::int64_t>(part.size());
      }
    append_element(rows_->offsets, rows_->values.rows());
  }
  return bytes;
}

void GrowingStream::save(StepIndex complete) {
  const auto& growth = *stream_.growth;
  for (const auto end = samples_present(stream_, complete); samples_ < end; ++samples_) {
    const StepIndex step = stream_.cadence.step_of(samples_);
    append_element(step_, step);
    append_element(time_s_, growth.time_of_step_0_s + growth.dt_s * static_cast<double>(step));
  }
  if (rows_) {
    rows_->values.save();
    rows_->offsets.save();
  }
  step_.save();
  time_s_.save();
}

}  // namespace tailrace::output
