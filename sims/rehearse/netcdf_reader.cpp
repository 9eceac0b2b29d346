// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>

#include "file_reader.hpp"
#include "tailrace/error.hpp"

namespace tailrace::rehearse {

namespace {

constexpr std::string_view ending = "_values";

/// "/a/b" as a variable: a_b.
std::string variable_of(const std::string& dataset) {
  std::string name = dataset.substr(dataset.find_first_not_of('/'));
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

/// Types of the format, by their numbers.
enum class NcType : std::uint32_t { text = 2, int32 = 4, float32 = 5, float64 = 6, int64 = 10, uint64 = 11 };

struct Variable {
  NcType type{};
  std::uint64_t count = 1, begin = 0;
  std::map<std::string, std::string> texts;  ///< attributes
};

/// A file of format CDF-5: a header, big-endian throughout, then the variables, each in one extent
/// (https://parallel-netcdf.github.io/doc/CDF-5.html).
class NetcdfReader final : public FileReader {
 public:
  explicit NetcdfReader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    constexpr std::uint32_t magic = 0x43444605;  // "CDF", 5
    if (number<std::uint32_t>() != magic) fail("is not of format CDF-5");
    number<std::uint64_t>();  // rows, of which there are none
    read_dimensions();
    texts_ = read_texts();
    read_variables();
  }

  [[nodiscard]] const std::string& path() const noexcept override { return path_; }
  [[nodiscard]] std::vector<std::string> groups() const override {
    std::vector<std::string> found;
    for (const auto& [name, variable] : variables_)
      if (name.ends_with(ending))
        found.push_back(fmt::format("/{}", name.substr(0, name.size() - ending.size())));
    return found;
  }
  [[nodiscard]] std::optional<std::string> text_attribute(const std::string& group,
                                                          const std::string& name) const override {
    const auto& texts = group == "/" ? texts_ : find(group + values_name).texts;
    const auto found = texts.find(name);
    if (found == texts.end()) return {};
    return found->second;
  }
  [[nodiscard]] bool has(const std::string& dataset) const override {
    return variables_.contains(variable_of(dataset));
  }
  [[nodiscard]] h5::ElementType type(const std::string& dataset) const override {
    switch (find(dataset).type) {
      case NcType::float32:
        return h5::ElementType::float32;
      case NcType::float64:
        return h5::ElementType::float64;
      case NcType::int64:
        return h5::ElementType::int64;
      case NcType::uint64:
        return h5::ElementType::uint64;
      default:
        return h5::ElementType::other;
    }
  }
  [[nodiscard]] std::uint64_t count(const std::string& dataset) const override { return find(dataset).count; }

  void read(const std::string& dataset, std::uint64_t first, std::span<double> out) override {
    const auto& variable = find(dataset);
    const auto size = size_of(variable.type);
    file_.seekg(static_cast<std::streamoff>(variable.begin + first * size));
    if (variable.type == NcType::float32)
      for (auto& value : out) value = static_cast<double>(std::bit_cast<float>(number<std::uint32_t>()));
    else if (variable.type == NcType::float64)
      for (auto& value : out) value = std::bit_cast<double>(number<std::uint64_t>());
    else
      for (auto& value : out) value = static_cast<double>(number<std::uint64_t>());
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorInfo{.kind = ErrorKind::input,
                          .message = fmt::format("{}: {}", path_, what),
                          .path = path_,
                          .hint = "give an output file of tailrace-rehearse"});
  }

  [[nodiscard]] const Variable& find(const std::string& dataset) const {
    const auto found = variables_.find(variable_of(dataset));
    if (found == variables_.end()) fail(fmt::format("has no variable {}", variable_of(dataset)));
    return found->second;
  }

  std::size_t size_of(NcType type) const {
    switch (type) {
      case NcType::text:
        return 1;
      case NcType::int32:
      case NcType::float32:
        return 4;
      case NcType::float64:
      case NcType::int64:
      case NcType::uint64:
        return 8;
    }
    fail("holds a type that no rehearsal writes");
  }

  /// The next big-endian number.
  template <class T>
  T number() {
    std::array<unsigned char, sizeof(T)> bytes{};
    if (!file_.read(reinterpret_cast<char*>(bytes.data()), bytes.size())) fail("ends too early");
    std::uint64_t value = 0;
    constexpr int byte_bits = 8;
    for (const auto byte : bytes) value = (value << byte_bits) | byte;
    return static_cast<T>(value);
  }

  /// The next letters, which are filled up to a multiple of four.
  std::string text(std::uint64_t length) {
    constexpr std::uint64_t longest = 1 << 20, unit = 4;
    if (length > longest) fail("holds a text that is too long");
    std::string letters((length + unit - 1) / unit * unit, '\0');
    if (!file_.read(letters.data(), static_cast<std::streamsize>(letters.size()))) fail("ends too early");
    letters.resize(length);
    return letters;
  }
  std::string name() { return text(number<std::uint64_t>()); }

  /// The length of a list, after its tag.
  std::uint64_t list() {
    number<std::uint32_t>();
    return number<std::uint64_t>();
  }

  void read_dimensions() {
    const auto length = list();
    for (std::uint64_t i = 0; i < length; ++i) {
      name();
      extents_.push_back(number<std::uint64_t>());
    }
  }

  /// Attributes that are texts; zeros at the end are room for longer ones.
  std::map<std::string, std::string> read_texts() {
    std::map<std::string, std::string> texts;
    const auto length = list();
    for (std::uint64_t i = 0; i < length; ++i) {
      const auto key = name();
      const auto type = static_cast<NcType>(number<std::uint32_t>());
      const auto value = text(number<std::uint64_t>() * size_of(type));
      if (type == NcType::text) texts[key] = value.substr(0, value.find('\0'));
    }
    return texts;
  }

  void read_variables() {
    const auto length = list();
    for (std::uint64_t i = 0; i < length; ++i) {
      const auto key = name();
      Variable variable;
      const auto dimensions = number<std::uint64_t>();
      for (std::uint64_t d = 0; d < dimensions; ++d) {
        const auto id = number<std::uint64_t>();
        if (id >= extents_.size()) fail("is damaged");
        variable.count *= extents_[id];
      }
      variable.texts = read_texts();
      variable.type = static_cast<NcType>(number<std::uint32_t>());
      number<std::uint64_t>();  // its bytes
      variable.begin = number<std::uint64_t>();
      variables_.emplace(key, std::move(variable));
    }
  }

  std::string path_;
  std::ifstream file_;
  std::vector<std::uint64_t> extents_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, Variable> variables_;
};

}  // namespace

std::unique_ptr<FileReader> open_netcdf(const std::string& path) {
  return std::make_unique<NetcdfReader>(path);
}

}  // namespace tailrace::rehearse
