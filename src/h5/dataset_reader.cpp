// SPDX-License-Identifier: BSD-3-Clause
#include "h5/dataset_reader.hpp"

#include <array>

#include "chunk_reader.hpp"
#include "library.hpp"

namespace tailrace::h5 {

namespace {

using Extents = std::array<hsize_t, H5S_MAX_RANK>;

/// Bytes of the chunks in which one value of the slowest index is, of those indices along which there are
/// several chunks. 0 for a dataset that has no chunks.
std::size_t bytes_to_keep(const Handle& set, const Operation& operation) {
  const Handle creation(H5Dget_create_plist(set.get()), H5Pclose, operation);
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return 0;
  const Handle space(H5Dget_space(set.get()), H5Sclose, operation);
  const Handle type(H5Dget_type(set.get()), H5Tclose, operation);
  Extents shape{}, chunk{};
  const int rank = H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
  if (rank < 1 || H5Pget_chunk(creation.get(), rank, chunk.data()) != rank) fail(operation);
  std::size_t bytes = H5Tget_size(type.get());
  bool is_slowest = true;
  for (int axis = 0; axis < rank; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    if (chunk[i] == 0) return 0;  // the file is damaged, which reading it will say
    const std::size_t chunks = (shape[i] + chunk[i] - 1) / chunk[i];
    bytes *= chunk[i] * (is_slowest ? 1 : chunks);
    if (bytes > DatasetReader::max_kept_bytes) return 0;
    is_slowest = is_slowest && chunks <= 1;
  }
  return bytes;
}

}  // namespace

DatasetReader::DatasetReader(const File& file, const std::string& dataset)
    : operation_(file.about("reading dataset " + dataset)) {
  const LibraryLock lock;
  handle_ = file.open_dataset(dataset);
  if (const std::size_t kept_bytes = bytes_to_keep(handle_, operation_); kept_bytes > 0) {
    constexpr std::size_t places = 100'003;  // a prime beyond the number of chunks, so that few share one
    const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, operation_);
    check(H5Pset_chunk_cache(access.get(), places, kept_bytes, 1), operation_);
    handle_ = Handle();  // while it is open, opening it again changes nothing
    handle_ = Handle(H5Dopen2(file.handle_.get(), dataset.c_str(), access.get()), H5Dclose, operation_);
  }
  chunks_ = ChunkReader::of(handle_, operation_);
}

DatasetReader::~DatasetReader() = default;

void DatasetReader::read_bytes(ElementType type, const Shape& start, const Shape& count,
                               std::span<std::byte> out) const {
  if (chunks_ != nullptr && chunks_->read(type, start, count, out)) return;
  const LibraryLock lock;
  read_selection(handle_, operation_, type, start, count, out);
}

}  // namespace tailrace::h5
