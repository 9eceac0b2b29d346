// SPDX-License-Identifier: BSD-3-Clause
#include "chunk_reader.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "base/first_error.hpp"
#include "library.hpp"

namespace tailrace::h5 {

namespace {

/// Goes on to the next index of a box, the last axis first. False behind the last one.
bool advance(Shape& index, const Shape& begin, const Shape& end) noexcept {
  for (std::size_t axis = index.size(); axis-- > 0;) {
    if (++index[axis] < end[axis]) return true;
    index[axis] = begin[axis];
  }
  return false;
}

/// The place of an index in an array that begins at `begin`.
std::size_t place_of(const Shape& index, const Shape& begin, const Shape& extents) noexcept {
  std::size_t place = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    place = place * extents[axis] + (index[axis] - begin[axis]);
  return place;
}

/// All threads take chunks: those of this region that wait, or those of one of its own.
template <class Work>
void for_each(std::size_t number, const Work& work) {
  if (omp_in_parallel() != 0) {
#pragma omp taskloop default(shared) grainsize(1)
    for (std::size_t i = 0; i < number; ++i) work(i);
  } else {
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < number; ++i) work(i);
  }
}

void copy_row(ElementType from, const std::byte* row, ElementType to, std::byte* out, std::size_t length) {
  if (from == to) {
    std::memcpy(out, row, length * size_bytes(to));
    return;
  }
  for (std::size_t i = 0; i < length; ++i) {
    float value = 0;
    std::memcpy(&value, row + i * sizeof value, sizeof value);
    const double wide = value;
    std::memcpy(out + i * sizeof wide, &wide, sizeof wide);
  }
}

/// Elements that are taken as they are; `other` for all that HDF5 converts.
ElementType plain_type(const Handle& set, const Operation& operation) {
  const Handle type(H5Dget_type(set.get()), H5Tclose, operation);
  for (const auto plain : {ElementType::float32, ElementType::float64})
    if (H5Tequal(type.get(), native_type(plain)) > 0) return plain;
  return ElementType::other;
}

/// Reads a chunk as it is in the file. The caller has the lock.
herr_t read_stored(hid_t set, const hsize_t* offset, std::uint32_t& skipped, std::span<std::byte> out) {
#ifdef H5Dread_chunk_vers  // since HDF5 2.0 the plain name is that of another function
  return H5Dread_chunk1(set, H5P_DEFAULT, offset, &skipped, out.data());
#else
  return H5Dread_chunk(set, H5P_DEFAULT, offset, &skipped, out.data());
#endif
}

}  // namespace

std::unique_ptr<ChunkReader> ChunkReader::of(const Handle& set, const Operation& operation) {
  const auto type = plain_type(set, operation);
  const Handle creation(H5Dget_create_plist(set.get()), H5Pclose, operation);
  if (type == ElementType::other || H5Pget_layout(creation.get()) != H5D_CHUNKED) return {};
  const auto filters = ChunkFilters::of(creation.get(), size_bytes(type));
  if (!filters) return {};
  const Handle space(H5Dget_space(set.get()), H5Sclose, operation);
  std::array<hsize_t, H5S_MAX_RANK> shape{}, chunk{};
  const int rank = H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
  if (rank < 1 || H5Pget_chunk(creation.get(), rank, chunk.data()) != rank) return {};
  std::size_t bytes = size_bytes(type);
  for (int axis = 0; axis < rank; ++axis) {
    bytes *= chunk[static_cast<std::size_t>(axis)];
    if (bytes == 0 || bytes > max_chunk_bytes) return {};
  }
  return std::unique_ptr<ChunkReader>(new ChunkReader(set.get(), type, {shape.begin(), shape.begin() + rank},
                                                      {chunk.begin(), chunk.begin() + rank}, *filters));
}

ChunkReader::ChunkReader(hid_t set, ElementType type, Shape shape, Shape chunk, ChunkFilters filters)
    : set_(set),
      type_(type),
      shape_(std::move(shape)),
      chunk_(std::move(chunk)),
      filters_(filters),
      chunk_bytes_(std::accumulate(chunk_.begin(), chunk_.end(), size_bytes(type), std::multiplies<>())) {}

/// Converts nothing but what every value survives.
bool ChunkReader::serves(const Request& request) const {
  const bool widens = type_ == ElementType::float32 && request.type == ElementType::float64;
  const std::size_t rank = shape_.size();
  if (!(request.type == type_ || widens) || request.start.size() != rank || request.count.size() != rank)
    return false;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const auto start = request.start[axis], count = request.count[axis];
    if (count == 0 || count > shape_[axis] || start > shape_[axis] - count) return false;
  }
  return true;
}

