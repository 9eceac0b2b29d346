// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/pnetcdf_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "output/sinks/new_file.hpp"
#include "output/sinks/pnetcdf_file.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// Defines the variables and remembers from which dataset each of them came.
class Definitions {
 public:
  Definitions(PnetcdfFile& file, const SinkContext& context) : file_(file), context_(context) {}

  /// Returns the number of the variable, -1 if there is none.
  int add(const h5::DatasetSpec& spec) {
    if (!has_variable(spec)) return -1;
    const auto name = variable_of(spec.path);
    const auto [other, is_new] = datasets_.emplace(name, spec.path);
    if (!is_new)
      throw Error(ErrorInfo{
          .kind = ErrorKind::usage,
          .message = fmt::format("--sink pnetcdf: the datasets {} and {} would both be the variable {}",
                                 other->second, spec.path, name),
          .path = context_.path,
          .hint = "give one of the outputs another name, or write with another sink"});
    const int variable = file_.define(name, spec.shape, spec.type);
    for (const auto& attribute : spec.attributes) file_.define(variable, attribute);
    return variable;
  }

  /// As `add`, for a dataset of a stream: it takes the attributes of its group, as netCDF has no groups.
  int add_of_stream(const h5::DatasetSpec& spec) {
    const int variable = add(spec);
    if (variable < 0) return variable;
    for (const auto& [group, attribute] : context_.head.group_attributes)
      if (spec.path.substr(0, spec.path.rfind('/')) == group) file_.define(variable, attribute);
    return variable;
  }

 private:
  PnetcdfFile& file_;
  const SinkContext& context_;
  std::map<std::string, std::string> datasets_;  ///< by variable
};

Hdf5Places lay_out(PnetcdfFile& file, const SinkContext& context) {
  Definitions definitions(file, context);
  for (const auto& attribute : context.head.attributes) file.define(PnetcdfFile::global, attribute);
  std::vector<int> of_head, of_streams;
  for (const auto& dataset : context.head.datasets) of_head.push_back(definitions.add(dataset.spec));
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets) of_streams.push_back(definitions.add_of_stream(spec));
  const int commit_mark = definitions.add(commit_mark_spec(context.sources));
  file.finish_definitions();
  for (std::size_t i = 0; i < of_head.size(); ++i)
    if (of_head[i] >= 0) file.write_all(of_head[i], context.head.datasets[i].values);
  const std::vector<std::uint64_t> none(static_cast<std::size_t>(context.sources));
  file.write_all(commit_mark, std::as_bytes(std::span(none)));
  Hdf5Places places{.files = {context.path},
                    .datasets = {},
                    .commit_mark = file.place(commit_mark),
                    .commit_mark_slots = context.sources};
  auto variable = of_streams.begin();
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets) {
      const int number = *variable++;
      const auto bytes = static_cast<std::int64_t>(h5::element_count(spec.shape) * h5::size_bytes(spec.type));
      places.datasets.push_back(number < 0 ? FileExtents() : one_extent(file.place(number), bytes));
    }
  return places;
}

/// The byte after the last one of the streams' variables.
std::uintmax_t end_of(const Hdf5Places& places) {
  std::int64_t end = 0;
  for (const auto& extents : places.datasets)
    for (const auto& extent : extents) end = std::max(end, extent.offset + extent.bytes);
  return static_cast<std::uintmax_t>(end);
}

}  // namespace

std::string variable_of(const std::string& dataset) {
  std::string name = dataset.substr(dataset.find_first_not_of('/'));
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

bool has_variable(const h5::DatasetSpec& spec) noexcept {
  return h5::element_count(spec.shape) > 0;
}

Hdf5Places create_pnetcdf_file(const SinkContext& context) {
  Hdf5Places places;
  create_complete(context.path, [&](const std::string& place) {
    auto file = PnetcdfFile::create(mpi::CommView::self(), place, context.path, context.options.mpi_hints);
    places = lay_out(file, context);
    file.close();
    // Values that are never written are read as 0, not as missing.
    const auto end = std::max(end_of(places), std::filesystem::file_size(place));
    std::filesystem::resize_file(place, end);
  });
  return places;
}

}  // namespace tailrace::output
