// SPDX-License-Identifier: BSD-3-Clause
#include "h5/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>

#include "base/check.hpp"
#include "library.hpp"
#include "storage_driver.hpp"
#include "tailrace/error.hpp"

namespace tailrace::h5 {

namespace {

ElementType type_of(hid_t type) {
  const auto size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return size == 4 ? ElementType::float32 : size == 8 ? ElementType::float64 : ElementType::other;
    case H5T_INTEGER:
      if (size != 8) return ElementType::other;
      return H5Tget_sign(type) == H5T_SGN_NONE ? ElementType::uint64 : ElementType::int64;
    default:
      return ElementType::other;
  }
}

Handle text_type(std::size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "making a text type");
  check(H5Tset_size(type.get(), bytes), "setting the size of a text type");
  check(H5Tset_strpad(type.get(), H5T_STR_NULLTERM), "setting the padding of a text type");
  return type;
}

Handle simple_space(const Shape& shape, const Operation& operation) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return {H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose, operation};
}

/// Texts in fields of so many bytes, filled up with zeros.
std::vector<char> padded(const std::vector<std::string>& texts, std::size_t bytes) {
  std::vector<char> fields(texts.size() * bytes, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::copy(texts[i].begin(), texts[i].end(), fields.begin() + static_cast<std::ptrdiff_t>(i * bytes));
  return fields;
}

/// Links whose missing groups are made.
Handle link_creation(const Operation& operation) {
  Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose, operation);
  check(H5Pset_create_intermediate_group(links.get(), 1), operation);
  return links;
}

/// Access to objects that does not follow links into other files: they may be pipes, which never answer, or
/// missing where the file has been copied to.
Handle access_within_file() {
  Handle access(H5Pcreate(H5P_LINK_ACCESS), H5Pclose, "making link access properties");
  const auto refuse = [](const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
    return herr_t{-1};
  };
  check(H5Pset_elink_cb(access.get(), refuse, nullptr), "refusing links into other files");
  return access;
}

}  // namespace

std::size_t size_bytes(ElementType type) noexcept {
  switch (type) {
    case ElementType::float32:
      return 4;
    case ElementType::float64:
    case ElementType::int64:
    case ElementType::uint64:
      return 8;
    case ElementType::uint8:
      return 1;
    case ElementType::other:
      return 0;
  }
  return 0;
}

const char* to_string(ElementType type) noexcept {
  switch (type) {
    case ElementType::float32:
      return "32-bit float";
    case ElementType::float64:
      return "64-bit float";
    case ElementType::int64:
      return "64-bit integer";
    case ElementType::uint64:
      return "unsigned 64-bit integer";
    case ElementType::uint8:
      return "unsigned 8-bit integer";
    case ElementType::other:
      return "another type";
  }
  return "another type";
}

std::uint64_t element_count(const Shape& shape) noexcept {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t count = 1;
  for (const auto extent : shape)
    if (__builtin_mul_overflow(count, extent, &count)) return std::numeric_limits<std::uint64_t>::max();
  return count;
}

std::string to_string(const Shape& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

File File::open(const std::string& path) {
  const LibraryLock lock;
  const auto bad = [&](const std::string& why, const std::string& hint) {
    return Error(ErrorInfo{
        .kind = ErrorKind::input, .message = fmt::format("{}: {}", path, why), .path = path, .hint = hint});
  };
  std::error_code code;
  const auto status = std::filesystem::status(path, code);  // to open a pipe would wait for its other end
  if (std::filesystem::is_directory(status)) throw bad("is a directory", "give a k-Wave input file (.h5)");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw bad("is no regular file", "give a k-Wave input file (.h5)");
  std::FILE* probe = std::fopen(path.c_str(), "rb");
  if (probe == nullptr)
    throw bad(fmt::format("cannot be opened: {}", std::strerror(errno)),
              "check the path and the permissions");
  std::fclose(probe);
  if (H5Fis_hdf5(path.c_str()) <= 0) throw bad("is not an HDF5 file", "give a k-Wave input file (.h5)");
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (id < 0)
    throw bad(fmt::format("is damaged or truncated: {}", reason()), "copy or generate the file again");
  return {Handle(id, H5Fclose, "opening"), path};
}

File File::open_for_update(const std::string& path) {
  const LibraryLock lock;
  const Handle access = access_without_locks();
  Handle handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose,
                Operation(path + ": cannot be opened for update", path));
  return {std::move(handle), path};
}

File File::open_for_update(const std::string& path, Storage& storage) {
  const LibraryLock lock;
  const Handle access = access_through(storage);
  Handle handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose,
                Operation(path + ": cannot be opened for update", path));
  return {std::move(handle), path};
}

