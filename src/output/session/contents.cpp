// SPDX-License-Identifier: BSD-3-Clause
#include "output/session/contents.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/box_cover.hpp"
#include "mpi/alike.hpp"
#include "output/core/plan.hpp"
#include "output/registry/options.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

using mpi::Fingerprint;

void add(Fingerprint& digest, const Index3& point) {
  digest.add(point.x, point.y, point.z);
}

void add(Fingerprint& digest, const Selection& selection) {
  digest.add(selection.index());
  if (const auto* points = std::get_if<Points>(&selection))
    for (const auto& point : points->points) add(digest, point);
  if (const auto* boxes = std::get_if<Boxes>(&selection))
    for (const auto& box : boxes->boxes) add(digest, box.lo), add(digest, box.hi);
  if (const auto* rows = std::get_if<Rows>(&selection)) digest.add(rows->components);
}

Fingerprint digest_of(const Frame& frame) {
  Fingerprint digest;
  add(digest, frame.domain);
  for (const double spacing : frame.spacing_m) digest.add(spacing);
  for (const double place : frame.origin_m) digest.add(place);
  return digest.add(frame.time_of_step_0_s, frame.dt_s);
}

Fingerprint digest_of(const std::vector<Stream>& streams) {
  Fingerprint digest;
  for (const auto& [name, quantity, unit, selection, reduction, cadence, datasets, on_failure, growth,
                    offset_cells, asked_in] : streams) {
    digest.add(name, quantity, unit, reduction, cadence.first, cadence.every, cadence.last);
    for (const StepIndex step : cadence.at) digest.add(step);
    add(digest, selection);
    for (const auto& spec : datasets) digest.add(spec.path, h5::to_string(spec.shape), spec.type);
    digest.add(on_failure, growth ? growth->group : "", asked_in);
    for (const double cells : offset_cells) digest.add(cells);
  }
  return digest;
}

Fingerprint digest_of(const WriteOptions& options) {
  Fingerprint digest;
  digest.add(options.strategy, options.buffers, options.group, options.writers, options.send_waits,
             options.sink, options.deflate_level, options.stripe_bytes, options.lustre.count,
             options.lustre.bytes, options.flush_samples, options.bind);
  for (const auto& [key, value] : options.mpi_hints) digest.add(key, value);
  for (const auto& directory : options.directories) digest.add(directory);
  return digest;
}

void check_alike(mpi::CommView comm, const std::string& path, const OutputContents& contents,
                 const WriteOptions& options) {
  const std::array given{
      mpi::Given{"paths", Fingerprint().add(path)}, mpi::Given{"frames", digest_of(contents.frame)},
      mpi::Given{"streams", digest_of(contents.streams)}, mpi::Given{"options", digest_of(options)}};
  const auto differences = mpi::find_differences(comm, given);
  if (differences.empty()) return;
  throw Error(ErrorKind::usage, fmt::format("an output file of different {} on different ranks", differences),
              "the same on all ranks; only the own boxes, and the device, are a rank's own");
}

void check_cover(mpi::CommView comm, const Box& own_box, const Index3& domain) {
  const auto sums =
      mpi::sum(comm, std::vector{corner_sum(own_box), static_cast<std::uint64_t>(own_box.volume())});
  if (sums[0] == corner_sum(Box::whole(domain))) return;
  throw Error(ErrorKind::input,
              fmt::format("the own boxes of all ranks do not cover the domain of {} x {} x {} points once: "
                          "together they have {} points, of {}",
                          domain.x, domain.y, domain.z, sums[1], domain.volume()),
              "each point in the box of one rank; layout::Decomposition cuts a domain so");
}

}  // namespace

WriteOptions check_contents(mpi::CommView comm, const std::string& path, const OutputContents& contents,
                            WriteOptions options) {
  check_alike(comm, path, contents, options);
  options.strategy_given = options.strategy != WriteOptions().strategy;  // that one gives way to the sink's
  fit_strategy(options);
  check_streams(contents.streams, contents.frame.domain).throw_if_any();
  check_cover(comm, contents.own_box, contents.frame.domain);
  return options;
}

}  // namespace tailrace::output
