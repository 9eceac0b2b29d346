// SPDX-License-Identifier: BSD-3-Clause
#include "run/vtkhdf.hpp"

#include <filesystem>
#include <system_error>

#include "base/files.hpp"

namespace tailrace::run {

VtkhdfFile::VtkhdfFile(std::string path, const std::string& kind)
    : path_(std::move(path)), place_(path_ + ".partial"), file_(h5::File::create(place_, path_)) {
  file_.create_group("/VTKHDF");
  file_.create_attribute("/VTKHDF", {"Version", Numbers{2, 0}, 0});
  file_.create_attribute("/VTKHDF", {"Type", kind, 0});
}

VtkhdfFile::~VtkhdfFile() {
  std::error_code code;
  if (!finished_) std::filesystem::remove(place_, code);
}

void VtkhdfFile::put_steps(const std::vector<double>& times, const Numbers& parts) {
  file_.create_group("/VTKHDF/Steps");
  file_.create_attribute("/VTKHDF/Steps", {"NSteps", static_cast<std::int64_t>(times.size()), 0});
  put("Steps/Values", times);
  put("Steps/NumberOfParts", Numbers(times.size(), 1));
  put("Steps/PartOffsets", parts);
}

void VtkhdfFile::show(const std::string& name, const h5::Shape& shape, h5::ElementType type,
                      const h5::ViewedValues& values) {
  file_.create_view({below(name), shape, type, {}}, values);
}

std::int64_t VtkhdfFile::make_room(const std::string& name, h5::Shape shape, h5::ElementType type) {
  return static_cast<std::int64_t>(
      file_.create_dataset({below(name), std::move(shape), type, {}}).value_or(0));
}

void VtkhdfFile::finish() {
  replace_file(place_, path_);
  finished_ = true;
}

}  // namespace tailrace::run
