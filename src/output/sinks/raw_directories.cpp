// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/raw_directories.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <string_view>

#include "h5/file.hpp"
#include "output/core/raw_file.hpp"
#include "output/sinks/descriptor.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

constexpr std::string_view mark = "Tailrace raw data 1\n";

std::string new_name(const std::string& output) {
  std::random_device random;
  const auto number = std::uint64_t{random()} << 32U | random();
  return fmt::format("{}-{:016x}", std::filesystem::path(output).stem().string(), number);
}

}  // namespace

std::vector<std::string> raw_paths(const std::vector<std::string>& directories, const std::string& name) {
  std::vector<std::string> paths;
  for (const auto& directory : directories) {
    const auto absolute = std::filesystem::absolute(directory).lexically_normal();
    paths.push_back((absolute / fmt::format("{}.{}.raw", name, paths.size())).string());
  }
  return paths;
}

void make_raw_file(const std::string& path, const std::string& output) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) throw file_failure(path, "creating the file", -1, errno);
  const auto whole = std::filesystem::absolute(output).lexically_normal().string();
  const auto head = fmt::format("{}values of {}\n", mark, whole.substr(0, raw_head_bytes - 64));
  const auto taken = pwrite(file.get(), head.data(), head.size(), 0);
  if (taken == static_cast<ssize_t>(head.size())) return;
  const int error = taken < 0 ? errno : ENOSPC;
  remove_raw_files({path});
  throw file_failure(path, "writing", 0, error);
}

void grow_file(const std::string& path, std::int64_t bytes) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && status.st_size >= bytes) return;
  if (truncate(path.c_str(), bytes) != 0) throw file_failure(path, "setting the size", bytes, errno);
}

NewRawFiles::NewRawFiles(const std::vector<std::string>& directories, const std::string& output) {
  try {
    for (const auto& path : raw_paths(directories, new_name(output))) {
      make_raw_file(path, output);
      paths_.push_back(path);
    }
  } catch (...) {
    remove_raw_files(paths_);
    throw;
  }
}

NewRawFiles::~NewRawFiles() {
  if (!kept_) remove_raw_files(paths_);
}

void NewRawFiles::resize(std::size_t number, std::int64_t bytes) {
  grow_file(paths_[number], bytes);
}

bool is_raw_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // it may be a pipe
  if (file.get() < 0) throw file_failure(path, "opening", -1, errno);
  struct stat status {};
  std::array<char, mark.size()> found{};
  return fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
         pread(file.get(), found.data(), found.size(), 0) == static_cast<ssize_t>(found.size()) &&
         std::string_view(found.data(), found.size()) == mark;
}

std::vector<std::string> raw_files_of(const std::string& path) noexcept {
  try {
    if (!std::filesystem::exists(path)) return {};
    const auto file = h5::File::open(path);
    std::set<std::string> found;
    for (const auto& dataset : file.dataset_paths()) {
      if (file.external_parts(dataset).empty()) continue;
      for (const auto& name : file.external_names(dataset))
        if (!found.contains(name.file) && access(name.file.c_str(), F_OK) == 0 && is_raw_file(name.file))
          found.insert(name.file);
    }
    return {found.begin(), found.end()};
  } catch (...) {
    return {};
  }
}

void remove_raw_files(const std::vector<std::string>& paths) noexcept {
  for (const auto& path : paths) unlink(path.c_str());
}

}  // namespace tailrace::output
