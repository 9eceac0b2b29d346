// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "output/core/raw_file.hpp"
#include "output/core/sink.hpp"
#include "output/sinks/directory_switch.hpp"
#include "output/sinks/hdf5_layout.hpp"

namespace tailrace::output {

/// Puts the samples at their places in an HDF5 file that nobody has open as such, or in the raw files beside
/// it.
class Hdf5Sink : public Sink, private PlacedFiles {
 public:
  /// Describes how bytes reach the file once it is there. @collective{context.comm}; every rank throws the
  /// same error or none.
  using MakeCall = std::function<std::unique_ptr<WriteCall>()>;

  /// @collective{context.comm}, synchronises; every rank throws the same error or none.
  Hdf5Sink(const SinkContext& context, const MakeCall& make_call)
      : Hdf5Sink(context, Hdf5Layout(context), make_call) {}
  /// Over a file that is laid out. @collective{context.comm}, synchronises; every rank throws the same error
  /// or none.
  Hdf5Sink(const SinkContext& context, Hdf5Layout layout, const MakeCall& make_call);

  Written write(std::span<const Extent> extents, StepIndex step) override;
  void commit_mark(int source, StepIndex steps) override;
  void mark_dropped(int source) override;
  bool fail_over(const RefusedWrite& refusal, StepIndex step) override;
  bool is_unchanged() override;
  void flush() override;
  void publish(mpi::CommView comm, StepIndex steps) override { layout_.publish(comm, steps); }
  void close(mpi::CommView comm, const FileTail& tail, const FileEnd& end) override;
  [[nodiscard]] PlacedFiles* placed() noexcept override { return this; }
  [[nodiscard]] const std::string& warning() const noexcept override { return layout_.warning(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }
  [[nodiscard]] Hdf5Layout& layout() noexcept { return layout_; }

 protected:
  /// Bytes of one of the files that samples go to.
  struct Target {
    RawFile* file = nullptr;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;  ///< that belong there; what follows them has another place
  };
  /// Returns where a dataset continues from one of its bytes. The file stays open until the next but one is
  /// asked for.
  /// @local. Errors (io).
  virtual Target locate(std::size_t dataset, std::int64_t offset_bytes);
  /// Has the system begin to move what was written onto the device. @local
  virtual void start_flush() noexcept;
  /// Ends the writing. @local. Errors (io).
  virtual void close_files();
  using PlacedFiles::Slots;
  [[nodiscard]] Slots commit_mark(int source) const override;
  void mark_recorded(int source, StepIndex steps) override { written_[source].recorded = steps; }
  /// Returns what takes the samples' bytes, to be used for further files.
  [[nodiscard]] const std::shared_ptr<WriteCall>& call() const noexcept { return call_; }

 private:
  std::vector<RawFile*> files() override;
  [[nodiscard]] Place place(std::size_t dataset, std::int64_t offset_bytes) const override {
    const auto rest = from_byte(layout_.places().datasets[dataset], offset_bytes);
    return {.file = rest.file, .offset = rest.offset, .bytes = rest.bytes};
  }

  void open_new_files();
  void start_flush_after(std::int64_t bytes) noexcept;
  std::int64_t gather(const Target& target, std::span<const std::byte> bytes, StepIndex step);
  std::int64_t write_batch(StepIndex step);
  void put_slots(std::int64_t place, int source, StepIndex step);

  /// Describes what has been done for a rank.
  struct WrittenOf {
    StepIndex recorded = 0;
    bool dropped = false;
  };

  Hdf5Layout layout_;
  std::map<int, WrittenOf> written_;  ///< by source: only those whose samples came here
  std::vector<std::uint64_t> slots_;  ///< a rank's part of the commit mark
  std::int64_t unflushed_bytes_ = 0;
  std::shared_ptr<WriteCall> call_, direct_call_;
  std::vector<std::unique_ptr<RawFile>> files_;  ///< the HDF5 file, then raw ones
  std::vector<iovec> buffers_;                   ///< gathered for one write
  RawFile* batch_file_ = nullptr;                ///< into which they go
  std::int64_t first_offset_ = 0, next_offset_ = -1;
  std::optional<DirectorySwitch> switch_;  ///< if streams may go to other directories
  std::vector<std::string> notes_;
};

}  // namespace tailrace::output
