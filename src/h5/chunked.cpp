// SPDX-License-Identifier: BSD-3-Clause
#include "h5/chunked.hpp"

#include <fmt/format.h>

#include <array>

#include "chunk_filters.hpp"
#include "library.hpp"
#include "tailrace/error.hpp"

namespace tailrace::h5 {

namespace {

const hsize_t* extents_of(const Shape& shape) {
  return reinterpret_cast<const hsize_t*>(shape.data());
}

}  // namespace

void File::create_chunked_dataset(const DatasetSpec& spec, const ChunkLayout& layout) {
  const LibraryLock lock;
  const auto operation = about("creating dataset " + spec.path);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, operation);
  check(H5Pset_chunk(creation.get(), static_cast<int>(layout.chunk.size()), extents_of(layout.chunk)),
        operation);
  if (layout.shuffle) check(H5Pset_shuffle(creation.get()), operation);
  if (layout.deflate >= 0)
    check(H5Pset_deflate(creation.get(), static_cast<unsigned>(layout.deflate)), operation);
  create_with(spec, creation, layout.grows);
}

std::optional<ChunkLayout> File::chunk_layout(const std::string& dataset) const {
  const LibraryLock lock;
  const auto operation = about("layout of " + dataset);
  const Handle set = open_dataset(dataset);
  const Handle creation(H5Dget_create_plist(set.get()), H5Pclose, operation);
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return {};
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank = H5Pget_chunk(creation.get(), static_cast<int>(extents.size()), extents.data());
  if (rank < 0) fail(operation);
  ChunkLayout layout{.chunk = Shape(extents.begin(), extents.begin() + rank)};
  const Handle space(H5Dget_space(set.get()), H5Sclose, operation);
  check(H5Sget_simple_extent_dims(space.get(), nullptr, extents.data()), operation);
  layout.grows = extents[0] == H5S_UNLIMITED;
  if (!read_filters(creation.get(), layout))
    throw Error(ErrorInfo{
        .kind = ErrorKind::input,
        .message = fmt::format("{}: dataset {} has a filter other than shuffle and deflate", path_, dataset),
        .path = path_,
        .hint = "write to a new file"});
  return layout;
}

ChunkedDataset::ChunkedDataset(const File& file, const std::string& dataset)
    : operation_(file.about("writing a chunk of " + dataset)) {
  const LibraryLock lock;
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, operation_);
  check(H5Pset_chunk_cache(access.get(), 1, 0, 0), operation_);  // whole chunks pass it by
  handle_ = Handle(H5Dopen2(file.handle_.get(), dataset.c_str(), access.get()), H5Dclose, operation_);
}

void ChunkedDataset::write_chunk(const Shape& start, std::span<const std::byte> bytes,
                                 std::uint32_t skipped) {
  const LibraryLock lock;
  check(H5Dwrite_chunk(handle_.get(), H5P_DEFAULT, skipped, extents_of(start), bytes.size(), bytes.data()),
        operation_);
}

void ChunkedDataset::grow(std::uint64_t length) {
  const LibraryLock lock;
  const Handle space(H5Dget_space(handle_.get()), H5Sclose, operation_);
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  check(H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr), operation_);
  if (extents[0] >= length) return;
  extents[0] = length;
  check(H5Dset_extent(handle_.get(), extents.data()), operation_);
}

}  // namespace tailrace::h5
