// SPDX-License-Identifier: BSD-3-Clause
#include "netcdf_header.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/bytes.hpp"
#include "words.hpp"

namespace tailrace::molecules::netcdf {

namespace {

/// The bytes of a header, read one number after another.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& path) : file_(path, whole_file) {}
  [[nodiscard]] const InputFile& file() const noexcept { return file_; }

  void read_magic() {
    const std::uint32_t word = take32();
    const auto number = static_cast<std::uint8_t>(word & 0xFFU);
    if (word >> 8U != 0x434446U || (number != 1 && number != 2 && number != 5))
      refuse("is no netCDF file of the classic format");
    version_ = static_cast<Version>(number);
  }
  std::uint32_t take32() { return big_endian(take<std::uint32_t>()); }
  std::int64_t take64() { return big_endian(take<std::int64_t>()); }
  std::int64_t take_count() { return checked(version_ == Version::long_data ? take64() : take32()); }
  std::int64_t take_begin() { return checked(version_ == Version::classic ? take32() : take64()); }
  std::string take_text() {
    const std::int64_t bytes = take_count();
    constexpr std::int64_t longest_name = 256;
    if (bytes > longest_name) refuse("has a damaged header");
    std::string text(static_cast<std::size_t>(bytes), '\0');
    for (auto& letter : text) letter = static_cast<char>(take<std::uint8_t>());
    skip(-bytes & 3);
    return text;
  }
  /// The length of a list.
  std::int64_t take_list(std::uint32_t tag) {
    const std::uint32_t found = take32();
    const std::int64_t count = take_count();
    if (found != (count > 0 ? tag : 0U) && !(found == tag && count == 0)) refuse("has a damaged header");
    return count;
  }
  void skip_attributes() {
    static constexpr std::array<std::int64_t, 12> type_bytes{0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    for (std::int64_t left = take_list(attribute_tag); left > 0; --left) {
      take_text();
      const std::uint32_t type = take32();
      if (type == 0 || type >= type_bytes.size()) refuse("has a damaged header");
      const std::int64_t bytes = take_count() * type_bytes[type];
      skip(bytes + (-bytes & 3));
    }
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw file_error(file_.path(), what, "a checkpoint in cells as netCDF variables, whole");
  }

 private:
  template <class T>
  T take() {
    if (constexpr std::int64_t bytes = sizeof(T); at_ + bytes > end_) fill(bytes);
    const auto value = value_at<T>(buffer_, static_cast<std::size_t>(at_ - begin_));
    at_ += static_cast<std::int64_t>(sizeof value);
    return value;
  }
  void fill(std::int64_t wanted) {
    constexpr std::int64_t batch_bytes = 1 << 16;
    begin_ = at_;
    end_ = std::min(file_.size_bytes(), begin_ + batch_bytes);
    if (end_ - begin_ < wanted) refuse("ends within its header: it is truncated");
    buffer_.resize(static_cast<std::size_t>(end_ - begin_));
    file_.read(begin_, buffer_);
  }
  void skip(std::int64_t bytes) {
    at_ += bytes;
    if (at_ > file_.size_bytes()) refuse("ends within its header: it is truncated");
  }
  [[nodiscard]] std::int64_t checked(std::int64_t value) const {
    if (value < 0) refuse("has a damaged header");
    return value;
  }

  InputFile file_;
  Version version_ = Version::classic;
  std::vector<std::byte> buffer_;
  std::int64_t at_ = 0, begin_ = 0, end_ = 0;
};

/// Returns whether a name is a letter and the number of a cell.
bool names_cell(const std::string& name, char letter) {
  return name.starts_with(letter) && number_in<std::int64_t>(std::string_view(name).substr(1));
}

}  // namespace

std::vector<RowRange> read_cells(const std::string& path) {
  HeaderReader reader(path);
  reader.read_magic();
  reader.take_count();  // samples of an unlimited dimension: none
  std::vector<std::int64_t> lengths;
  for (std::int64_t left = reader.take_list(dimension_tag); left > 0; --left) {
    reader.take_text();
    lengths.push_back(reader.take_count());
  }
  reader.skip_attributes();
  std::vector<RowRange> cells;
  for (std::int64_t left = reader.take_list(variable_tag); left > 0; --left) {
    const auto name = reader.take_text();
    const std::int64_t dimensions = reader.take_count();
    std::int64_t length = -1;
    for (std::int64_t i = 0; i < dimensions; ++i) {
      const auto dimension = static_cast<std::size_t>(reader.take_count());
      if (dimension >= lengths.size()) reader.refuse("has a damaged header");
      length = lengths[dimension];
    }
    reader.skip_attributes();
    const std::uint32_t type = reader.take32();
    reader.take_count();  // bytes, which follow from the dimension
    const std::int64_t begin = reader.take_begin();
    if (!names_cell(name, 'v')) continue;
    if (dimensions != 1 || type != type_double || length % doubles_each != 0)
      reader.refuse(fmt::format("has a variable {} that is no list of {} doubles for each molecule", name,
                                doubles_each));
    if (begin > reader.file().size_bytes() || length > (reader.file().size_bytes() - begin) / 8)
      reader.refuse(fmt::format("ends within variable {}: it is truncated", name));
    cells.push_back({begin, length / doubles_each});
  }
  return cells;
}

}  // namespace tailrace::molecules::netcdf
