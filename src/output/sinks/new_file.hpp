// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "h5/file.hpp"
#include "output/core/sink.hpp"
#include "tailrace/error.hpp"

/// Describes what the HDF5 sinks do alike: a file's birth and its end.
namespace tailrace::output {

/// Runs `action` on the file; HDF5's errors, which name it in their text only, leave with its path.
template <class Action>
void with_path(const std::string& path, const Action& action) {
  try {
    action();
  } catch (...) {
    auto info = describe_current_exception();
    info.path = path;
    throw Error(info);
  }
}

/// The file's own name behind symbolic links. @local
std::string target_of(const std::string& path);
/// Removes what was left of a file that could not be completed. @local
void remove_file(const std::string& path) noexcept;
/// Puts the head into a new file, but for attributes of groups and links: streams make most groups. @local
void write_head(h5::File& file, const FileHead& head);
/// The rest of the head, when the datasets are there. @local
void write_groups(h5::File& file, const FileHead& head);

using Maker = std::function<void(const std::string& place)>;

/// Makes a file by `make(place)`. It takes its `name` only when it is complete: even a process that is killed
/// here leaves a file that can be read, or none. As long as `prepare(place)` fails, what has the name stays.
/// @local. Errors (io).
void create_complete(const std::string& name, const Maker& make, const Maker& prepare = {});

/// Makes an empty file that lies on the device as the user wants, which is fixed for its life with that, in
/// the place of one that has the name. Does nothing if nothing special is wanted. @local. Errors (io, usage).
void place_on_device(const std::string& path, const WriteOptions& options);

/// Creates an HDF5 file in that way: the head, then what `lay_out` makes. Errors (io).
void create_file(const SinkContext& context, const std::function<void(h5::File&)>& lay_out);

/// The dataset of the commit mark, or another one with a slot for each rank whose samples come.
h5::DatasetSpec commit_mark_spec(int sources, const char* path = commit_mark_path);

/// Puts the tail into a file that nobody else has open: all of it, or after a failure its texts. Errors (io).
void write_tail(const std::string& path, const FileTail& tail, bool complete);

}  // namespace tailrace::output
