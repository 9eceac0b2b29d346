// SPDX-License-Identifier: BSD-3-Clause
#include "case.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tailrace::fuzz {

namespace {

/// Makes the parts of one input, one after the other.
class Maker {
 public:
  explicit Maker(Choose& choose) : choose_(choose) {
    const bool flat = choose.percent(40);
    for (std::size_t axis = 0; axis < 2; ++axis) extents_[axis] = choose.between(3, 9);
    extents_[2] = flat ? 1 : choose.between(2, 8);
    axes_ = flat ? "xy" : "xyz";
    steps_ = choose.between(2, 5);
    minor_ = choose.below(3);
  }

  Case make() {
    add_header();
    add_medium();
    add_sources();
    add_mask();
    if (minor_ < 2) add_operators();
    add_record();
    return std::move(case_);
  }

 private:
  void integer(const std::string& name, std::uint64_t value) { integers(name, {1, 1, 1}, {value}); }
  void integers(const std::string& name, const h5::Shape& shape, std::vector<std::uint64_t> values) {
    case_.items[name] = {shape, std::move(values), {{"data_type", "long"}, {"domain_type", "real"}}};
  }
  void real(const std::string& name, float value) { reals(name, {1, 1, 1}, {value}); }
  void reals(const std::string& name, const h5::Shape& shape, std::vector<float> values) {
    case_.items[name] = {shape, std::move(values), {{"data_type", "float"}, {"domain_type", "real"}}};
  }
  [[nodiscard]] std::uint64_t volume() const { return extents_[0] * extents_[1] * extents_[2]; }
  [[nodiscard]] h5::Shape grid() const { return {extents_[2], extents_[1], extents_[0]}; }
  std::vector<float> noise(std::uint64_t count, float low, float range) {
    std::vector<float> values(count);
    for (auto& value : values) value = low + range * choose_.real();
    return values;
  }
  std::vector<std::uint64_t> points(std::uint64_t count) {
    std::vector<std::uint64_t> values(count);
    for (auto& value : values) value = choose_.between(1, volume());
    return values;
  }
  void property(const std::string& name, float low, float range) {
    if (choose_.percent(30))
      real(name, low);
    else
      reals(name, grid(), noise(volume(), low, range));
  }

  void add_header() {
    for (std::size_t axis = 0; axis < 3; ++axis) integer(std::string("N") + "xyz"[axis], extents_[axis]);
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      const std::string name(1, axes_[axis]);
      real("d" + name, 1e-4F);
      integer("pml_" + name + "_size", choose_.below(extents_[axis] / 2 + 1));
      real("pml_" + name + "_alpha", 2);
      integer("u" + name + "_source_flag", 0);
    }
    integer("Nt", steps_);
    real("dt", 1e-8F);
    real("c_ref", 1560);
    for (const char* name : {"p", "p0", "transducer"}) integer(name + std::string("_source_flag"), 0);
    integer("nonuniform_grid_flag", 0);
    if (minor_ == 2) integer("axisymmetric_flag", 0);
    if (choose_.percent(50)) integer("elastic_flag", 0);
    for (const char* name : {"created_by", "creation_date", "file_description"}) case_.texts[name] = {"fuzz"};
    case_.texts["file_type"] = {"input"};
    case_.texts["major_version"] = {"1"};
    case_.texts["minor_version"] = {std::to_string(minor_)};
    for (auto& [name, text] : case_.texts)
      text.form = choose_.one_of<TextForm>(
          {TextForm::terminated, TextForm::padded, TextForm::spaces, TextForm::variable});
  }

  void add_medium() {
    property("c0", 1450, 100);
    property("rho0", 950, 100);
    for (const char axis : axes_) property(std::string("rho0_sg") + axis, 950, 100);
    const bool nonlinear = choose_.percent(50);
    integer("nonlinear_flag", nonlinear ? 1 : 0);
    if (nonlinear) property("BonA", 5, 2);
    const auto absorbing = choose_.below(minor_ == 2 ? 3 : 2);
    integer("absorbing_flag", absorbing);
    if (absorbing == 0) return;
    property("alpha_coeff", 0, 1);
    real("alpha_power", absorbing == 2 ? 2.0F : 1.1F + 0.8F * choose_.real());
  }

  void signal(const std::string& stem, bool many, std::uint64_t count) {
    const auto length = choose_.between(1, steps_ + 3);
    integer(stem + "_source_flag", length);
    reals(stem + "_source_input", {1, length, many ? count : 1},
          noise(length * (many ? count : 1), -1e-3F, 2e-3F));
  }

