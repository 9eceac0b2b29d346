// SPDX-License-Identifier: BSD-3-Clause
#include "rsf_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"

namespace tailrace::seismic {

namespace {

/// Between a header and values in the same file.
constexpr std::string_view end_of_header = "\x0c\x0c\x04";
constexpr std::int64_t longest_header = 1 << 20;

/// Elements unchanged in a file.
struct Elements {
  const char* name;
  std::size_t size_bytes;
  bool swapped;  ///< other byte order than this machine's
};
constexpr bool is_little = std::endian::native == std::endian::little;
constexpr std::array accepted_elements{
    Elements{"native_float", 4, false}, Elements{"xdr_float", 4, is_little},
    Elements{"native_double", 8, false}, Elements{"xdr_double", 8, is_little}};

/// Splits a line at blanks that are in no quotation marks.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words{""};
  char quote = 0;
  for (const char letter : line) {
    if (quote == 0 && (letter == ' ' || letter == '\t' || letter == '\r')) {
      if (!words.back().empty()) words.emplace_back();
      continue;
    }
    if (quote == letter)
      quote = 0;
    else if (quote == 0 && (letter == '"' || letter == '\''))
      quote = letter;
    words.back() += letter;
  }
  return words;
}

std::string unquoted(const std::string& text) {
  const bool quoted =
      text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// The header of an open file with what it says of its values.
class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path, "write the file again") {
    std::string text(static_cast<std::size_t>(std::min(longest_header, file_.size_bytes())), '\0');
    file_.read(0, std::as_writable_bytes(std::span(text)));
    header_ = parse_rsf_header(text);
  }

  [[nodiscard]] std::string value(const std::string& key) const {
    const auto found = header_.values.find(key);
    return found == header_.values.end() ? "" : found->second;
  }

  [[nodiscard]] std::int64_t extent(int axis) const {
    const auto key = fmt::format("n{}", axis);
    const auto text = value(key);
    if (text.empty()) return 1;
    const auto number = parse_number<std::int64_t>(text);
    if (!number || *number < 0)
      throw file_error(file_.path(), fmt::format("{}={} is no number of values", key, text),
                       "a number such as n1=120");
    return *number;
  }

  void check_shape(Index3 cells) const {
    const Index3 found{extent(1), extent(2), extent(3)};
    bool flat = true;
    constexpr int max_axes = 9;
    for (int axis = 4; axis <= max_axes; ++axis) flat = flat && extent(axis) == 1;
    if (found != cells || !flat)
      throw file_error(file_.path(),
                       fmt::format("has n1, n2, n3 = {}, {}, {}{}", found.x, found.y, found.z,
                                   flat ? "" : " and further axes"),
                       fmt::format("{}, {}, {}, as domain.cells: x is the first axis, the fastest "
                                   "(sftransp reorders)",
                                   cells.x, cells.y, cells.z));
    auto label = value("label1");
    std::transform(label.begin(), label.end(), label.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (label.starts_with("z") || label.starts_with("depth") || label.starts_with("y"))
      throw file_error(file_.path(), fmt::format("label1=\"{}\": its first axis is not x", value("label1")),
                       "x, y, z in this order, x the fastest (sftransp reorders)");
  }

  /// The distances of points are those of the case where the header states them.
  void check_spacing(const std::array<double, 3>& spacing_m) const {
    constexpr double rounding = 1e-4;
    for (int axis = 1; axis <= 3; ++axis) {
      const auto key = fmt::format("d{}", axis), text = value(key);
      const double wanted = spacing_m[static_cast<std::size_t>(axis - 1)];
      const double unit_m = value(fmt::format("unit{}", axis)) == "km" ? 1e3 : 1;
      const auto found = parse_number<double>(text);
      if (text.empty() || (found && std::abs(*found * unit_m - wanted) <= rounding * wanted)) continue;
      throw file_error(
          file_.path(), fmt::format("{}={}, but domain.spacing_m has {:g} there", key, text, wanted),
          "distances of points in metres, or unitN=km, as domain.spacing_m has them (sfput corrects)");
    }
  }

  [[nodiscard]] Elements elements() const {
    const auto format = value("data_format"), size = value("esize");
    for (const auto& one : accepted_elements)
      if (format == one.name || (format.empty() && &one == accepted_elements.data())) {
        if (size.empty() || size == std::to_string(one.size_bytes)) return one;
        throw file_error(file_.path(),
                         fmt::format("esize={}, but {} has {} bytes", size, one.name, one.size_bytes),
                         fmt::format("esize={}, or another data_format", one.size_bytes));
      }
    throw file_error(file_.path(), fmt::format("data_format=\"{}\" holds no floats that can be read", format),
                     "native_float, xdr_float, native_double or xdr_double (sfdd converts)");
  }

  /// The file with the values; relative names are taken from the header's directory, or from here.
  [[nodiscard]] std::string data_path() const {
    namespace fs = std::filesystem;
    const auto name = value("in");
    if (name.empty())
      throw file_error(file_.path(), "does not say where its values are (in=)", "give an RSF header");
    if (name == "stdin") return file_.path();
    const auto beside = fs::path(file_.path()).parent_path() / name;
    return fs::exists(beside) ? beside.string() : name;
  }
  [[nodiscard]] std::int64_t data_offset() const { return value("in") == "stdin" ? header_.bytes : 0; }

 private:
  InputFile file_;
  RsfHeader header_;
};

/// The values of a file, read row by row.
class Values {
 public:
  Values(const Reader& reader, Index3 cells)
      : file_(reader.data_path(), "write the file again"),
        first_(reader.data_offset()),
        elements_(reader.elements()),
        cells_(cells) {
    const auto bytes = cells.volume() * static_cast<std::int64_t>(elements_.size_bytes);
    const auto found = std::max<std::int64_t>(0, file_.size_bytes() - first_);
    if (found < bytes)
      throw file_error(file_.path(), fmt::format("holds {} bytes of {}: it is truncated", found, bytes),
                       "write the file again");
    if (found > bytes)
      throw file_error(file_.path(),
                       fmt::format("holds {} bytes more than the {} of its values", found - bytes, bytes),
                       "the file that belongs to this header, with its n1, n2, n3 and data_format");
  }

