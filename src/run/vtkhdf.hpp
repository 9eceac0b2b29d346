// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "h5/file.hpp"

namespace tailrace::run {

/// A file in the form VTKHDF, which ParaView opens, in the making: it takes its name when it is complete. Its
/// values may be in other files, which virtual datasets show.
class VtkhdfFile {
 public:
  using Numbers = std::vector<std::int64_t>;

  /// One of VTK's kinds of data: "PolyData", "UnstructuredGrid". @local. Errors (io).
  VtkhdfFile(std::string path, const std::string& kind);
  VtkhdfFile(const VtkhdfFile&) = delete;
  VtkhdfFile& operator=(const VtkhdfFile&) = delete;
  ~VtkhdfFile();

  /// The same data at several times, in as many parts as steps: `parts` says which is the first of a step.
  void put_steps(const std::vector<double>& times, const Numbers& parts);
  /// A dataset below the root of the format, `name` being "Steps/Values" or the like.
  template <class T>
  void put(const std::string& name, const std::vector<T>& values, h5::Shape shape = {}) {
    if (shape.empty()) shape = {values.size()};
    file_.create_dataset({below(name), std::move(shape), h5::element_type_of<T>(), {}});
    if (!values.empty()) file_.write<T>(below(name), values);
  }
  /// A dataset that shows a whole one of another file, or so many of its columns.
  void show(const std::string& name, const h5::Shape& shape, h5::ElementType type,
            const h5::ViewedValues& values);
  /// Creates a dataset of which others write the values; returns where they go, once the file is closed.
  std::int64_t make_room(const std::string& name, h5::Shape shape, h5::ElementType type);
  void close() { file_.close(); }
  /// Where the file is until it has its name.
  [[nodiscard]] const std::string& place() const noexcept { return place_; }
  /// After `close`: gives it its name.
  void finish();

 private:
  static std::string below(const std::string& name) { return "/VTKHDF/" + name; }

  std::string path_, place_;
  h5::File file_;
  bool finished_ = false;
};

}  // namespace tailrace::run
