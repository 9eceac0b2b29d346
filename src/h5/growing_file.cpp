// SPDX-License-Identifier: BSD-3-Clause
#include "growing_file.hpp"

#include <cstring>
#include <fstream>

#include "h5/file.hpp"
#include "library.hpp"
#include "tailrace/error.hpp"

namespace tailrace::h5 {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::int64_t undefined_address = -1;  // all bits

template <class T>
T get(const std::vector<std::byte>& bytes, std::size_t at) {
  T value{};
  if (at + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

void put(std::vector<std::byte>& bytes, std::size_t at, std::int64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

[[noreturn]] void refuse(const std::string& path) {
  throw Error(ErrorInfo{.kind = ErrorKind::input,
                        .message = path + ": is no file of rows as this library makes it",
                        .path = path,
                        .hint = "begin a new output"});
}

}  // namespace

GrowingHead GrowingHead::create(const std::string& path, std::int64_t components, ElementType type) {
  auto file = File::create(path);
  file.create_dataset({.path = dataset,
                       .shape = {1, static_cast<std::uint64_t>(components)},
                       .type = type,
                       .attributes = {}});
  file.close();
  GrowingHead head(path);
  const auto& none = head.with_rows(0);
  std::fstream bytes(path, std::ios::binary | std::ios::in | std::ios::out);
  bytes.write(reinterpret_cast<const char*>(none.data()), static_cast<std::streamsize>(none.size()));
  bytes.close();
  if (!bytes)
    throw Error(
        ErrorInfo{.kind = ErrorKind::io, .message = path + ": cannot be written", .path = path, .hint = {}});
  return head;
}

GrowingHead GrowingHead::read(const std::string& path) {
  return GrowingHead(path);
}

GrowingHead::GrowingHead(const std::string& path) {
  const auto file = File::open(path);
  if (!file.has_dataset(dataset) || file.shape(dataset).size() != 2) refuse(path);
  row_bytes_ = static_cast<std::int64_t>(file.shape(dataset)[1] * size_bytes(file.type(dataset)));
  std::ifstream from(path, std::ios::binary);
  bytes_.resize(page_bytes);
  from.read(reinterpret_cast<char*>(bytes_.data()), static_cast<std::streamsize>(bytes_.size()));
  bytes_.resize(static_cast<std::size_t>(from.gcount()));
  find_messages(path, file.header_place(dataset));
  if (data_offset_ <= 0 || row_bytes_ <= 0) refuse(path);
  bytes_.resize(std::min(bytes_.size(), static_cast<std::size_t>(data_offset_)));
  for (const std::size_t at : {rows_at_, max_rows_at_, address_at_, size_at_})
    if (at == 0 || at + sizeof(std::int64_t) > bytes_.size()) refuse(path);
}

/// The messages of an object header of version 1 that say how large a contiguous dataset is (HDF5 File Format
/// Specification, IV.A.2.b and IV.A.2.i).
void GrowingHead::find_messages(const std::string& path, std::uint64_t header) {
  constexpr std::uint16_t dataspace = 1, layout = 8;
  constexpr std::size_t prefix = 16, message_head = 8, dimensions_at = 8, number = 8;
  const auto start = static_cast<std::size_t>(header);
  if (get<std::uint8_t>(bytes_, 8) != 0 || get<std::uint8_t>(bytes_, start) != 1) refuse(path);
  const std::size_t end = start + prefix + get<std::uint32_t>(bytes_, start + 8);
  for (std::size_t at = start + prefix; at + message_head <= std::min(end, bytes_.size());) {
    const auto type = get<std::uint16_t>(bytes_, at), size = get<std::uint16_t>(bytes_, at + 2);
    at += message_head;
    if (type == dataspace && get<std::uint8_t>(bytes_, at) == 1 && get<std::uint8_t>(bytes_, at + 1) == 2) {
      rows_at_ = at + dimensions_at;
      max_rows_at_ = rows_at_ + 2 * number;  // behind both dimensions come their limits
      if ((get<std::uint8_t>(bytes_, at + 2) & 1U) == 0) refuse(path);
    }
    if (type == layout && get<std::uint8_t>(bytes_, at) == 3 && get<std::uint8_t>(bytes_, at + 1) == 1) {
      address_at_ = at + 2;
      size_at_ = address_at_ + number;
      const auto address = get<std::int64_t>(bytes_, address_at_);
      data_offset_ = address == undefined_address ? get<std::int64_t>(bytes_, end_at) : address;
    }
    at += size;
  }
}

std::int64_t GrowingHead::rows() const noexcept {
  return get<std::int64_t>(bytes_, rows_at_);
}

const std::vector<std::byte>& GrowingHead::with_rows(std::int64_t rows) {
  put(bytes_, rows_at_, rows);
  put(bytes_, max_rows_at_, rows);
  // As HDF5 writes a dataset without values: newer ones take an address with nothing behind it for damage.
  put(bytes_, address_at_, rows > 0 ? data_offset_ : undefined_address);
  put(bytes_, size_at_, rows * row_bytes_);
  put(bytes_, end_at, data_offset_ + rows * row_bytes_);
  return bytes_;
}

}  // namespace tailrace::h5
