// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "h5/file.hpp"

namespace tailrace::rehearse {

/// An output file in any of the formats that sinks write: HDF5, netCDF (CDF-5), where "/a/b" is the variable
/// a_b and has the attributes of the group /a, or, if this build has ADIOS2, an output of it. Nothing here
/// communicates.
class FileReader {
 public:
  FileReader() = default;
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  virtual ~FileReader() = default;

  /// Opens a file of any of these formats. Errors (input): missing, unreadable, damaged.
  static std::unique_ptr<FileReader> open(const std::string& path);

  [[nodiscard]] virtual const std::string& path() const noexcept = 0;
  /// The groups with a dataset "values", as "/whole".
  [[nodiscard]] virtual std::vector<std::string> groups() const = 0;
  /// Text of an attribute of a group, "/" for those of the file.
  [[nodiscard]] virtual std::optional<std::string> text_attribute(const std::string& group,
                                                                  const std::string& name) const = 0;
  [[nodiscard]] virtual bool has(const std::string& dataset) const = 0;
  [[nodiscard]] virtual h5::ElementType type(const std::string& dataset) const = 0;
  /// True for a dataset that became as long as samples came.
  [[nodiscard]] virtual bool grows(const std::string&) const { return false; }
  /// Number of elements.
  [[nodiscard]] virtual std::uint64_t count(const std::string& dataset) const = 0;
  /// Reads as many elements as `out` holds, from number `first` on.
  virtual void read(const std::string& dataset, std::uint64_t first, std::span<double> out) = 0;

  /// All elements of a dataset of integers.
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& dataset);
};

inline constexpr const char* values_name = "/values";

/// Opens a netCDF file of format CDF-5. Errors (input).
std::unique_ptr<FileReader> open_netcdf(const std::string& path);
/// Opens an output of ADIOS2's engine BP5, a directory. Errors (input).
std::unique_ptr<FileReader> open_adios(const std::string& path);

}  // namespace tailrace::rehearse