  void add_sources() {
    if (choose_.percent(40)) {
      integer("p0_source_flag", 1);
      reals("p0_source_input", grid(), noise(volume(), -1, 2));
    }
    const auto count = choose_.between(1, 7);
    const bool many = choose_.percent(50), velocity = choose_.percent(50), transducer = choose_.percent(30);
    if (choose_.percent(50)) {
      integer("p_source_mode", choose_.below(3));
      integer("p_source_many", many ? 1 : 0);
      integers("p_source_index", {1, 1, count}, points(count));
      signal("p", many, count);
    }
    if (velocity || transducer) integers("u_source_index", {1, 1, count}, points(count));
    if (velocity) {
      integer("u_source_mode", choose_.below(3));
      integer("u_source_many", many ? 1 : 0);
      for (const char axis : axes_)
        if (axis == 'x' || choose_.percent(50)) signal(std::string("u") + axis, many, count);
    }
    if (transducer) add_transducer(count);
  }

  void add_transducer(std::uint64_t count) {
    const auto length = choose_.between(1, steps_ + 3), longest = choose_.below(5);
    std::vector<std::uint64_t> delays(count);
    for (auto& delay : delays) delay = choose_.between(1, longest + 1);
    integer("transducer_source_flag", length);
    integers("delay_mask", {1, 1, count}, std::move(delays));
    reals("transducer_source_input", {1, 1, length + longest}, noise(length + longest, -1e-3F, 2e-3F));
  }

  void add_mask() {
    const bool cuboids = minor_ > 0 && choose_.percent(50);
    const auto count = choose_.between(1, 6);
    if (minor_ > 0) integer("sensor_mask_type", cuboids ? 1 : 0);
    if (!cuboids) {
      integers("sensor_mask_index", {1, 1, count}, points(count));
      return;
    }
    std::vector<std::uint64_t> corners;
    for (std::uint64_t c = 0; c < count; ++c) {
      std::array<std::uint64_t, 3> low{};
      for (std::size_t axis = 0; axis < 3; ++axis) low[axis] = choose_.between(1, extents_[axis]);
      corners.insert(corners.end(), low.begin(), low.end());
      for (std::size_t axis = 0; axis < 3; ++axis)
        corners.push_back(choose_.between(low[axis], extents_[axis]));
    }
    integers("sensor_mask_corners", {1, count, 6}, std::move(corners));
  }

  /// Adds what older formats hold and nobody reads.
  void add_operators() {
    for (const char axis : axes_) {
      const std::string name(1, axis);
      reals("pml_" + name, {1, 1, 4}, noise(4, 0, 1));
      reals("dd" + name + "_k_shift_pos", {1, 1, 4}, {NAN, 0, 1, 2});
      case_.items["dd" + name + "_k_shift_pos"].attributes["domain_type"] = "complex";
    }
  }

  void add_record() {
    std::vector<std::string> known{"-p", "--p_max", "--p_rms", "--p_min", "--p_max_all", "--p_final"};
    for (const char* name : {"-u", "--u_max", "--u_rms", "--u_min_all", "--u_final"})
      known.emplace_back(name);
    for (const auto& option : known)
      if (choose_.percent(30)) case_.options.push_back(option);
    if (choose_.percent(30)) case_.options.emplace_back("--copy_sensor_mask");
    if (choose_.percent(20)) {
      case_.options.emplace_back("-s");
      case_.options.push_back(std::to_string(choose_.between(1, steps_)));
    }
  }

  Choose& choose_;
  std::array<std::uint64_t, 3> extents_{};
  std::string axes_;
  std::uint64_t steps_ = 0, minor_ = 0;
  Case case_;
};

}  // namespace

Case valid_case(Choose& choose) {
  return Maker(choose).make();
}

const char* name_of(Form form) {
  static const std::array<const char*, forms> names{
      "plain",           "chunked",         "deflated",       "checked",       "extendable",  "compact",
      "linked_soft",     "linked_hard",     "big_endian",     "later",         "double",      "small_integer",
      "signed_integer",  "half_integer",    "text",           "variable_text", "compound",    "reference",
      "array",           "variable_length", "enumeration",    "opaque",        "bits",        "scalar_space",
      "null_space",      "unwritten",       "nan_fill",       "huge",          "overflowing", "external",
      "external_absent", "external_pipe",   "virtual_source", "dangling",      "cyclic",      "link_to_file",
      "link_to_pipe",    "link_to_itself",  "group",          "named_type"};
  return names.at(static_cast<std::size_t>(form));
}

}  // namespace tailrace::fuzz
