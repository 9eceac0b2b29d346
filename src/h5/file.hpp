// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tailrace/dataset.hpp"

/// Serial HDF5 behind owning handles. Every call is checked; HDF5's own error stack goes into the exception.
/// No function here communicates. Threads may call it at the same time, each with files of its own: they take
/// turns, as most builds of the library are for one thread.
namespace tailrace::h5 {

/// Describes what is being done to which file, for the error if it fails.
struct Operation {
  Operation(std::string what, std::string file = {})
      : text(std::move(what)), path(std::move(file)) {}  // NOLINT: a text is enough
  Operation(const char* what) : text(what) {}            // NOLINT
  std::string text, path;
};

/// Owner of any HDF5 identifier.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);
  Handle() = default;
  /// Takes over `id`; throws `Error` (io) with HDF5's reason if it is invalid.
  Handle(hid_t id, Closer closer, const Operation& operation);
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(std::exchange(other.closer_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();

  [[nodiscard]] hid_t get() const noexcept { return id_; }
  /// Closes now and reports a failure, which the destructor cannot.
  void close(const Operation& operation);

 private:
  hid_t id_ = H5I_INVALID_HID;
  Closer closer_ = nullptr;
};

/// Describes what a name in a file represents.
enum class Found {
  nothing,       ///< no such name, or a link that leads nowhere
  dataset,       ///< a dataset of this file
  other_object,  ///< a group or a type
  other_file,    ///< a link into another file, which is not followed
};

/// Describes where the values of a dataset lie.
struct DatasetStorage {
  std::uint64_t bytes = 0;      ///< in the file, compressed where it is
  bool in_other_files = false;  ///< as external or virtual storage
};

/// Bytes of a dataset that are in a plain file beside the HDF5 file.
struct ExternalPart {
  std::string file;  ///< as HDF5 has the name; readers take a relative one from their working directory
  std::uint64_t offset = 0, bytes = 0;
};

/// Describes where the HDF5 file says in which file an external part of a dataset is: eight bytes with a
/// number that means the same name to all parts of the dataset.
struct ExternalName {
  std::string file;          ///< the name
  std::uint64_t place = 0;   ///< refers to the bytes in the HDF5 file
  std::uint64_t number = 0;  ///< that is there
};

/// A box of a dataset whose values are in another file, in a dataset of the same path and of the box's
/// size.
struct VirtualPart {
  std::string file;  ///< seen from the directory of the file with the dataset
  Shape start;       ///< the first element of the box
};

/// Values of a dataset in another file: all, or those of a box.
struct ViewedValues {
  std::string file;        ///< seen from the directory of the file that shows them
  std::string path;        ///< of the dataset
  Shape shape;             ///< of the dataset
  Shape start{}, count{};  ///< of the box; empty: all
};

class Storage;
struct ChunkLayout;
class ChunkedDataset;
class DatasetReader;

/// One HDF5 file.
class File {
 public:
  static constexpr std::size_t longest_text = 1 << 20;

  /// Opens for reading. Links into other files are not followed. Errors (input): missing, unreadable, no
  /// regular file, not HDF5, truncated.
  static File open(const std::string& path);
  /// Opens an existing file for changes in place.
  static File open_for_update(const std::string& path);
  /// The same with all access through `storage`, which outlives the file; `path` is in messages only.
  static File open_for_update(const std::string& path, Storage& storage);
  /// Creates or truncates a file; datasets of 256 KiB and more start at multiples of 64 KiB, so that the page
  /// cache can hold their samples in few large blocks.
  static File create(const std::string& path) { return create(path, path); }
  /// The same for a file that takes its final `name`, which is in messages, later.
  static File create(const std::string& path, const std::string& name);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Writes everything to the operating system.
  void flush();
  /// Writes everything to the operating system and closes; errors are reported here.
  void close();

  [[nodiscard]] Found look_up(const std::string& path) const;
  [[nodiscard]] bool has_dataset(const std::string& path) const { return look_up(path) == Found::dataset; }
  [[nodiscard]] std::vector<std::string> dataset_names() const;  ///< refers to the root group
  [[nodiscard]] bool has_group(const std::string& path) const;
  /// The absolute paths of all datasets, in whichever group.
  [[nodiscard]] std::vector<std::string> dataset_paths() const;
  [[nodiscard]] Shape shape(const std::string& dataset) const;
  [[nodiscard]] ElementType type(const std::string& dataset) const;
  /// The element type in words, whatever it is, for messages.
  [[nodiscard]] std::string type_text(const std::string& dataset) const;
  [[nodiscard]] DatasetStorage storage(const std::string& dataset) const;
  /// Text of an attribute, with or without a terminator in the file; nothing if it is missing, is no text or
  /// is longer than `longest_text` bytes.
  [[nodiscard]] std::optional<std::string> text_attribute(const std::string& object,
                                                          const std::string& name) const;

  /// Reads a whole dataset, converted to T. `out` holds as many elements as the dataset.
  template <class T>
  void read(const std::string& dataset, std::span<T> out) const {
    read_bytes(dataset, element_type_of<T>(), {}, {}, std::as_writable_bytes(out));
  }
  /// Reads a hyperslab, converted to T. `out` holds the product of `count` elements.
  template <class T>
  void read_hyperslab(const std::string& dataset, const Shape& start, const Shape& count,
                      std::span<T> out) const {
    read_bytes(dataset, element_type_of<T>(), start, count, std::as_writable_bytes(out));
  }

  /// Reads `count` elements of a dataset from number `first` on, counted in the order of its last index
  /// fastest, converted to `type`, whatever its shape and its layout in the file. `out` holds `count`
  /// elements.
  void read_range(const std::string& dataset, std::uint64_t first, std::uint64_t count, ElementType type,
                  std::span<std::byte> out) const;
  /// Returns where the first byte of a dataset is, if it can be written in place: one extent of the file,
  /// allocated, its elements as this machine has them in memory.
  [[nodiscard]] std::optional<std::uint64_t> place(const std::string& dataset) const;
  /// As `read_hyperslab`, for elements whose type is known only at run time.
  void read_hyperslab_bytes(const std::string& dataset, ElementType type, const Shape& start,
                            const Shape& count, std::span<std::byte> out) const {
    read_bytes(dataset, type, start, count, out);
  }

  /// Creates a contiguous, allocated, never filled dataset; returns the offset of its first byte in the file,
  /// nothing for an empty one.
  std::optional<std::uint64_t> create_dataset(const DatasetSpec& spec);
  /// Creates a contiguous dataset whose bytes are in other files, part after part; they are not touched.
  /// Parts behind its last byte are never read; only `external_names` states them.
  void create_external_dataset(const DatasetSpec& spec, std::span<const ExternalPart> parts);
  /// The other files in which the bytes of a contiguous dataset are, none if it has none there.
  [[nodiscard]] std::vector<ExternalPart> external_parts(const std::string& dataset) const;
  /// The names of these parts, in the same order, and of those behind the last byte, of a dataset that this
  /// library has created. Errors (io): they are not where the format has them.
  [[nodiscard]] std::vector<ExternalName> external_names(const std::string& dataset) const;
  /// Returns whether the elements of a dataset are as this machine has them in memory.
  [[nodiscard]] bool is_native(const std::string& dataset) const;
  /// Creates a dataset of chunks that take space when they are written: with at least one element, unless it
  /// grows.
  void create_chunked_dataset(const DatasetSpec& spec, const ChunkLayout& layout);
  /// Creates a dataset of which this file holds no values but says where they are: in `parts`, all of the
  /// size `count`. What is in files that are missing reads as 0.
  void create_virtual_dataset(const DatasetSpec& spec, const Shape& count,
                              std::span<const VirtualPart> parts);
  /// Creates a dataset that shows values of another one in the shape of its own.
  void create_view(const DatasetSpec& spec, const ViewedValues& values);
  /// The same of one whose first extent grows in the other file, and with it that of this one: both are as
  /// long as the other file has it.
  void create_growing_view(const DatasetSpec& spec, const std::string& file, const std::string& values);
  /// Returns where the header of a dataset begins in the file.
  [[nodiscard]] std::uint64_t header_place(const std::string& dataset) const;
  /// Returns how a dataset is cut into chunks; nothing if it is not. Errors (input): filters unknown here.
  [[nodiscard]] std::optional<ChunkLayout> chunk_layout(const std::string& dataset) const;
  template <class T>
  void write(const std::string& dataset, std::span<const T> values) {
    write_bytes(dataset, element_type_of<T>(), std::as_bytes(values));
  }
  /// As `write`, for values whose type is known only at run time.
  void write_bytes(const std::string& dataset, ElementType type, std::span<const std::byte> values);
  /// Creates a group, and those above it that are missing. It may exist.
  void create_group(const std::string& path);
  /// Makes `path` another name of `target`, an absolute path of this file that need not exist yet; missing
  /// groups are made.
  void create_soft_link(const std::string& path, const std::string& target);
  /// Creates an attribute of an object ("/" for the root).
  void create_attribute(const std::string& object, const Attribute& attribute);
  /// Replaces the text of an attribute within its reserved bytes.
  void update_text_attribute(const std::string& object, const std::string& name, const std::string& text);

 private:
  friend class ChunkedDataset;
  friend class DatasetReader;
  File(Handle handle, std::string path) : handle_(std::move(handle)), path_(std::move(path)) {}
  void read_bytes(const std::string& dataset, ElementType type, const Shape& start, const Shape& count,
                  std::span<std::byte> out) const;
  [[nodiscard]] std::vector<ExternalPart> all_external_parts(const Handle& set,
                                                             const Operation& operation) const;
  [[nodiscard]] Handle open_dataset(const std::string& dataset) const;
  Handle create_with(const DatasetSpec& spec, const Handle& creation, bool grows = false);
  /// An operation on this file, by name.
  [[nodiscard]] Operation about(const std::string& what) const { return {path_ + ": " + what, path_}; }

  Handle handle_;
  std::string path_;
};

/// Version of the HDF5 library in use.
std::string library_version();

}  // namespace tailrace::h5
