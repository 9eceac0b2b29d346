// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tailrace/dataset.hpp"

namespace tailrace::output {

/// A small dataset that is complete before the first step; rank 0 writes it.
struct StaticDataset {
  h5::DatasetSpec spec;
  std::vector<std::byte> values;
};

/// Describes what the indices along a dimension of a dataset represent.
struct Axis {
  std::string label, unit;
  double origin = 0, spacing = 1;  ///< refers to index 0; between neighbours
  bool even = true;                ///< else `spacing` is the mean
};

/// Describes what the attributes of a group say, where the stream cannot say.
struct GroupWords {
  std::string quantity, selection;
  bool on_grid = true;  ///< the values are at points of the domain
};
/// Describes what a file holds beside the streams.
struct FileHead {
  std::vector<StaticDataset> datasets;
  std::vector<h5::Attribute>
      attributes;  ///< refers to the root; texts known only at the end reserve their bytes here
  std::vector<std::pair<std::string, h5::Attribute>>
      group_attributes;  ///< refers to groups, which are made if need be
  /// Other names of datasets and groups, with what they represent; only in HDF5 files.
  std::vector<std::pair<std::string, std::string>> links = {};
  /// The dimensions of streams' datasets, by path and slowest first, for formats that say; some or none.
  std::map<std::string, std::vector<Axis>> axes;
};

/// Describes what is put into the file when it is closed: replaced root texts and values of small datasets of
/// the head. After a failure of the output only the texts are, so that a dataset such as the number of steps
/// done never claims samples that are not there; the commit mark says then.
struct FileTail {
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<std::pair<std::string, std::vector<std::byte>>> datasets;

  [[nodiscard]] bool empty() const noexcept { return attributes.empty() && datasets.empty(); }
};

/// Paths of the datasets with the steps that a program is to take, if it knows them, and those that it has
/// taken once it has closed the file in good order, 0 before.
inline constexpr const char *steps_path = "/Nt", *steps_done_path = "/t_index";
/// Path of the dataset with the number of steps whose samples each writer has put into the file; see
/// docs/formats/commit_mark.md.
inline constexpr const char* commit_mark_path = "/tailrace_record";
/// Path of the dataset with the first step whose samples each writer may have left out, 0 if none; only where
/// streams may leave samples out.
inline constexpr const char* dropped_path = "/tailrace_dropped";
/// Path of the dataset that says which directories were left for which; only where streams may do so.
inline constexpr const char* switches_path = "/tailrace_switches";

}  // namespace tailrace::output
