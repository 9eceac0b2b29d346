// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/adios_layout.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "output/sinks/new_file.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace fs = std::filesystem;

namespace {

constexpr const char* shape_attribute = "/dataset_shape";

Error refusal(const std::string& path, const std::string& what, const std::string& hint) {
  return Error(ErrorInfo{
      .kind = ErrorKind::io, .message = fmt::format("{}: {}", path, what), .path = path, .hint = hint});
}

/// True for the names that the engine BP5 gives to its files.
bool is_of_adios(const std::string& name) {
  constexpr std::array names{"md.idx", "md.0", "mmd.0", "profiling.json"};
  return std::find(names.begin(), names.end(), name) != names.end() || name.starts_with("data.");
}

void remove_output(const std::string& path) {
  for (const auto& entry : fs::directory_iterator(path))
    if (!entry.is_regular_file() || !is_of_adios(entry.path().filename()))
      throw refusal(path,
                    fmt::format("is a directory that holds other things than an output of ADIOS2, such as {}",
                                entry.path().filename().string()),
                    "give the output another name");
  for (const auto& entry : fs::directory_iterator(path)) fs::remove(entry.path());
}

/// ADIOS2 takes every name that ends in .h5 for HDF5 unless it is given the engine: such an output has a
/// second name.
void link_as_bp(const std::string& path) {
  const fs::path name(path);
  if (name.extension() != ".h5") return;
  auto link = name;
  link.replace_extension(".bp");
  std::error_code code;
  if (fs::is_symlink(link, code)) fs::remove(link, code);
  fs::create_directory_symlink(name.filename(), link, code);  // there is another way without it
}

void put_head(AdiosFile& file, const SinkContext& context) {
  const auto set = [&](const std::string& object, const h5::Attribute& attribute) {
    const auto* text = std::get_if<std::string>(&attribute.value);
    if (text == nullptr || !text->empty()) file.set(object + attribute.name, attribute);
  };
  for (const auto& attribute : context.head.attributes) set("", attribute);
  for (const auto& [group, attribute] : context.head.group_attributes)
    set(adios_name(group) + "/", attribute);
  for (const auto& dataset : context.head.datasets) {
    for (const auto& attribute : dataset.spec.attributes) set(adios_name(dataset.spec.path) + "/", attribute);
    if (!dataset.values.empty()) put_whole(file, dataset.spec, dataset.values.data());
  }
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets) {
      file.set(adios_name(spec.path) + shape_attribute, spec.shape);
      for (const auto& attribute : spec.attributes) set(adios_name(spec.path) + "/", attribute);
    }
  file.put(adios_name(commit_mark_path), 0);
}

}  // namespace

std::string adios_name(const std::string& path) {
  return path.substr(path.find_first_not_of('/'));
}

h5::Shape sample_shape(const h5::Shape& dataset, std::uint64_t samples) {
  std::uint64_t product = 1;
  auto left = dataset.begin();
  do {
    if (left == dataset.end()) break;
    product *= *left++;
  } while (product < samples);
  h5::Shape shape(left, dataset.end());
  if (product != samples) shape = {h5::element_count(dataset) / samples};
  if (shape.empty()) shape = {1};
  return shape;
}

void put_whole(AdiosFile& file, const h5::DatasetSpec& spec, const std::byte* values) {
  const h5::Hyperslab all{.start = h5::Shape(spec.shape.size(), 0), .count = spec.shape};
  file.put(adios_name(spec.path), all, spec.type, values, AdiosFile::Taken::now);
}

std::vector<AdiosVariable> adios_variables(const Plan& plan) {
  std::vector<AdiosVariable> variables;
  for (const auto& stream : plan.streams)
    for (const auto& spec : stream.datasets) {
      AdiosVariable variable{.name = adios_name(spec.path), .shape = spec.shape};
      variable.series = stream.reduction == Reduction::none;
      if (variable.series && h5::element_count(spec.shape) > 0)
        variable.shape = sample_shape(spec.shape, static_cast<std::uint64_t>(stream.cadence.samples()));
      variable.values = static_cast<std::int64_t>(h5::element_count(variable.shape));
      variables.push_back(std::move(variable));
    }
  return variables;
}

void make_adios_directory(const std::string& path) {
  try {
    if (fs::is_directory(path))
      remove_output(path);
    else
      remove_file(target_of(path));
    fs::create_directory(path);
  } catch (const fs::filesystem_error& error) {
    throw refusal(path, fmt::format("cannot be created: {}", error.code().message()),
                  "check the directory and its permissions");
  }
  if (access(path.c_str(), W_OK | X_OK) != 0)
    throw refusal(path, fmt::format("cannot be written: {}", std::strerror(errno)),
                  "check the permissions, or give the output another name");
  link_as_bp(path);
}

void lay_out(AdiosFile& file, const SinkContext& context, const std::vector<AdiosVariable>& variables) {
  auto variable = variables.begin();
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets) {
      if (variable->values > 0) file.define(variable->name, variable->shape, spec.type);
      ++variable;
    }
  for (const auto& dataset : context.head.datasets)
    if (!dataset.values.empty())
      file.define(adios_name(dataset.spec.path), dataset.spec.shape, dataset.spec.type);
  file.define(adios_name(commit_mark_path), {}, h5::ElementType::uint64);
  file.begin_step();
  if (context.comm.is_root()) put_head(file, context);
  file.end_step();
}

}  // namespace tailrace::output
