// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/box.hpp"

/// Describes what the first level of checkpoints leaves on a node, and the note beside the checkpoints of the
/// run that says where. Nothing here communicates.
namespace tailrace::checkpoint {

/// The note `local.json` in the directory of a run's checkpoints.
struct LocalMark {
  std::string run;        ///< by which a segment names what it leaves on the nodes
  std::string directory;  ///< on each node
};
/// None if there is no note, or none that can be read.
std::optional<LocalMark> read_local_mark(const std::string& checkpoints);
/// Makes the directory if need be. Errors (io).
void write_local_mark(const std::string& checkpoints, const LocalMark& mark);
void remove_local_mark(const std::string& checkpoints);

/// The directory of a segment on a node, and of one node in it: several, where nodes share a file system.
std::string segment_directory(const LocalMark& mark);
std::string node_directory(const LocalMark& mark, std::int64_t node);

/// A part unchanged there: the description, which exists last, and the data beside it.
struct PartFile {
  StepIndex step = 0;
  int rank = 0;
  std::string description, data;
};
/// Returns where the part of a rank is.
PartFile part_file(const std::string& node_directory, StepIndex step, int rank);
/// Makes the directory of a part, and an empty file for its data. Errors (io).
void begin_part(const PartFile& part);
/// All parts that have descriptions, of all nodes that are seen here.
std::vector<PartFile> list_parts(const LocalMark& mark);
/// Removes the parts of all steps before this one. What cannot be removed stays.
void remove_parts_before(const std::string& node_directory, StepIndex step);
/// Removes all that a segment left here.
void remove_segment(const LocalMark& mark);

}  // namespace tailrace::checkpoint