File File::create(const std::string& path, const std::string& name) {
  const LibraryLock lock;
  // Linux sizes the units of its page cache by the alignment of a write: 256 datasets that take 32 KiB at a
  // time cost half the CPU time when they start at multiples of 64 KiB (docs/explain/output.md).
  constexpr hsize_t aligned_from_bytes = 256 * 1024, alignment_in_file = 64 * 1024;
  const Handle access = access_without_locks();
  check(H5Pset_alignment(access.get(), aligned_from_bytes, alignment_in_file), "setting the alignment");
  errno = 0;
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get());
  if (id < 0)
    throw Error(ErrorInfo{.kind = ErrorKind::io,
                          .message = fmt::format("{}: cannot be created: {}", name,
                                                 errno != 0 ? std::strerror(errno) : reason()),
                          .path = name,
                          .hint = "check that the directory exists, is writable and has space"});
  return {Handle(id, H5Fclose, "creating"), name};
}

void File::flush() {
  const LibraryLock lock;
  check(H5Fflush(handle_.get(), H5F_SCOPE_GLOBAL), about("flushing"));
}

void File::close() {
  handle_.close(about("closing"));
}

Found File::look_up(const std::string& path) const {
  const LibraryLock lock;
  // H5Lexists wants every group on the way to exist.
  for (auto slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (H5Lexists(handle_.get(), path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return Found::nothing;
  if (H5Lexists(handle_.get(), path.c_str(), H5P_DEFAULT) <= 0) return Found::nothing;
  H5L_info_t link;
  if (H5Lget_info(handle_.get(), path.c_str(), &link, H5P_DEFAULT) < 0) return Found::nothing;
  if (link.type == H5L_TYPE_EXTERNAL) return Found::other_file;
  const hid_t id = H5Oopen(handle_.get(), path.c_str(), access_within_file().get());
  if (id < 0) return Found::nothing;
  const bool is_dataset = H5Iget_type(id) == H5I_DATASET;
  H5Oclose(id);
  return is_dataset ? Found::dataset : Found::other_object;
}

std::vector<std::string> File::dataset_names() const {
  const LibraryLock lock;
  std::vector<std::string> names;
  check(H5Literate(
            handle_.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr,
            [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
              static_cast<std::vector<std::string>*>(data)->emplace_back(name);
              return 0;
            },
            &names),
        about("listing"));
  std::erase_if(names, [&](const std::string& name) { return !has_dataset(name); });
  return names;
}

Handle File::open_dataset(const std::string& dataset) const {
  return {H5Dopen2(handle_.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose,
          about("opening dataset " + dataset)};
}

DatasetStorage File::storage(const std::string& dataset) const {
  const LibraryLock lock;
  const auto operation = about("storage of " + dataset);
  const Handle set = open_dataset(dataset);
  const Handle layout(H5Dget_create_plist(set.get()), H5Pclose, operation);
  hsize_t file_bytes = 0;  // a damaged dataset may claim more
  check(H5Fget_filesize(handle_.get(), &file_bytes), operation);
  return {.bytes = std::min<std::uint64_t>(H5Dget_storage_size(set.get()), file_bytes),
          .in_other_files =
              H5Pget_layout(layout.get()) == H5D_VIRTUAL || H5Pget_external_count(layout.get()) > 0};
}

Shape File::shape(const std::string& dataset) const {
  const LibraryLock lock;
  const Handle set = open_dataset(dataset);
  const Handle space(H5Dget_space(set.get()), H5Sclose, about("shape of " + dataset));
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0) fail(about("shape of " + dataset));
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) return {0};
  return {extents.begin(), extents.end()};
}

ElementType File::type(const std::string& dataset) const {
  const LibraryLock lock;
  const Handle set = open_dataset(dataset);
  const Handle type(H5Dget_type(set.get()), H5Tclose, about("type of " + dataset));
  return type_of(type.get());
}

std::string File::type_text(const std::string& dataset) const {
  const LibraryLock lock;
  const Handle set = open_dataset(dataset);
  const Handle type(H5Dget_type(set.get()), H5Tclose, about("type of " + dataset));
  const auto bits = 8 * H5Tget_size(type.get());
  switch (H5Tget_class(type.get())) {
    case H5T_FLOAT:
      return fmt::format("{}-bit float", bits);
    case H5T_INTEGER:
      return fmt::format("{}signed {}-bit integer", H5Tget_sign(type.get()) == H5T_SGN_NONE ? "un" : "",
                         bits);
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return "compounds";
    default:
      return to_string(ElementType::other);
  }
}

std::optional<std::string> File::text_attribute(const std::string& object, const std::string& name) const {
  const LibraryLock lock;
  if (H5Aexists_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT) <= 0) return {};
  const auto operation = about(fmt::format("attribute {} of {}", name, object));
  const Handle attribute(
      H5Aopen_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
      operation);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose, operation);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose, operation);
  if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1) return {};
  if (H5Tget_size(type.get()) > longest_text) return {};
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    check(H5Aread(attribute.get(), type.get(), &text), operation);
    std::string copy = text == nullptr ? "" : text;
    H5free_memory(text);
    return copy;
  }
  std::vector<char> text(H5Tget_size(type.get()) + 1, '\0');
  check(H5Aread(attribute.get(), type.get(), text.data()), operation);
  std::string value(text.data());
  if (H5Tget_strpad(type.get()) == H5T_STR_SPACEPAD) value.resize(value.find_last_not_of(' ') + 1);
  return value;
}

