// SPDX-License-Identifier: BSD-3-Clause
#include "parallel_module.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

/// Compiled and linked with the parallel HDF5 into a module of its own; nothing else of Tailrace is in it.
namespace tailrace::h5 {

namespace {

/// HDF5's error stack.
std::string reason() {
  std::string text;
  const auto add = [](unsigned, const H5E_error2_t* entry, void* out) {
    auto& list = *static_cast<std::string*>(out);
    if (entry->desc != nullptr) list += (list.empty() ? "" : "; ") + std::string(entry->desc);
    return herr_t{0};
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, add, &text);
  H5Eclear2(H5E_DEFAULT);
  return text;
}

[[noreturn]] void fail(const std::string& what, const std::string& words, int left_errno) {
  const bool full = words.find("MPI_ERR_NO_SPACE") != std::string::npos ||
                    words.find("No space left on device") != std::string::npos;
  const int code = full ? ENOSPC : left_errno != 0 ? left_errno : EIO;
  throw std::system_error(code, std::generic_category(), what + " (" + words + ")");
}

/// The result of a call of HDF5, which is negative if it failed.
template <class Result>
Result checked(Result result, const char* what) {
  const int left_errno = errno;
  if (result < 0) fail(what, reason(), left_errno);
  return result;
}

/// Owner of an identifier that is closed without communication.
class Id {
 public:
  using Closer = herr_t (*)(hid_t);
  Id(hid_t id, Closer closer, const char* what) : id_(checked(id, what)), closer_(closer) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}
  Id& operator=(Id&&) = delete;
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  ~Id() {
    if (id_ >= 0) closer_(id_);
  }
  [[nodiscard]] hid_t get() const noexcept { return id_; }

 private:
  hid_t id_;
  Closer closer_;
};

Id transfer_of(H5FD_mpio_xfer_t mode) {
  Id transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose, "making transfer properties");
  checked(H5Pset_dxpl_mpio(transfer.get(), mode), "choosing how ranks write");
  return transfer;
}

/// Access by all ranks, of whom one reads what describes the file.
Id access_of(const ParallelTarget& target) {
  Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "making access properties");
  MPI_Info info = MPI_INFO_NULL;
  if (!target.hints.empty()) MPI_Info_create(&info);
  for (const auto& [key, value] : target.hints) MPI_Info_set(info, key.c_str(), value.c_str());
  const herr_t code = H5Pset_fapl_mpio(access.get(), MPI_Comm_f2c(target.comm), info);  // keeps copies
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  checked(code, "choosing access by MPI-IO");
  checked(H5Pset_all_coll_metadata_ops(access.get(), true), "choosing collective reads of metadata");
  checked(H5Pset_coll_metadata_write(access.get(), true), "choosing collective writes of metadata");
  return access;
}

/// Why HDF5 did not write by all ranks together what it was asked to write so; empty if it did. It falls back
/// without an error, on all ranks.
std::string reason_to_write_alone(hid_t transfer) {
  H5D_mpio_actual_io_mode_t mode = H5D_MPIO_NO_COLLECTIVE;
  checked(H5Pget_mpio_actual_io_mode(transfer, &mode), "asking how ranks wrote");
  if (mode == H5D_MPIO_CONTIGUOUS_COLLECTIVE) return {};
  std::uint32_t here = 0, anywhere = 0;
  checked(H5Pget_mpio_no_collective_cause(transfer, &here, &anywhere), "asking why ranks wrote alone");
  std::string cause = "HDF5's cause " + std::to_string(anywhere);
  if ((anywhere & H5D_MPIO_MPI_OPT_TYPES_ENV_VAR_DISABLED) != 0)
    cause = "the environment variable HDF5_MPI_OPT_TYPES forbids it; unset it";
  return "ranks wrote one by one instead of together: " + cause;
}

/// More blocks than this are selected as single elements where they are small: uniting n blocks takes HDF5 a
/// time that grows with the square of n.
constexpr std::size_t many_hyperslabs = 64;
constexpr std::uint64_t small_hyperslab = 8;

hsize_t elements(std::span<const Hyperslab> hyperslabs) {
  hsize_t total = 0;
  for (const auto& hyperslab : hyperslabs) {
    hsize_t product = 1;
    for (const auto n : hyperslab.count) product *= n;
    total += product;
  }
  return total;
}

/// The coordinates of all elements of the blocks, in order.
std::vector<hsize_t> coordinates(std::span<const Hyperslab> hyperslabs) {
  std::vector<hsize_t> all;
  for (const auto& hyperslab : hyperslabs) {
    std::vector<hsize_t> at(hyperslab.start.begin(), hyperslab.start.end());
    for (hsize_t left = elements({&hyperslab, 1}); left > 0; --left) {
      all.insert(all.end(), at.begin(), at.end());
      for (std::size_t k = at.size(); k-- > 0;) {
        if (++at[k] < hyperslab.start[k] + hyperslab.count[k]) break;
        at[k] = hyperslab.start[k];
      }
    }
  }
  return all;
}

