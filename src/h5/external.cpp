// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <utility>

#include "h5/file.hpp"
#include "library.hpp"
#include "tailrace/error.hpp"

namespace tailrace::h5 {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers in the file are read as they are");

/// An extent of the file that holds messages of an object header.
struct MessageBlock {
  std::uint64_t place = 0, bytes = 0;
};

/// The object header of a dataset, as version 1 of it is in the file (HDF5 File Format Specification,
/// IV.A). HDF5 itself says the names of external files, but not where they are.
class ObjectHeader {
 public:
  ObjectHeader(const std::string& path, std::uint64_t place) : file_(path, std::ios::binary) {
    constexpr std::uint64_t prefix_bytes = 16, size_at = 8;
    const auto prefix = read({place, prefix_bytes});
    if (get<std::uint8_t>(prefix, 0) != 1) fail();
    blocks_.push_back({place + prefix_bytes, get<std::uint32_t>(prefix, size_at)});
  }

  /// The names in the message of the external files, by their numbers. Errors (io): there is none.
  std::vector<ExternalName> external_names() {
    for (std::size_t i = 0; i < blocks_.size(); ++i)  // grows meanwhile
      if (auto names = find_in(blocks_[i])) return std::move(*names);
    fail();
  }

 private:
  static constexpr std::uint64_t message_head_bytes = 8;

  [[noreturn]] static void fail() {
    throw Error(ErrorKind::io, "the header of the dataset is not as it was created");
  }

  template <class T>
  static T get(const std::vector<char>& bytes, std::uint64_t at) {
    T value{};
    if (at + sizeof(T) > bytes.size()) fail();
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
  }

  std::vector<char> read(const MessageBlock& block) {
    constexpr std::uint64_t max_bytes = 16 << 20;
    if (block.bytes > max_bytes) fail();
    std::vector<char> bytes(block.bytes);
    file_.seekg(static_cast<std::streamoff>(block.place));
    if (!file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) fail();
    return bytes;
  }

  std::optional<std::vector<ExternalName>> find_in(const MessageBlock& block) {
    constexpr std::uint16_t external_files = 0x0007, continuation = 0x0010;
    const auto bytes = read(block);
    for (std::uint64_t at = 0; at + message_head_bytes <= bytes.size();) {
      const auto type = get<std::uint16_t>(bytes, at), size = get<std::uint16_t>(bytes, at + 2);
      at += message_head_bytes;
      if (type == external_files) return names_of(bytes, at, block.place);
      if (type == continuation)
        blocks_.push_back({get<std::uint64_t>(bytes, at), get<std::uint64_t>(bytes, at + 8)});
      at += size;
    }
    return {};
  }

  static std::vector<ExternalName> names_of(const std::vector<char>& bytes, std::uint64_t message,
                                            std::uint64_t block) {
    constexpr std::uint64_t count_at = 6, slots_at = 16, slot_bytes = 24;
    std::vector<ExternalName> names(get<std::uint16_t>(bytes, message + count_at));
    for (std::uint64_t i = 0; i < names.size(); ++i) {
      const std::uint64_t slot = message + slots_at + i * slot_bytes;
      names[i].place = block + slot;
      names[i].number = get<std::uint64_t>(bytes, slot);
    }
    return names;
  }

  std::ifstream file_;
  std::vector<MessageBlock> blocks_;
};

}  // namespace

void File::create_external_dataset(const DatasetSpec& spec, std::span<const ExternalPart> parts) {
  const LibraryLock lock;
  const auto operation = about("creating dataset " + spec.path);
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, operation);
  check(H5Pset_layout(layout.get(), H5D_CONTIGUOUS), operation);
  check(H5Pset_fill_time(layout.get(), H5D_FILL_TIME_NEVER), operation);
  for (const auto& part : parts)
    check(H5Pset_external(layout.get(), part.file.c_str(), static_cast<off_t>(part.offset),
                          hsize_t{part.bytes}),
          operation);
  create_with(spec, layout);
}

std::vector<ExternalPart> File::all_external_parts(const Handle& set, const Operation& operation) const {
  constexpr std::size_t longest_name = 8192;  // longer ones are cut, and then not found
  const Handle layout(H5Dget_create_plist(set.get()), H5Pclose, operation);
  const int count = H5Pget_external_count(layout.get());
  std::vector<ExternalPart> parts;
  for (int i = 0; i < count; ++i) {
    std::array<char, longest_name> name{};
    off_t offset = 0;
    hsize_t bytes = 0;
    check(H5Pget_external(layout.get(), static_cast<unsigned>(i), name.size() - 1, name.data(), &offset,
                          &bytes),
          operation);
    parts.push_back({.file = name.data(), .offset = static_cast<std::uint64_t>(offset), .bytes = bytes});
  }
  return parts;
}

std::vector<ExternalPart> File::external_parts(const std::string& dataset) const {
  const LibraryLock lock;
  const auto operation = about("places of dataset " + dataset);
  const Handle set = open_dataset(dataset);
  const Handle type(H5Dget_type(set.get()), H5Tclose, operation);
  const std::uint64_t bytes = element_count(shape(dataset)) * H5Tget_size(type.get());
  auto parts = all_external_parts(set, operation);
  std::uint64_t end = 0;
  const auto unused = std::find_if(parts.begin(), parts.end(), [&](const ExternalPart& part) {
    const bool behind = end >= bytes;
    end += part.bytes;
    return behind;
  });
  parts.erase(unused, parts.end());
  return parts;
}

std::vector<ExternalName> File::external_names(const std::string& dataset) const {
  const LibraryLock lock;
  const auto operation = about("places of dataset " + dataset);
  const Handle set = open_dataset(dataset);
  H5O_info_t info;
  check(H5Oget_info1(set.get(), &info), operation);
  const auto parts = all_external_parts(set, operation);
  try {
    auto names = ObjectHeader(path_, info.addr).external_names();
    if (names.size() != parts.size()) throw Error(ErrorKind::io, "its header names another number of files");
    for (std::size_t i = 0; i < names.size(); ++i) names[i].file = parts[i].file;
    return names;
  } catch (const Error& error) {
    throw Error(ErrorInfo{.kind = ErrorKind::io,
                          .message = fmt::format("{}: {}", operation.text, error.info().message),
                          .path = path_,
                          .hint = {}});
  }
}

}  // namespace tailrace::h5