void read_selection(const Handle& set, const Operation& operation, ElementType type, const Shape& start,
                    const Shape& count, std::span<std::byte> out) {
  const Handle file_space(H5Dget_space(set.get()), H5Sclose, operation);
  if (!start.empty())
    check(
        H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, reinterpret_cast<const hsize_t*>(start.data()),
                            nullptr, reinterpret_cast<const hsize_t*>(count.data()), nullptr),
        operation);
  const auto selected = static_cast<std::size_t>(H5Sget_select_npoints(file_space.get()));
  TAILRACE_CHECK(selected * size_bytes(type) == out.size(), operation.text + ": wrong buffer size");
  if (selected == 0) return;
  // Of the shape that is selected: with another one, HDF5 looks for each element of a chunked dataset alone.
  const Handle memory_space =
      start.empty() ? Handle(H5Scopy(file_space.get()), H5Sclose, operation) : simple_space(count, operation);
  if (H5Dread(set.get(), native_type(type), memory_space.get(), file_space.get(), H5P_DEFAULT, out.data()) <
      0)
    fail(operation);
}

void File::read_bytes(const std::string& dataset, ElementType type, const Shape& start, const Shape& count,
                      std::span<std::byte> out) const {
  const LibraryLock lock;
  read_selection(open_dataset(dataset), about("reading dataset " + dataset), type, start, count, out);
}

Handle File::create_with(const DatasetSpec& spec, const Handle& creation, bool grows) {
  const auto operation = about("creating dataset " + spec.path);
  const std::vector<hsize_t> extents(spec.shape.begin(), spec.shape.end());
  auto most = extents;
  if (grows) most.front() = H5S_UNLIMITED;
  const Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), most.data()),
                     H5Sclose, operation);
  const auto links = link_creation(operation);
  check(H5Pset_obj_track_times(creation.get(), 0), operation);  // equal runs give equal files
  Handle set(H5Dcreate2(handle_.get(), spec.path.c_str(), native_type(spec.type), space.get(), links.get(),
                        creation.get(), H5P_DEFAULT),
             H5Dclose, operation);
  for (const auto& attribute : spec.attributes) create_attribute(spec.path, attribute);
  return set;
}

std::optional<std::uint64_t> File::create_dataset(const DatasetSpec& spec) {
  const LibraryLock lock;
  const auto operation = about("creating dataset " + spec.path);
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, operation);
  check(H5Pset_layout(layout.get(), H5D_CONTIGUOUS), operation);
  check(H5Pset_alloc_time(layout.get(), H5D_ALLOC_TIME_EARLY), operation);
  check(H5Pset_fill_time(layout.get(), H5D_FILL_TIME_NEVER), operation);
  const Handle set = create_with(spec, layout);
  if (element_count(spec.shape) == 0) return {};
  const haddr_t offset = H5Dget_offset(set.get());
  if (offset == HADDR_UNDEF) fail({operation.text + ": no offset in the file", path_});
  return offset;
}

void File::create_virtual_dataset(const DatasetSpec& spec, const Shape& count,
                                  std::span<const VirtualPart> parts) {
  const LibraryLock lock;
  const auto operation = about("creating dataset " + spec.path);
  using Extents = std::vector<hsize_t>;
  const Extents box(count.begin(), count.end());
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, operation);
  const Handle space = simple_space(spec.shape, operation), source = simple_space(count, operation);
  for (const auto& part : parts) {
    const Extents start(part.start.begin(), part.start.end());
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, box.data(), nullptr),
          operation);
    check(H5Pset_virtual(layout.get(), space.get(), part.file.c_str(), spec.path.c_str(), source.get()),
          operation);
  }
  create_with(spec, layout);
}

void File::create_view(const DatasetSpec& spec, const ViewedValues& values) {
  const LibraryLock lock;
  const auto operation = about("creating dataset " + spec.path);
  const Shape& shown = values.count.empty() ? values.shape : values.count;
  TAILRACE_CHECK(element_count(spec.shape) == element_count(shown), operation.text + ": another size");
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, operation);
  const Handle space = simple_space(spec.shape, operation), source = simple_space(values.shape, operation);
  if (!values.count.empty()) {
    const std::vector<hsize_t> start(values.start.begin(), values.start.end()),
        count(values.count.begin(), values.count.end());
    check(H5Sselect_hyperslab(source.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
          operation);
  }
  check(H5Pset_virtual(layout.get(), space.get(), values.file.c_str(), values.path.c_str(), source.get()),
        operation);
  create_with(spec, layout);
}

