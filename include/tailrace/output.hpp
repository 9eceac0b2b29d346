// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/stream.hpp"
#include "tailrace/write_options.hpp"

/// Asynchronous output, for programs with a main loop of their own.
namespace tailrace::output {

/// Names the device on which a rank computes, for fields that are in its memory. Samples are packed there,
/// behind what the stream has been given, and copied while the next kernels run.
struct DeviceFields {
  int device = 0;          ///< its index, as CUDA counts the devices of the process
  void* stream = nullptr;  ///< a `cudaStream_t` that computes the fields; null: the default stream
};

/// Describes what goes into an output file, as one rank sees it.
struct OutputContents {
  Frame frame;                  ///< the domain, the spacing and the time step; the same on all ranks
  Box own_box;                  ///< the points of this rank; those of all ranks cover the domain once
  std::vector<Stream> streams;  ///< the same on all ranks; see `make_stream`
  /// For fields in the memory of a device (`FieldView::memory`); it may be there on some ranks only.
  std::optional<DeviceFields> device = {};
};

/// A stream of one quantity with a group of its own in the file: /NAME/values, /NAME/step, /NAME/time_s.
/// @local. Errors (input): a cadence without an end or whose steps do not ascend, several boxes.
/// @param name  of the group; no other stream of the file has it
/// @param quantity  what `OutputFile::sample` asks for
/// @param selection  the whole domain, one box, or points, in global indices
/// @param cadence  the steps at which samples are taken; its end is known
/// @param domain  the points of the whole domain
/// @param type  of the values in the file, float32 or float64, whatever the field has: it is converted
Stream make_stream(const std::string& name, const std::string& quantity, Selection selection, Cadence cadence,
                   Reduction reduction, Index3 domain, h5::ElementType type = h5::ElementType::float32);

/// An HDF5 file that is filled while the program computes. Calls come in this order, all on the thread that
/// initialised MPI:
///
///     // All ranks; the whole layout is in the file then.
///     OutputFile file(comm, "out.h5", contents, options);
///     file.sample(0, field);  // each rank alone, never waiting for another one
///     for (StepIndex step = 1; step <= steps; ++step) {
///       compute();  // writer threads work meanwhile
///       file.sample(step, field);
///     }
///     file.finish(steps);  // all ranks
///
/// `flush` may be anywhere between the first sample and `finish`. A file that is not finished stays valid
/// HDF5, with the samples that were written.
class OutputFile {
 public:
  /// Creates the file, or empties one that exists, and starts the writers. @collective{comm}, synchronises.
  /// Errors (input, usage, io, resource), the same on all ranks: what is wrong with the streams, own boxes
  /// that do not cover the domain once, anything that was to be the same on all ranks and is not, an option
  /// that does not go together with another one, a place that cannot be written, a device that is not there
  /// or has too little memory.
  /// @param comm  the ranks that compute; it is duplicated. Processes that only write are not possible here
  /// @param path  of the file; the same on all ranks
  /// @param options  who writes, and what the file is; the same on all ranks
  OutputFile(mpi::CommView comm, const std::string& path, OutputContents contents,
             const WriteOptions& options);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Copies the samples that are due at `step`, so that the fields may change afterwards. @local. Waits while
  /// no buffer is free; with the strategy `auto` also for ranks that are a step late. Takes nothing
  /// more once the output has `failed`. Errors (usage): `finish` was called.
  /// @param step  number of the state that the fields have; ascending, all steps in which samples are due.
  ///     With `auto`, which decides between calls, other steps on all ranks or on none
  /// @param field  finds the values of a quantity on this rank; called during the call only
  void sample(StepIndex step, const FieldLookup& field);

  /// Returns whether the output has failed on this rank: a write, a field that cannot be sampled, steps that
  /// do not ascend or leave out one that was due. `flush` and `finish` have the reason. @local
  [[nodiscard]] bool failed() const;

  /// Waits until all samples taken so far are on the device, where any process may read them. Returns the
  /// step up to which they are: the last one, but for sinks that keep small samples until more come.
  /// @collective{comm}, synchronises. Errors (io, usage), the same on all ranks: the output has failed on
  /// one.
  StepIndex flush();

  /// Writes the reductions and closes the file. The object takes no more calls, but for `failed`, and refuses
  /// them by an error (usage). @collective{comm}, synchronises. Errors, the same on all ranks: (io, usage) as
  /// `flush`, and where samples that were due up to `last_step` were not taken or the ranks give different
  /// steps; the file says then which samples it holds. (usage) a step before the last one sampled; the file
  /// stays open.
  /// @param last_step  the step of the last state, whether a sample was due or not; the same on all ranks
  void finish(StepIndex last_step);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tailrace::output
