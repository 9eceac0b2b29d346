// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Raw data of an output beside its HDF5 file: one plain file in each of the directories that the user names.
namespace tailrace::output {

/// Bytes at the beginning of a raw file that say what it is.
inline constexpr std::int64_t raw_head_bytes = 4096;

/// The absolute names of raw files in these directories. @local
std::vector<std::string> raw_paths(const std::vector<std::string>& directories, const std::string& name);

/// Creates a raw file of `output`, of which nothing is left if that fails. @local. Errors (io): it is there
/// already, the directory is missing, cannot be written to, is full.
void make_raw_file(const std::string& path, const std::string& output);
/// Gives a file this size unless it is larger; what is not written reads as 0. @local. Errors (io).
void grow_file(const std::string& path, std::int64_t bytes);

/// New raw files, which are removed again unless they are kept. Their names are new ones, so that no other
/// output can lose its values to them.
class NewRawFiles {
 public:
  /// Creates one for `output` in each directory. @local. Errors (io): a directory is missing, cannot be
  /// written to, is full.
  NewRawFiles(const std::vector<std::string>& directories, const std::string& output);
  NewRawFiles(const NewRawFiles&) = delete;
  NewRawFiles& operator=(const NewRawFiles&) = delete;
  ~NewRawFiles();

  /// Their absolute names.
  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return paths_; }
  /// Gives one its size. Errors (io).
  void resize(std::size_t number, std::int64_t bytes);
  void keep() noexcept { kept_ = true; }

 private:
  std::vector<std::string> paths_;
  bool kept_ = false;
};

/// Returns whether a file is a raw file of some output. @local. Errors (io): it is missing or cannot be
/// opened.
bool is_raw_file(const std::string& path);
/// The raw files of an HDF5 file, none if it is no HDF5 file or cannot be read. @local
std::vector<std::string> raw_files_of(const std::string& path) noexcept;
/// Removes raw files, and nothing else. @local
void remove_raw_files(const std::vector<std::string>& paths) noexcept;

}  // namespace tailrace::output