void select(hid_t space, std::span<const Hyperslab> hyperslabs) {
  if (hyperslabs.empty()) {
    checked(H5Sselect_none(space), "selecting nothing");
    return;
  }
  if (hyperslabs[0].start.empty()) return;  // a single value, selected whole
  const hsize_t total = elements(hyperslabs);
  if (hyperslabs.size() > many_hyperslabs && total < small_hyperslab * hyperslabs.size()) {
    const auto points = coordinates(hyperslabs);
    checked(H5Sselect_elements(space, H5S_SELECT_SET, total, points.data()), "selecting elements");
    return;
  }
  H5S_seloper_t operation = H5S_SELECT_SET;
  for (const auto& hyperslab : hyperslabs) {
    const std::vector<hsize_t> start(hyperslab.start.begin(), hyperslab.start.end()),
        count(hyperslab.count.begin(), hyperslab.count.end());
    checked(H5Sselect_hyperslab(space, operation, start.data(), nullptr, count.data(), nullptr),
            "selecting a block");
    operation = H5S_SELECT_OR;
  }
}

/// A dataset that stays open, with its element type.
struct OpenDataset {
  OpenDataset(hid_t file, const std::string& path)
      : name(path),
        set(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose, "opening a dataset"),
        space(H5Dget_space(set.get()), H5Sclose, "reading a dataset's shape"),
        type(H5Dget_type(set.get()), H5Tclose, "reading a dataset's type") {}
  std::string name;
  Id set, space, type;
};

class MpioFile final : public ParallelFile {
 public:
  explicit MpioFile(const ParallelTarget& target)
      : together_(transfer_of(H5FD_MPIO_COLLECTIVE)), alone_(transfer_of(H5FD_MPIO_INDEPENDENT)) {
    file_ = H5Fopen(target.path.c_str(), H5F_ACC_RDWR, access_of(target).get());
    checked(file_, "opening the file");
    for (const auto& path : target.datasets) datasets_.push_back(std::make_unique<OpenDataset>(file_, path));
  }
  /// Closing is collective, even that of a dataset: what is still open is left to HDF5's end, in
  /// MPI_Finalize.
  ~MpioFile() override {
    for (auto& dataset : datasets_) [[maybe_unused]] auto* lost = dataset.release();
  }

  void write(std::size_t dataset, std::span<const Hyperslab> hyperslabs,
             std::span<const std::byte> values) override {
    transfer(*datasets_[dataset], hyperslabs, values, together_.get());
  }
  void write_alone(std::size_t dataset, std::span<const Hyperslab> hyperslabs,
                   std::span<const std::byte> values) override {
    transfer(*datasets_[dataset], hyperslabs, values, alone_.get());
  }
  void close() override {
    datasets_.clear();
    errno = 0;
    checked(H5Fclose(file_), "closing the file");
  }

 private:
  void transfer(const OpenDataset& dataset, std::span<const Hyperslab> hyperslabs,
                std::span<const std::byte> values, hid_t mode) {
    const hsize_t count = elements(hyperslabs);
    const Id memory(H5Screate_simple(1, &count, nullptr), H5Sclose, "describing memory");
    if (count == 0) checked(H5Sselect_none(memory.get()), "selecting no memory");
    select(dataset.space.get(), hyperslabs);
    static constexpr std::byte nothing{};
    const void* const from = values.empty() ? &nothing : values.data();
    errno = 0;
    const bool together = mode == together_.get();
    if (H5Dwrite(dataset.set.get(), dataset.type.get(), memory.get(), dataset.space.get(), mode, from) >= 0) {
      const std::string alone = together ? reason_to_write_alone(mode) : "";
      if (!alone.empty()) fail("writing dataset " + dataset.name, alone, ENOTSUP);
      return;
    }
    const int left_errno = errno;
    const std::string words = reason();
    if (together) catch_up(words);
    fail("writing dataset " + dataset.name, words, left_errno);
  }

  /// HDF5 leaves a collective write that MPI refuses at once. The ranks where it went well continue to the
  /// next collective call, which takes back the view of the file, and would wait there forever.
  void catch_up(const std::string& words) {
    if (words.find("MPI_File_write_at_all failed") == std::string::npos) return;
    void* handle = nullptr;
    if (H5Fget_vfd_handle(file_, H5P_DEFAULT, &handle) >= 0)
      MPI_File_set_view(*static_cast<MPI_File*>(handle), 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  }

  Id together_, alone_;
  hid_t file_ = H5I_INVALID_HID;
  std::vector<std::unique_ptr<OpenDataset>> datasets_;
};

}  // namespace

}  // namespace tailrace::h5

extern "C" tailrace::h5::OpenParallelFile tailrace_open_parallel_file_1;

tailrace::h5::ParallelFile* tailrace_open_parallel_file_1(const tailrace::h5::ParallelTarget& target) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // its words go into the exception
  return new tailrace::h5::MpioFile(target);
}
