// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/rsf_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>

#include "base/check.hpp"
#include "h5/file.hpp"
#include "output/sinks/new_file.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

namespace fs = std::filesystem;

/// "/snap/values" is snap; other datasets keep their whole path.
std::string name_of(const std::string& dataset) {
  constexpr std::string_view values = "/values";
  auto name = dataset.substr(dataset.find_first_not_of('/'));
  if (name.size() > values.size() && name.ends_with(values)) name.resize(name.size() - values.size());
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

/// OUTPUT.NAME.rsf beside the output file, or NAME.rsf if the two names are the same.
std::string header_path(const std::string& output, const std::string& name) {
  const fs::path path = target_of(fs::absolute(output).string());
  const auto stem = path.stem().string();
  return (path.parent_path() / (stem == name ? name + ".rsf" : fmt::format("{}.{}.rsf", stem, name)))
      .string();
}

/// The extents of one sample, fastest first; one for all of it if its values are no block of the shape.
std::vector<std::uint64_t> sample_extents(const h5::Shape& shape, std::uint64_t values) {
  std::vector<std::uint64_t> extents;
  std::uint64_t product = 1;
  for (auto extent = shape.rbegin(); extent != shape.rend() && product < values; ++extent) {
    extents.push_back(*extent);
    product *= *extent;
  }
  // A plane or a line keeps the dimensions in which it is one point thick, as far as the shape has them.
  while (product == values && extents.size() + 1 < shape.size() &&
         shape[shape.size() - extents.size() - 1] == 1)
    extents.push_back(1);
  if (product != values || extents.empty()) return {values};
  return extents;
}

[[noreturn]] void refuse(const std::string& what, const std::string& path, const std::string& hint) {
  throw Error(
      ErrorInfo{.kind = ErrorKind::usage, .message = "--sink rsf: " + what, .path = path, .hint = hint});
}

void write_new(const std::string& path, const std::string& text, std::int64_t bytes) {
  create_complete(path, [&](const std::string& place) {
    std::ofstream file(place, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw file_failure(path, "writing", 0, ENOSPC);
    fs::resize_file(place, static_cast<std::uintmax_t>(bytes));
  });
}

/// A line of constant length, with which the header begins, so that it can be replaced by one write.
std::string samples_line(const RsfFile& file, StepIndex samples) {
  return fmt::format("n{}={:<20}\n", file.extents.size() + 1, samples);
}

std::string axis_lines(std::size_t number, const Axis& axis) {
  auto text = fmt::format("o{0}={1:.12g}\nd{0}={2:.12g}\n", number, axis.origin, axis.spacing);
  if (!axis.label.empty()) text += fmt::format("label{}=\"{}\"\n", number, axis.label);
  if (!axis.unit.empty()) text += fmt::format("unit{}=\"{}\"\n", number, axis.unit);
  if (!axis.even)
    text += fmt::format(
        "# axis {} is not evenly spaced and has the mean distance here; the HDF5 file has the times\n",
        number);
  return text;
}

}  // namespace

std::int64_t RsfFile::bytes() const noexcept {
  return static_cast<std::int64_t>(h5::element_count(spec->shape) * h5::size_bytes(spec->type));
}

std::vector<RsfFile> rsf_files(const std::string& output, const Plan& plan) {
  std::vector<RsfFile> files;
  std::set<std::string> taken;
  for (const auto& stream : plan.streams)
    for (const auto& spec : stream.datasets) {
      RsfFile file{.header = {}, .data = {}, .stream = &stream, .spec = &spec, .extents = {}};
      const auto elements = h5::element_count(spec.shape);
      if (elements > 0) {
        const auto samples = file.is_series() ? static_cast<std::uint64_t>(stream.cadence.samples()) : 1;
        file.extents = sample_extents(spec.shape, elements / samples);
        file.header = header_path(output, name_of(spec.path));
        file.data = file.header + "@";
        if (!taken.insert(file.header).second)
          refuse(fmt::format("{} and another dataset would both be {}", spec.path, file.header), output,
                 "give one of the outputs another name");
        if (file.data.find_first_of("\"\n") != std::string::npos)
          refuse(fmt::format("{} has a quotation mark or a line break in its name, which no header can hold",
                             file.data),
                 output, "choose another place for the output");
      }
      files.push_back(std::move(file));
    }
  return files;
}

std::string rsf_header(const RsfFile& file, const std::vector<Axis>& axes) {
  const bool wide = file.spec->type == h5::ElementType::float64;
  auto text = file.is_series() ? samples_line(file, 0) : std::string();
  text += fmt::format("in=\"{}\"\ndata_format=\"{}\"\nesize={}\n", file.data,
                      wide ? "native_double" : "native_float", h5::size_bytes(file.spec->type));
  const std::size_t count = file.extents.size() + (file.is_series() ? 1 : 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (i < file.extents.size()) text += fmt::format("n{}={}\n", i + 1, file.extents[i]);
    const bool known = axes.size() > i && axes.size() == file.spec->shape.size();
    text += axis_lines(i + 1, known ? axes[axes.size() - 1 - i] : Axis{});
  }
  return text;
}

void report_samples(const RsfFile& file, StepIndex samples) {
  const auto line = samples_line(file, samples);
  RawFile header(file.header, make_plain_call());
  header.write_directly(std::as_bytes(std::span(line)), 0);
  header.close();
}

void create_rsf(const SinkContext& context, const std::vector<RsfFile>& files) {
  const auto remove_all = [&] {
    for (const auto& file : files)
      if (!file.header.empty()) remove_file(file.header), remove_file(file.data);
  };
  remove_all();  // a header that is there states other values
  try {
    for (const auto& file : files)
      if (!file.header.empty()) write_new(file.data, "", file.bytes());
    create_file(context, [&](h5::File& index) {
      for (const auto& file : files) {
        const auto bytes = static_cast<std::uint64_t>(file.bytes());
        const h5::ExternalPart whole{.file = file.data, .offset = 0, .bytes = bytes};
        if (file.header.empty())
          index.create_dataset(*file.spec);
        else
          index.create_external_dataset(*file.spec, std::span(&whole, 1));
      }
      for (const char* path : {commit_mark_path, dropped_path}) {
        if (path == dropped_path && !context.plan.may_drop()) continue;
        index.create_dataset(commit_mark_spec(context.sources, path));
        index.write<std::uint64_t>(path,
                                   std::vector<std::uint64_t>(static_cast<std::size_t>(context.sources)));
      }
    });
    for (const auto& file : files) {
      if (file.header.empty()) continue;
      const auto found = context.head.axes.find(file.spec->path);
      const auto text =
          rsf_header(file, found == context.head.axes.end() ? std::vector<Axis>() : found->second);
      write_new(file.header, text, static_cast<std::int64_t>(text.size()));
    }
  } catch (...) {
    remove_all();
    throw;
  }
}

Hdf5Places rsf_places(const SinkContext& context, const std::vector<RsfFile>& files) {
  Hdf5Places places;
  places.files = {context.path};
  for (const auto& file : files) {
    auto file_extents = one_extent(0, file.bytes());
    if (!file_extents.empty()) {
      file_extents.front().file = places.files.size();
      places.files.push_back(file.data);
    }
    places.datasets.push_back(std::move(file_extents));
  }
  const auto index = h5::File::open(context.path);
  const auto place_of = [&](const char* path) {
    const auto place = index.place(path);
    TAILRACE_CHECK(place.has_value(), "the slots of the commit mark have a known place");
    return static_cast<std::int64_t>(*place);
  };
  places.commit_mark = place_of(commit_mark_path);
  places.commit_mark_slots = static_cast<std::int64_t>(h5::element_count(index.shape(commit_mark_path)));
  if (index.has_dataset(dropped_path)) places.dropped = place_of(dropped_path);
  return places;
}

}  // namespace tailrace::output