ChunkReader::Part ChunkReader::part_in(const Shape& chunk, const Request& request) const {
  Part part{.chunk = chunk, .begin = chunk, .end = chunk};
  for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
    const auto first = chunk[axis] * chunk_[axis], last = std::min(first + chunk_[axis], shape_[axis]);
    const auto start = request.start[axis];
    part.begin[axis] = std::max(first, start);
    part.end[axis] = std::min(last, start + request.count[axis]);
    part.is_whole = part.is_whole && part.end[axis] - part.begin[axis] == last - first;
  }
  return part;
}

/// What a hyperslab needs, chunk by chunk; those that were kept for it have their bytes.
std::vector<ChunkReader::Part> ChunkReader::parts_of(const Request& request) {
  Shape begin = request.start, end = request.start;
  for (std::size_t axis = 0; axis < begin.size(); ++axis) {
    begin[axis] = request.start[axis] / chunk_[axis];
    end[axis] = (request.start[axis] + request.count[axis] - 1) / chunk_[axis] + 1;
  }
  std::vector<Part> parts;
  Shape chunk = begin;
  do {
    auto part = part_in(chunk, request);
    if (const auto found = kept_.find(chunk); found != kept_.end()) part.bytes = std::move(found->second);
    parts.push_back(std::move(part));
  } while (advance(chunk, begin, end));
  kept_.clear();
  return parts;
}

bool ChunkReader::read(ElementType type, const Shape& start, const Shape& count, std::span<std::byte> out) {
  const Request request{type, start, count, out};
  if (!serves(request)) return false;
  auto parts = parts_of(request);
  const auto cut = static_cast<std::size_t>(
      std::count_if(parts.begin(), parts.end(), [](const Part& part) { return !part.is_whole; }));
  const bool keeps = cut * chunk_bytes_ <= max_kept_bytes;
  scratch_.resize(static_cast<std::size_t>(std::max(omp_get_max_threads(), omp_get_num_threads())));
  std::atomic<bool> good = true;
  FirstError error;
  for_each(parts.size(), [&](std::size_t i) {
    auto& part = parts[i];
    auto& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
    auto& bytes = part.is_whole || !keeps ? scratch.chunk : part.bytes;
    const bool done = error.guard([&] { good = good && take(part, request, scratch, bytes); });
    if (!done) good = false;
  });
  error.rethrow();
  if (!good) return false;
  for (auto& part : parts)
    if (!part.is_whole && keeps) kept_.emplace(std::move(part.chunk), std::move(part.bytes));
  return true;
}

/// Takes what the hyperslab needs of a chunk, which is loaded into `bytes` unless it was kept.
bool ChunkReader::take(const Part& part, const Request& request, Scratch& scratch,
                       std::vector<std::byte>& bytes) const {
  if (!part.bytes.empty()) {
    copy(part, part.bytes, request);
    return true;
  }
  bytes.resize(chunk_bytes_);
  if (!load(part.chunk, scratch, bytes)) return false;
  copy(part, bytes, request);
  return true;
}

/// A chunk that is missing, or claims to have more bytes than filters can make of it, is left to HDF5.
bool ChunkReader::load(const Shape& chunk, Scratch& scratch, std::span<std::byte> bytes) const {
  Shape origin = chunk;
  for (std::size_t axis = 0; axis < chunk.size(); ++axis) origin[axis] *= chunk_[axis];
  std::uint32_t skipped = 0;
  {
    const LibraryLock lock;
    hsize_t size = 0;
    const auto* const offset = reinterpret_cast<const hsize_t*>(origin.data());
    if (H5Dget_chunk_storage_size(set_, offset, &size) < 0 || size == 0 || size > 2 * max_chunk_bytes)
      return false;
    scratch.stored.resize(size);
    if (read_stored(set_, offset, skipped, scratch.stored) < 0) return false;
  }
  return filters_.undo(scratch.stored, skipped, scratch.shuffled, bytes);
}

/// Copies a part of a chunk, row by row of its last axis.
void ChunkReader::copy(const Part& part, std::span<const std::byte> bytes, const Request& request) const {
  Shape origin = part.chunk, rows = part.end;
  for (std::size_t axis = 0; axis < origin.size(); ++axis) origin[axis] *= chunk_[axis];
  rows.back() = part.begin.back() + 1;
  const std::size_t length = part.end.back() - part.begin.back();
  Shape row = part.begin;
  do {
    copy_row(type_, bytes.data() + place_of(row, origin, chunk_) * size_bytes(type_), request.type,
             request.out.data() + place_of(row, request.start, request.count) * size_bytes(request.type),
             length);
  } while (advance(row, part.begin, rows));
}

}  // namespace tailrace::h5
