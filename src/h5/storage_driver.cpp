// SPDX-License-Identifier: BSD-3-Clause
#include "storage_driver.hpp"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>

#include "library.hpp"

namespace tailrace::h5 {

namespace {

/// One opening of a file by the library, which opens some files twice.
struct OpenStorage {
  H5FD_t common{};  // first: the library knows no more of it
  Storage* storage = nullptr;
  haddr_t end = 0;  ///< that of what the library has allocated
  bool written = false;
};

OpenStorage& opened(H5FD_t* file) {
  return *reinterpret_cast<OpenStorage*>(file);
}
const OpenStorage& opened(const H5FD_t* file) {
  return *reinterpret_cast<const OpenStorage*>(file);
}

H5FD_t* open_storage(const char*, unsigned, hid_t access, haddr_t) {
  const auto* const storage = static_cast<Storage* const*>(H5Pget_driver_info(access));
  if (storage == nullptr) return nullptr;
  auto file = std::make_unique<OpenStorage>();
  file->storage = *storage;
  return &file.release()->common;
}

void commit(OpenStorage& file) {
  if (file.written) file.storage->commit(static_cast<std::int64_t>(file.end));
  file.written = false;
}

herr_t close_storage(H5FD_t* file) {
  commit(opened(file));
  const std::unique_ptr<OpenStorage> owner(&opened(file));
  return 0;
}

herr_t flush_storage(H5FD_t* file, hid_t, hbool_t) {
  commit(opened(file));
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* features) {
  // Small structures share blocks. Nothing is gathered behind our back: every write arrives as it is made.
  *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_allocated_end(const H5FD_t* file, H5FD_mem_t) {
  return opened(file).end;
}

herr_t set_allocated_end(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  opened(file).end = end;
  return 0;
}

haddr_t get_end(const H5FD_t* file, H5FD_mem_t) {
  return static_cast<haddr_t>(opened(file).storage->size_bytes());
}

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t size, void* buffer) {
  auto* const out = static_cast<std::byte*>(buffer);
  return opened(file).storage->read(static_cast<std::int64_t>(offset), {out, size}) ? 0 : -1;
}

herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t offset, std::size_t size, const void* buffer) {
  OpenStorage& here = opened(file);
  here.written = true;
  here.storage->write(static_cast<std::int64_t>(offset), {static_cast<const std::byte*>(buffer), size},
                      type == H5FD_MEM_DRAW ? Storage::Content::values : Storage::Content::structure);
  return 0;
}

/// The table of functions through which the library uses a storage.
H5FD_class_t make_driver() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED + 130);  // from those free for own use
#endif
  driver.name = "tailrace";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max());
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(Storage*);
  driver.open = open_storage;
  driver.close = close_storage;
  driver.query = query;
  driver.get_eoa = get_allocated_end;
  driver.set_eoa = set_allocated_end;
  driver.get_eof = get_end;
  driver.read = read;
  driver.write = write;
  driver.flush = flush_storage;
  constexpr H5FD_mem_t dichotomy[] = H5FD_FLMAP_DICHOTOMY;  // values and structure never share freed space
  std::copy(std::begin(dichotomy), std::end(dichotomy), std::begin(driver.fl_map));
  return driver;
}

}  // namespace

Handle access_through(Storage& storage) {
  static const H5FD_class_t driver = make_driver();
  static const hid_t registered = H5FDregister(&driver);
  if (registered < 0) fail("registering a file driver");
  Handle access = access_without_locks();
  const Storage* const info = &storage;
  check(H5Pset_driver(access.get(), registered, &info), "choosing a file driver");
  // A node of a chunk index takes less than a page for up to four extents; aligned, it lies in one page.
  constexpr hsize_t aligned_from_bytes = 2048, page_bytes = 4096;
  check(H5Pset_alignment(access.get(), aligned_from_bytes, page_bytes), "setting the alignment");
  return access;
}

}  // namespace tailrace::h5