  void read(const Box& region, std::span<double> out) {
    const Index3 n = region.extents();
    const bool whole_rows = n.x == cells_.x;
    const std::int64_t rows = whole_rows ? n.y : 1;  // that are side by side
    const auto count = static_cast<std::size_t>(n.x * rows);
    bytes_.resize(count * elements_.size_bytes);
    for (std::int64_t z = region.lo.z; z < region.hi.z; ++z)
      for (std::int64_t y = region.lo.y; y < region.hi.y; y += rows) {
        const auto at = (z * cells_.y + y) * cells_.x + region.lo.x;
        file_.read(first_ + at * static_cast<std::int64_t>(elements_.size_bytes), bytes_);
        convert(out.first(count));
        out = out.subspan(count);
      }
  }

 private:
  void convert(std::span<double> out) {
    const std::size_t size = elements_.size_bytes;
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::array<std::byte, sizeof(double)> value{};
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(i * size), size, value.begin());
      if (elements_.swapped) std::reverse(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size));
      if (size == sizeof(float)) {
        float narrow = 0;
        std::memcpy(&narrow, value.data(), sizeof narrow);
        out[i] = narrow;
      } else {
        std::memcpy(&out[i], value.data(), sizeof(double));
      }
    }
  }

  InputFile file_;
  std::int64_t first_;
  Elements elements_;
  Index3 cells_;
  std::vector<std::byte> bytes_;
};

}  // namespace

RsfHeader parse_rsf_header(const std::string& text) {
  RsfHeader header;
  const auto end = text.find(end_of_header);
  header.bytes =
      static_cast<std::int64_t>(end == std::string::npos ? text.size() : end + end_of_header.size());
  std::istringstream lines(text.substr(0, end));
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t") == line.find('#')) continue;
    for (const auto& word : words_of(line)) {
      const auto equals = word.find('=');
      if (equals == 0 || equals == std::string::npos) continue;
      header.values[word.substr(0, equals)] = unquoted(word.substr(equals + 1));
    }
  }
  return header;
}

Parameter open_rsf_model(const std::string& path, Index3 cells, const std::array<double, 3>& spacing_m) {
  const Reader reader(path);
  reader.check_shape(cells);
  reader.check_spacing(spacing_m);
  const auto values = std::make_shared<Values>(reader, cells);
  return {.value = 0, .open = [values]() -> Parameter::ReadBox {
            return [values](const Box& region, std::span<double> out) { values->read(region, out); };
          }};
}

}  // namespace tailrace::seismic
