// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "h5/file.hpp"
#include "h5/growing_file.hpp"
#include "output/core/plan.hpp"
#include "output/sinks/hdf5_file.hpp"

/// Rows of any number, in a file for each stream of them beside the HDF5 file, in which a virtual dataset
/// shows them (docs/formats/growing.md).
namespace tailrace::output {

/// The directory of these files: the output's name with ".rows" behind it.
std::string rows_directory(const std::string& path);
std::string rows_path(const std::string& path, const PlannedStream& stream);

/// Creates the file of a stream and what shows it; returns where its rows go, in file number `file`. @local.
/// Errors (io).
FileExtents create_rows(h5::File& file, const std::string& path, const PlannedStream& stream,
                        std::size_t number);
/// Creates what counts the rows of all streams, and adds the places of it behind those of the streams. @local
void create_row_counts(h5::File& file, const Plan& plan, Hdf5Places& places);
/// Finds the places again, of all streams, in a file that an earlier run left: those of the streams are there
/// and get their values. @local. Errors (input, usage): the file has its rows elsewhere, or lacks them.
void find_rows(const h5::File& file, const std::string& path, const Plan& plan, Hdf5Places& places);
/// Rows that the file of a stream has up to a step. @local. Errors (input).
std::int64_t rows_until(const std::string& path, const PlannedStream& stream, StepIndex step);
/// Makes the file of a stream as long as its next head says, unless it is longer: HDF5 opens no file that is
/// shorter than that, and rows of other ranks may come later than the head. What fails, a write will say.
/// @local, before any rank may write rows behind that end.
void lengthen_rows(const std::string& rows, const h5::GrowingHead& head, std::int64_t count) noexcept;
/// Removes the files of an output that is replaced. @local
void discard_rows(const std::string& path) noexcept;

}  // namespace tailrace::output
