// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/new_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "mpi/file.hpp"
#include "output/sinks/lustre.hpp"
#include "output/sinks/row_files.hpp"
#include "output/sinks/snapshots.hpp"

namespace tailrace::output {

namespace {

/// Returns where a file is made before it takes its place: beside it, or at once where something that is no
/// file has the name.
std::string place_to_create(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode) ? path + ".partial" : path;
}

}  // namespace

std::string target_of(const std::string& path) {
  std::error_code code;
  const auto target = std::filesystem::weakly_canonical(path, code);
  return code ? path : target.string();
}

void write_head(h5::File& file, const FileHead& head) {
  for (const auto& attribute : head.attributes) file.create_attribute("/", attribute);
  for (const auto& dataset : head.datasets) {
    file.create_dataset(dataset.spec);
    file.write_bytes(dataset.spec.path, dataset.spec.type, dataset.values);
  }
}

void write_groups(h5::File& file, const FileHead& head) {
  for (const auto& [group, attribute] : head.group_attributes) {
    file.create_group(group);
    file.create_attribute(group, attribute);
  }
  for (const auto& [path, target] : head.links) file.create_soft_link(path, target);
}

void remove_file(const std::string& path) noexcept {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) unlink(path.c_str());
}

void create_complete(const std::string& name, const Maker& make, const Maker& prepare) {
  const std::string path = target_of(name), place = place_to_create(path);
  if (access(path.c_str(), W_OK) != 0 && errno != ENOENT)
    throw Error(ErrorInfo{.kind = ErrorKind::io,
                          .message = fmt::format("{}: cannot be created: {}", name, std::strerror(errno)),
                          .path = name,
                          .hint = "check the permissions, or write to another file"});
  try {
    if (prepare) prepare(place);
    if (place != path) remove_file(path);  // its space may be what the new one needs
    make(place);
    if (place != path) std::filesystem::rename(place, path);
  } catch (...) {
    remove_file(place);
    throw;
  }
}

void place_on_device(const std::string& path, const WriteOptions& options) {
  if (options.mpi_hints.empty() && !options.lustre.given()) return;
  remove_file(path);  // of a run that was killed here
  if (!options.mpi_hints.empty())
    mpi::File::create(path, options.mpi_hints);
  else
    create_on_lustre(path, options.lustre);
}

void create_file(const SinkContext& context, const std::function<void(h5::File&)>& lay_out) {
  const auto make = [&](const std::string& place) {
    auto file = h5::File::create(place, context.path);
    write_head(file, context.head);
    lay_out(file);
    write_groups(file, context.head);
    file.close();
  };
  create_complete(context.path, make, [&](const std::string& place) {
    place_on_device(place, context.options);
    discard_rows(context.path);  // of the file that was here
  });
  discard_snapshots(context.path, -1);  // of the file that was here
}

h5::DatasetSpec commit_mark_spec(int sources, const char* path) {
  return {.path = path,
          .shape = {1, 1, static_cast<std::uint64_t>(sources)},
          .type = h5::ElementType::uint64,
          .attributes = {{.name = "data_type", .value = std::string("long")},
                         {.name = "domain_type", .value = std::string("real")}}};
}

void write_tail(const std::string& path, const FileTail& tail, bool complete) {
  if (tail.empty()) return;
  auto file = h5::File::open_for_update(path);
  for (const auto& [name, text] : tail.attributes) file.update_text_attribute("/", name, text);
  if (complete)
    for (const auto& [name, bytes] : tail.datasets) file.write_bytes(name, file.type(name), bytes);
  file.close();
}

}  // namespace tailrace::output