void File::create_growing_view(const DatasetSpec& spec, const std::string& file, const std::string& values) {
  const LibraryLock lock;
  const auto operation = about("creating dataset " + spec.path);
  TAILRACE_CHECK(spec.shape.size() == 2, operation.text + ": no rows");
  std::vector<hsize_t> extents(spec.shape.begin(), spec.shape.end()), most = extents;
  most.front() = H5S_UNLIMITED;
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, operation);
  const Handle space(H5Screate_simple(2, extents.data(), most.data()), H5Sclose, operation);
  const std::array<hsize_t, 2> start{0, 0}, count{H5S_UNLIMITED, 1}, block{1, extents[1]};
  const std::array<hsize_t, 2> stride = block;
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), stride.data(), count.data(),
                            block.data()),
        operation);
  check(H5Pset_virtual(layout.get(), space.get(), file.c_str(), values.c_str(), space.get()), operation);
  create_with(spec, layout, true);
}

std::uint64_t File::header_place(const std::string& dataset) const {
  const LibraryLock lock;
  const auto operation = about("header of dataset " + dataset);
  H5O_info_t info;
  check(H5Oget_info1(open_dataset(dataset).get(), &info), operation);
  return info.addr;
}

void File::write_bytes(const std::string& dataset, ElementType type, std::span<const std::byte> values) {
  const LibraryLock lock;
  const auto operation = about("writing dataset " + dataset);
  const Handle set = open_dataset(dataset);
  const Handle space(H5Dget_space(set.get()), H5Sclose, operation);
  const auto wanted = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())) * size_bytes(type);
  TAILRACE_CHECK(wanted == values.size(), operation.text + ": wrong number of values");
  check(H5Dwrite(set.get(), native_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), operation);
}

void File::create_attribute(const std::string& object, const Attribute& attribute) {
  const LibraryLock lock;
  const auto operation = about(fmt::format("writing attribute {} of {}", attribute.name, object));
  const Handle target(H5Oopen(handle_.get(), object.c_str(), H5P_DEFAULT), H5Oclose, operation);
  const auto create = [&](hid_t type, const void* value, std::size_t count = 0) {
    const hsize_t extent = count;
    const Handle space(count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, nullptr), H5Sclose,
                       operation);
    const Handle made(
        H5Acreate2(target.get(), attribute.name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose, operation);
    check(H5Awrite(made.get(), type, value), operation);
  };
  if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    const auto bytes = std::max(attribute.reserved_bytes, text->size() + 1);
    create(text_type(bytes).get(), padded({*text}, bytes).data());
  } else if (const auto* real = std::get_if<double>(&attribute.value)) {
    create(H5T_NATIVE_DOUBLE, real);
  } else if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) {
    create(H5T_NATIVE_INT64, integer);
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.value)) {
    std::size_t bytes = 1;
    for (const auto& one : *texts) bytes = std::max(bytes, one.size() + 1);
    create(text_type(bytes).get(), padded(*texts, bytes).data(), texts->size());
  } else {
    const auto& integers = std::get<std::vector<std::int64_t>>(attribute.value);
    create(H5T_NATIVE_INT64, integers.data(), integers.size());
  }
}

void File::create_group(const std::string& path) {
  if (has_group(path)) return;
  const LibraryLock lock;
  const auto operation = about(fmt::format("creating group {}", path));
  const auto links = link_creation(operation);
  Handle(H5Gcreate2(handle_.get(), path.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT), H5Gclose, operation)
      .close(operation);
}

void File::create_soft_link(const std::string& path, const std::string& target) {
  const LibraryLock lock;
  const auto operation = about(fmt::format("creating link {} to {}", path, target));
  const auto links = link_creation(operation);
  check(H5Lcreate_soft(target.c_str(), handle_.get(), path.c_str(), links.get(), H5P_DEFAULT), operation);
}

void File::update_text_attribute(const std::string& object, const std::string& name,
                                 const std::string& text) {
  const LibraryLock lock;
  const auto operation = about(fmt::format("updating attribute {} of {}", name, object));
  const Handle attribute(
      H5Aopen_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
      operation);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose, operation);
  std::vector<char> value(H5Tget_size(type.get()), '\0');
  std::copy_n(text.begin(), std::min(text.size(), value.size() - 1), value.begin());
  check(H5Awrite(attribute.get(), type.get(), value.data()), operation);
}

}  // namespace tailrace::h5
