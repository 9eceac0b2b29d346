// SPDX-License-Identifier: BSD-3-Clause
#include "ownership.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "numbers.hpp"
#include "tailrace/decomposition.hpp"
#include "tailrace/error.hpp"

namespace tailrace::rehearse {

namespace {

/// Parts of n in proportion to 1, 2, 3, ...
Range growing_part(std::int64_t n, std::int64_t parts, std::int64_t index) {
  const auto begin_of = [&](std::int64_t i) { return n * i * (i + 1) / (parts * (parts + 1)); };
  return {begin_of(index), begin_of(index + 1)};
}

}  // namespace

Box Ownership::box(Index3 cells, int ranks, int rank) const {
  using layout::Axis, layout::Decomposition;
  switch (kind) {
    case Kind::slabs:
      return Decomposition::slab(cells, Axis::z, ranks).box(rank);
    case Kind::pencils:
      return Decomposition::pencil(cells, Axis::x, layout::near_square_grid(ranks)).box(rank);
    case Kind::uneven:
      return layout::with_range(Box::whole(cells), Axis::z, growing_part(cells.z, ranks, rank));
    case Kind::one_owner:
      break;
  }
  return Decomposition::all_on(cells, ranks, owner).box(rank);
}

Ownership parse_ownership(const std::string& text) {
  using Kind = Ownership::Kind;
  if (text == "slabs") return {Kind::slabs};
  if (text == "pencils") return {Kind::pencils};
  if (text == "uneven") return {Kind::uneven};
  const std::string one = "one-owner";
  if (text == one) return {Kind::one_owner};
  if (text.starts_with(one + ":")) {
    constexpr int max_ranks = 1 << 24;
    const auto rank = parse_number<std::int64_t>(text.substr(one.size() + 1), 0, max_ranks);
    if (rank) return {Kind::one_owner, static_cast<int>(*rank)};
  }
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = fmt::format("\"{}\" is no decomposition", text),
                        .path = {},
                        .hint = fmt::format("one of {}", ownership_forms)});
}

}  // namespace tailrace::rehearse
