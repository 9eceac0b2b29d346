// SPDX-License-Identifier: BSD-3-Clause
#include <adios2.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "file_reader.hpp"
#include "tailrace/error.hpp"

namespace tailrace::rehearse {

namespace {

constexpr std::string_view shape_attribute = "/dataset_shape";

/// "/a/b" as ADIOS2 has it: a/b.
std::string name_of(const std::string& dataset) {
  return dataset.substr(std::min(dataset.find_first_not_of('/'), dataset.size()));
}

/// An output of ADIOS2's engine BP5. Datasets of streams have the extents that were planned: samples that are
/// not there are 0. Of other variables the last step counts.
class AdiosReader final : public FileReader {
 public:
  explicit AdiosReader(const std::string& path) : path_(path), io_(adios_.DeclareIO("verify")) {
    io_.SetEngine("BP5");
    through_adios([&] { engine_ = io_.Open(path, adios2::Mode::ReadRandomAccess); });
    types_ = io_.AvailableVariables();
    for (const auto& [name, details] : io_.AvailableAttributes()) {
      if (!name.ends_with(shape_attribute)) continue;
      const auto dataset = name.substr(0, name.size() - shape_attribute.size());
      shapes_[dataset] = io_.InquireAttribute<std::uint64_t>(name).Data();
    }
  }

  [[nodiscard]] const std::string& path() const noexcept override { return path_; }
  [[nodiscard]] std::vector<std::string> groups() const override {
    std::vector<std::string> found;
    for (const auto& [name, shape] : shapes_)
      if (name.ends_with(values_name))
        found.push_back(fmt::format("/{}", name.substr(0, name.size() - std::strlen(values_name))));
    return found;
  }
  [[nodiscard]] std::optional<std::string> text_attribute(const std::string& group,
                                                          const std::string& name) const override {
    auto io = io_;
    const auto attribute =
        io.InquireAttribute<std::string>(group == "/" ? name : fmt::format("{}/{}", name_of(group), name));
    if (!attribute) return {};
    return attribute.Data().at(0);
  }
  [[nodiscard]] bool has(const std::string& dataset) const override {
    return types_.contains(name_of(dataset)) || shapes_.contains(name_of(dataset));
  }
  [[nodiscard]] h5::ElementType type(const std::string& dataset) const override {
    const auto found = types_.find(name_of(dataset));
    if (found == types_.end()) return h5::ElementType::float64;  // without a sample any will do
    const auto& name = found->second.at("Type");
    return name == adios2::GetType<float>()          ? h5::ElementType::float32
           : name == adios2::GetType<double>()       ? h5::ElementType::float64
           : name == adios2::GetType<std::int64_t>() ? h5::ElementType::int64
                                                     : h5::ElementType::uint64;
  }
  [[nodiscard]] std::uint64_t count(const std::string& dataset) const override {
    const auto planned = shapes_.find(name_of(dataset));
    if (planned != shapes_.end()) return h5::element_count(planned->second);
    std::uint64_t values = 0;
    with_variable(dataset, [&](auto variable) { values = size_of(variable); });
    return values;
  }

  void read(const std::string& dataset, std::uint64_t first, std::span<double> out) override {
    std::fill(out.begin(), out.end(), 0);
    with_variable(dataset, [&](auto variable) {
      const auto size = size_of(variable);
      const bool series = shapes_.contains(name_of(dataset));
      const auto number = series ? first / size : variable.Steps() - 1;
      read_steps(variable, number, first % size, series ? out : out.first(std::min(out.size(), size)));
    });
  }

 private:
  template <class Action>
  void through_adios(const Action& action) const {
    try {
      action();
    } catch (const std::exception& exception) {
      throw Error(ErrorInfo{.kind = ErrorKind::input,
                            .message = fmt::format("{}: cannot be read: {}", path_, exception.what()),
                            .path = path_,
                            .hint = "give an output of tailrace-rehearse"});
    }
  }

  /// Calls `action` with the variable, if it is there.
  template <class Action>
  void with_variable(const std::string& dataset, const Action& action) const {
    auto io = io_;
    const auto name = name_of(dataset);
    const auto call = [&](auto variable) {
      if (variable) through_adios([&] { action(variable); });
    };
    if (!types_.contains(name)) return;
    switch (type(dataset)) {
      case h5::ElementType::float32:
        return call(io.InquireVariable<float>(name));
      case h5::ElementType::float64:
        return call(io.InquireVariable<double>(name));
      case h5::ElementType::int64:
        return call(io.InquireVariable<std::int64_t>(name));
      default:
        return call(io.InquireVariable<std::uint64_t>(name));
    }
  }

  /// Values of one step.
  template <class T>
  static std::uint64_t size_of(const adios2::Variable<T>& variable) {
    std::uint64_t size = 1;
    for (const auto extent : variable.Shape()) size *= extent;
    return size;
  }

  /// Values from number `first` of step `step` on, of as many steps as it takes and as there are.
  template <class T>
  void read_steps(adios2::Variable<T> variable, std::uint64_t step, std::uint64_t first,
                  std::span<double> out) {
    const auto shape = variable.Shape();
    const auto size = size_of(variable);
    std::vector<T> values(size);
    for (; !out.empty() && step < variable.Steps(); ++step, first = 0) {
      variable.SetStepSelection({step, 1});
      if (!shape.empty()) variable.SetSelection({adios2::Dims(shape.size(), 0), shape});
      engine_.Get(variable, values.data(), adios2::Mode::Sync);
      const auto taken = std::min<std::uint64_t>(size - first, out.size());
      for (std::uint64_t i = 0; i < taken; ++i) out[i] = static_cast<double>(values[first + i]);
      out = out.subspan(taken);
    }
  }

  std::string path_;
  adios2::ADIOS adios_;
  adios2::IO io_;
  adios2::Engine engine_;
  std::map<std::string, adios2::Params> types_;  ///< refers to variables, with their types
  std::map<std::string, h5::Shape> shapes_;      ///< refers to the streams' datasets
};

}  // namespace

std::unique_ptr<FileReader> open_adios(const std::string& path) {
  return std::make_unique<AdiosReader>(path);
}

}  // namespace tailrace::rehearse
