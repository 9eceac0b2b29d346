#include "raw_directories.hpp"

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

#include "tailrace/base/error.hpp"
#include "tailrace/h5/file.hpp"
#include "tailrace/output/raw_file.hpp"

namespace tailrace::output {

namespace {

constexpr std::string_view mark = "Tailrace raw data 1\n";

/// A file that is closed when this ends.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

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

NewRawFiles::NewRawFiles(const std::vector<std::string>& directories, const std::string& output) {
  try {
    for (const auto& path : raw_paths(directories, new_name(output))) create(path, output);
  } catch (...) {
    remove_raw_files(paths_);
    throw;
  }
}

NewRawFiles::~NewRawFiles() {
  if (!kept_) remove_raw_files(paths_);
}

void NewRawFiles::create(const std::string& path, const std::string& output) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) throw file_failure(path, "creating the file", -1, errno);
  paths_.push_back(path);
  const auto whole = std::filesystem::absolute(output).lexically_normal().string();
  const auto head = fmt::format("{}values of {}\n", mark, whole.substr(0, raw_head_bytes - 64));
  const auto taken = pwrite(file.get(), head.data(), head.size(), 0);
  if (taken != static_cast<ssize_t>(head.size()))
    throw file_failure(path, "writing", 0, taken < 0 ? errno : ENOSPC);
}

void NewRawFiles::resize(std::size_t number, std::int64_t bytes) {
  if (truncate(paths_[number].c_str(), bytes) != 0)
    throw file_failure(paths_[number], "setting the size", bytes, errno);
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
    for (const auto& dataset : file.dataset_paths())
      for (const auto& part : file.external_parts(dataset))
        if (!found.contains(part.file) && is_raw_file(part.file)) found.insert(part.file);
    return {found.begin(), found.end()};
  } catch (...) {
    return {};
  }
}

void remove_raw_files(const std::vector<std::string>& paths) noexcept {
  for (const auto& path : paths) unlink(path.c_str());
}

}  // namespace tailrace::output
