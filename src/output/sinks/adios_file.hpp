// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "h5/file.hpp"
#include "h5/hyperslab.hpp"
#include "mpi/file.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::output {

/// An output of ADIOS2's engine BP5, a directory, that the ranks of a communicator write together. Every
/// exception of ADIOS2 becomes an error with the path and its reason, on the ranks that see it: (usage) for a
/// parameter that it refuses, otherwise (io). After one, nothing may be called any more, by no rank.
class AdiosFile {
 public:
  /// Opens it in a directory that is there and empty. @collective{comm}
  AdiosFile(mpi::CommView comm, const std::string& path, const mpi::Hints& parameters);
  AdiosFile(const AdiosFile&) = delete;
  AdiosFile& operator=(const AdiosFile&) = delete;
  /// Leaves an output that was not closed, which is collective, to the end of the process.
  ~AdiosFile() = default;

  /// Defines an array for all steps, a single value if the shape is empty. @local
  void define(const std::string& variable, const h5::Shape& shape, h5::ElementType type);
  /// Gives the output an attribute, or the attribute another value; whoever has it puts it there with the
  /// step that ends next. @local
  void set(const std::string& name, const h5::Attribute& attribute);
  void set(const std::string& name, const h5::Shape& numbers);

  /// When the values are taken from where they are.
  enum class Taken { now, at_end_of_step };
  /// Puts a block of an array into the step. @local
  void put(const std::string& variable, const h5::Hyperslab& block, h5::ElementType type,
           const std::byte* values, Taken taken);
  /// Puts a single value into the step. @local
  void put(const std::string& variable, std::uint64_t value);

  [[nodiscard]] bool in_step() const noexcept { return in_step_; }
  /// @collective{comm}
  void begin_step();
  /// Writes what was put, which then takes no memory any more. @collective{comm}
  void write_now();
  /// Writes the rest and makes the step one that readers see. @collective{comm}
  void end_step();
  /// @collective{comm}
  void close();

 private:
  struct Library;
  Library* library_ = nullptr;  ///< owned until it is closed: its end is collective, too
  std::string path_;
  bool in_step_ = false;
};

}  // namespace tailrace::output
