// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/row_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <span>
#include <vector>

#include "output/core/raw_file.hpp"
#include "output/sinks/new_file.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// As far as rows may reach in their file.
constexpr std::int64_t open_bytes = std::int64_t{1} << 61;
constexpr std::int64_t number_bytes = sizeof(std::int64_t);

std::size_t samples_of(const PlannedStream& stream) {
  return static_cast<std::size_t>(stream.cadence.samples());
}

/// As seen from the directory of the output, so that both may be moved together.
std::string name_in_view(const std::string& path, const PlannedStream& stream) {
  namespace fs = std::filesystem;
  return fs::path(rows_path(path, stream))
      .lexically_relative(fs::path(target_of(path)).parent_path())
      .string();
}

void check_place(const h5::File& file, const std::string& path, const PlannedStream& stream) {
  const auto& spec = stream.datasets.front();
  const auto offsets = stream.growth->offsets();
  const bool here = file.has_dataset(spec.path) && file.storage(spec.path).in_other_files &&
                    file.has_dataset(offsets) && file.shape(offsets) == h5::Shape{samples_of(stream) + 1};
  if (!here)
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = fmt::format("{}: the rows of {} are not in a file of their own for {} "
                                                 "samples, and cannot be continued with --sink hdf5",
                                                 path, stream.name, samples_of(stream)),
                          .path = path,
                          .hint = "--sink hdf5-chunked if that made the file, or start from the beginning"});
  if (const auto rows = rows_path(path, stream); access(rows.c_str(), R_OK | W_OK) != 0)
    throw Error(ErrorInfo{
        .kind = ErrorKind::input,
        .message = fmt::format("{}: the rows of {} are in {}, which is missing", path, stream.name, rows),
        .path = rows,
        .hint = "move the directory together with the output file, or start from the beginning"});
}

}  // namespace

std::string rows_directory(const std::string& path) {
  return target_of(path) + ".rows";
}

std::string rows_path(const std::string& path, const PlannedStream& stream) {
  return fmt::format("{}/{}.h5", rows_directory(path), stream.name);
}

FileExtents create_rows(h5::File& file, const std::string& path, const PlannedStream& stream,
                        std::size_t number) {
  const auto rows = rows_path(path, stream);
  std::error_code code;
  std::filesystem::create_directory(rows_directory(path), code);  // what fails, the file's creation says
  const auto& spec = stream.datasets.front();
  const auto head = h5::GrowingHead::create(rows, stream.components, spec.type);
  file.create_growing_view(spec, name_in_view(path, stream), h5::GrowingHead::dataset);
  return {{.first = 0, .bytes = open_bytes, .file = number, .offset = head.data_offset()}};
}

void create_row_counts(h5::File& file, const Plan& plan, Hdf5Places& places) {
  std::size_t first = 0;
  for (const auto& stream : plan.streams) {
    const std::size_t dataset = first;
    first += stream.datasets.size();
    if (!stream.takes_rows()) continue;
    const auto steps = stream.cadence.steps();
    std::vector<double> times_s;
    for (const auto step : steps)
      times_s.push_back(stream.growth->time_of_step_0_s + stream.growth->dt_s * static_cast<double>(step));
    const std::uint64_t samples = steps.size();
    const auto make = [&](const std::string& path, std::uint64_t count, h5::ElementType type) {
      return static_cast<std::int64_t>(
          file.create_dataset({.path = path, .shape = {count}, .type = type, .attributes = {}}).value_or(0));
    };
    make(stream.growth->step(), samples, h5::ElementType::int64);
    file.write<StepIndex>(stream.growth->step(), steps);
    make(stream.growth->time_s(), samples, h5::ElementType::float64);
    file.write<double>(stream.growth->time_s(), times_s);
    const auto offsets = make(stream.growth->offsets(), samples + 1, h5::ElementType::int64);
    file.write<std::int64_t>(stream.growth->offsets(), std::vector<std::int64_t>(samples + 1));
    const std::size_t rows_file = places.datasets[dataset].front().file;
    places.datasets.push_back(one_extent(offsets, static_cast<std::int64_t>(samples + 1) * number_bytes));
    places.datasets.push_back(
        {{.first = 0, .bytes = head_elements * number_bytes, .file = rows_file, .offset = 0}});
  }
}

void find_rows(const h5::File& file, const std::string& path, const Plan& plan, Hdf5Places& places) {
  std::size_t first = 0;
  for (const auto& stream : plan.streams) {
    const std::size_t dataset = first;
    first += stream.datasets.size();
    if (!stream.takes_rows()) continue;
    check_place(file, path, stream);
    const auto rows = rows_path(path, stream);
    places.files.push_back(rows);
    const std::size_t number = places.files.size() - 1;
    places.datasets[dataset] = {{.first = 0,
                                 .bytes = open_bytes,
                                 .file = number,
                                 .offset = h5::GrowingHead::read(rows).data_offset()}};
    places.datasets.push_back(
        one_extent(static_cast<std::int64_t>(file.place(stream.growth->offsets()).value_or(0)),
                   static_cast<std::int64_t>(samples_of(stream) + 1) * number_bytes));
    places.datasets.push_back(
        {{.first = 0, .bytes = head_elements * number_bytes, .file = number, .offset = 0}});
  }
}

std::int64_t rows_until(const std::string& path, const PlannedStream& stream, StepIndex step) {
  const auto samples = stream.cadence.samples_until(step);
  if (step <= 0 || samples == 0) return 0;
  std::int64_t end = 0;
  h5::File::open(path).read_hyperslab<std::int64_t>(
      stream.growth->offsets(), {static_cast<std::uint64_t>(samples)}, {1}, std::span(&end, 1));
  return end;
}

void lengthen_rows(const std::string& rows, const h5::GrowingHead& head, std::int64_t count) noexcept {
  std::error_code code;
  const auto end = static_cast<std::uintmax_t>(head.data_offset() + count * head.row_bytes());
  const auto size = std::filesystem::file_size(rows, code);
  if (!code && size < end) std::filesystem::resize_file(rows, end, code);
}

void discard_rows(const std::string& path) noexcept {
  namespace fs = std::filesystem;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(rows_directory(path), code))
    if (entry.path().extension() == ".h5") fs::remove(entry.path(), code);
  fs::remove(rows_directory(path), code);  // as long as it holds other files, it stays
}

}  // namespace tailrace::output
