// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ownership.hpp"
#include "tailrace/box.hpp"
#include "tailrace/run/case_output.hpp"

namespace tailrace::rehearse {

/// One `--select`: which points of the domain are written.
struct Selection {
  enum class Kind { none, whole, cut, box, boxes, points, varying };
  /// Whose the boxes or points are.
  enum class Share {
    even,    ///< all over the domain
    uneven,  ///< the denser the smaller y and z
    one,     ///< within the part of one rank
  };
  std::string text;  ///< as written, for messages
  Kind kind = Kind::whole;
  std::size_t axis = 0;               ///< refers to a cut
  std::optional<std::int64_t> index;  ///< refers to a cut; the middle if not given
  Box box;
  std::int64_t count = 1;      ///< refers to boxes or points
  std::optional<Index3> size;  ///< refers to the boxes
  Share share = Share::even;
  int owner = -1;  ///< with `Share::one`; -1: the first rank that has points
  std::uint64_t seed = 1;
};

inline constexpr const char* selection_forms =
    "whole, none, varying, x[=I], y[=I], z[=I], box:X0,Y0,Z0,X1,Y1,Z1 (corners, inclusive), "
    "boxes:N[,size=XxYxZ][,share=even|uneven|one][,rank=R][,seed=S], points:N[,share=...][,rank=R][,seed=S]";

/// Reads one selection. Errors (usage).
Selection parse_selection(const std::string& text);

/// Describes what all selections have in common.
struct SelectionContext {
  Index3 cells;
  Ownership ownership = {};
  int ranks = 1;
  std::int64_t data_multiplier = 1;   ///< every dataset is written so often, under names of its own
  std::int64_t write_multiplier = 1;  ///< every dataset is cut into so many
  StepIndex every = 1;
  output::Reduction reduction = output::Reduction::none;
  h5::ElementType type = h5::ElementType::float64;
};

/// The selections as [[output]] tables, a dataset each. The same for the same arguments on every machine;
/// with `Share::one` they depend on the number of ranks. @local. What does not fit into the domain becomes a
/// problem.
std::vector<run::OutputTable> make_tables(const std::vector<Selection>& selections,
                                          const SelectionContext& context, Problems& problems);

/// Says what a row consists of: the number of a point, and its value.
inline constexpr std::int64_t row_components = 2;

/// The quantity that the cube offers, and its unit.
inline constexpr const char* quantity = "v";
inline constexpr const char* unit = "1";

}  // namespace tailrace::rehearse
