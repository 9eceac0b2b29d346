// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/check.hpp"
#include "h5/file.hpp"
#include "library.hpp"
#include "tailrace/error.hpp"

namespace tailrace::h5 {

namespace {

/// Some neighbours in the order of a dataset's elements that also form a box in its index space.
struct Hyperslab {
  Shape start, count;
  std::uint64_t elements = 0;
};

/// The longest slab that begins at element `first` and has at most `most` elements.
Hyperslab next_hyperslab(const Shape& shape, std::uint64_t first, std::uint64_t most) {
  const std::size_t rank = shape.size();
  Hyperslab hyperslab{.start = Shape(rank), .count = Shape(rank, 1), .elements = 1};
  for (std::size_t axis = rank; axis-- > 0; first /= shape[axis]) hyperslab.start[axis] = first % shape[axis];
  for (std::size_t axis = rank; axis-- > 0;) {
    const std::uint64_t count = std::min(shape[axis] - hyperslab.start[axis], most / hyperslab.elements);
    hyperslab.count[axis] = count;
    hyperslab.elements *= count;
    if (count < shape[axis]) break;  // rows of a part of an axis are no neighbours
  }
  return hyperslab;
}

}  // namespace

void File::read_range(const std::string& dataset, std::uint64_t first, std::uint64_t count, ElementType type,
                      std::span<std::byte> out) const {
  const Shape extents = shape(dataset);
  TAILRACE_CHECK(first + count <= element_count(extents), "the range lies in dataset " + dataset);
  TAILRACE_CHECK(count * size_bytes(type) == out.size(), "room for a range of dataset " + dataset);
  for (std::size_t position = 0; count > 0;) {
    const Hyperslab hyperslab = next_hyperslab(extents, first, count);
    const std::size_t bytes = hyperslab.elements * size_bytes(type);
    read_bytes(dataset, type, hyperslab.start, hyperslab.count, out.subspan(position, bytes));
    position += bytes;
    first += hyperslab.elements;
    count -= hyperslab.elements;
  }
}

bool File::has_group(const std::string& path) const {
  const LibraryLock lock;
  if (H5Lexists(handle_.get(), path.c_str(), H5P_DEFAULT) <= 0) return false;
  const hid_t id = H5Gopen2(handle_.get(), path.c_str(), H5P_DEFAULT);
  if (id >= 0) H5Gclose(id);
  return id >= 0;
}

std::vector<std::string> File::dataset_paths() const {
  const LibraryLock lock;
  std::vector<std::string> paths;
  const auto operation = about("listing");
  const herr_t code = H5Lvisit(
      handle_.get(), H5_INDEX_NAME, H5_ITER_INC,
      [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
        static_cast<std::vector<std::string>*>(data)->push_back(std::string("/") + name);
        return 0;
      },
      &paths);
  if (code < 0)
    throw Error(
        ErrorInfo{.kind = ErrorKind::io, .message = operation.text + " failed", .path = path_, .hint = {}});
  std::erase_if(paths, [&](const std::string& path) { return !has_dataset(path); });
  return paths;
}

std::optional<std::uint64_t> File::place(const std::string& dataset) const {
  const LibraryLock lock;
  const auto operation = about("layout of dataset " + dataset);
  const Handle set = open_dataset(dataset);
  const Handle properties(H5Dget_create_plist(set.get()), H5Pclose, operation);
  if (H5Pget_layout(properties.get()) != H5D_CONTIGUOUS || H5Pget_external_count(properties.get()) > 0)
    return {};
  if (!is_native(dataset)) return {};
  const haddr_t offset = H5Dget_offset(set.get());
  if (offset == HADDR_UNDEF) return {};
  return offset;
}

bool File::is_native(const std::string& dataset) const {
  const LibraryLock lock;
  const auto operation = about("type of dataset " + dataset);
  const Handle set = open_dataset(dataset);
  const Handle type(H5Dget_type(set.get()), H5Tclose, operation);
  const Handle native(H5Tget_native_type(type.get(), H5T_DIR_ASCEND), H5Tclose, operation);
  return H5Tequal(type.get(), native.get()) > 0;
}

}  // namespace tailrace::h5
