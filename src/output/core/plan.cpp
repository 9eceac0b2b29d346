// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "base/system.hpp"
#include "output/core/accumulator.hpp"
#include "output/core/staging.hpp"

namespace tailrace::output {

const char* to_string(Reduction reduction) noexcept {
  switch (reduction) {
    case Reduction::none:
      return "none";
    case Reduction::min:
      return "min";
    case Reduction::max:
      return "max";
    case Reduction::rms:
      return "rms";
    case Reduction::mean:
      return "mean";
    case Reduction::final:
      return "final";
  }
  return "none";
}

const char* to_string(OnFailure policy) noexcept {
  switch (policy) {
    case OnFailure::stop:
      return "stop";
    case OnFailure::retry:
      return "retry";
    case OnFailure::switch_directory:
      return "switch";
    case OnFailure::drop:
      return "drop";
  }
  return "stop";
}

namespace {

/// Reductions are written through buffers of at most this size when no sample needs a larger one.
constexpr std::int64_t reduction_chunk_bytes = 4 << 20;

std::string text_of(Index3 p) {
  return fmt::format("(x={}, y={}, z={})", p.x, p.y, p.z);
}

/// Writes of this size and more cost no more per byte than larger ones (docs/explain/output.md).
constexpr std::int64_t efficient_write_bytes = 128 << 10;
/// Buffers do not grow beyond this only to make writes larger.
constexpr std::int64_t max_gathered_bytes = 32 << 20;
constexpr std::int64_t max_steps_per_buffer = 64;

/// Elements of a share of which nobody knows how many come.
constexpr std::int64_t open_elements = std::int64_t{1} << 58;

/// True if the samples of the share touch each other in the file, so that those of several steps can be
/// written at once.
bool touches_next_sample(const Share& share) noexcept {
  return share.values == share.part_values;
}

std::int64_t size_of(h5::ElementType type) noexcept {
  return static_cast<std::int64_t>(h5::size_bytes(type));
}

/// Elements of each part of a selection with places, over all ranks.
std::vector<std::int64_t> part_sizes(const Selection& selection, Index3 domain) {
  if (const auto* points = std::get_if<Points>(&selection))
    return {static_cast<std::int64_t>(points->points.size())};
  if (const auto* boxes = std::get_if<Boxes>(&selection)) {
    std::vector<std::int64_t> sizes;
    for (const auto& box : boxes->boxes) sizes.push_back(box.volume());
    return sizes;
  }
  return {domain.volume()};
}

void check_points(const Points& points, Index3 domain, Problems& problems) {
  const Box whole = Box::whole(domain);
  std::size_t outside = 0, first = 0;
  for (std::size_t i = 0; i < points.points.size(); ++i)
    if (!whole.contains(points.points[i]) && outside++ == 0) first = i;
  if (outside == 0) return;
  problems.add(
      fmt::format("{} points lie outside the domain, first point number {} at {}", outside, first,
                  text_of(points.points[first])),
      fmt::format("indices count from 0; the domain has {} x {} x {} points", domain.x, domain.y, domain.z));
}

void check_boxes(const Boxes& boxes, Index3 domain, Problems& problems) {
  const Box whole = Box::whole(domain);
  for (std::size_t i = 0; i < boxes.boxes.size(); ++i) {
    const Box& box = boxes.boxes[i];
    const auto name = fmt::format("box {} from {} up to {}, exclusive", i, text_of(box.lo), text_of(box.hi));
    if (box.empty())
      problems.add(name + " is empty", "give the corner with the smaller indices first");
    else if (intersect(box, whole) != box)
      problems.add(name + " reaches outside the domain",
                   fmt::format("the domain has {} x {} x {} points", domain.x, domain.y, domain.z));
  }
}

void check_rows(const Stream& stream, const Rows& rows, std::set<std::string>& paths, Problems& problems) {
  const bool one = stream.datasets.size() == 1 && rows.components > 0;
  if (!one || stream.datasets[0].shape != h5::Shape{0, static_cast<std::uint64_t>(rows.components)})
    problems.add(fmt::format("rows of {} components have not one dataset for them", rows.components),
                 "give one dataset of shape (0, components), and at least one component");
  for (const auto& spec : stream.datasets)
    if (!paths.insert(spec.path).second) problems.add(fmt::format("dataset {} is named twice", spec.path));
}

/// Finds out what holds for streams that grow, and for no others.
void check_growth(const Stream& stream, Problems& problems) {
  const bool grows = stream.cadence.is_open() || std::holds_alternative<Rows>(stream.selection);
  if (grows && stream.reduction != Reduction::none)
    problems.add(
        fmt::format("reduction {} of samples whose number or size is not known", to_string(stream.reduction)),
        "give the last step, and points that have places");
  if (grows != stream.growth.has_value())
    problems.add(grows ? "a stream that grows has no group for its steps"
                       : "a stream that does not grow has a group to count its samples in",
                 "give `growth` to streams whose samples have no known number or size");
}

void check_datasets(const Stream& stream, Index3 domain, std::set<std::string>& paths, Problems& problems) {
  if (const auto* rows = std::get_if<Rows>(&stream.selection))
    return check_rows(stream, *rows, paths, problems);
  const auto sizes = part_sizes(stream.selection, domain);
  if (sizes.size() != stream.datasets.size()) {
    problems.add(
        fmt::format("{} datasets for {} parts of the selection", stream.datasets.size(), sizes.size()),
        "give one dataset per box, or one for points and whole");
    return;
  }
  const bool open = stream.cadence.is_open();
  const std::int64_t samples = stream.reduction == Reduction::none && !open ? stream.cadence.samples() : 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto spec = stream.datasets[i];
    if (open && (spec.shape.empty() || std::exchange(spec.shape.front(), 1) != 0))
      problems.add(fmt::format("dataset {} of shape {} of a number of samples that is not known", spec.path,
                               h5::to_string(stream.datasets[i].shape)),
                   "let the first index count the samples, from 0 on");
    if (!paths.insert(spec.path).second) problems.add(fmt::format("dataset {} is named twice", spec.path));
    if (spec.type != h5::ElementType::float32 && spec.type != h5::ElementType::float64)
      problems.add(fmt::format("dataset {} has elements of {}", spec.path, h5::to_string(spec.type)),
                   "take 32-bit or 64-bit floats");
    const auto elements = static_cast<std::int64_t>(h5::element_count(spec.shape));
    if (elements != samples * sizes[i])
      problems.add(fmt::format("dataset {} of shape {} has {} elements, but {} samples of {} values come",
                               spec.path, h5::to_string(spec.shape), elements, samples, sizes[i]));
  }
}

/// The rows of `block`, a part of `part`, as runs in the order of the part's values.
std::vector<Run> block_runs(const Box& block, const Box& part) {
  const Index3 extents = part.extents();
  const std::int64_t length = block.x().size();
  std::vector<Run> runs;
  for (std::int64_t z = block.lo.z; z < block.hi.z; ++z) {
    for (std::int64_t y = block.lo.y; y < block.hi.y; ++y) {
      const std::int64_t offset =
          ((z - part.lo.z) * extents.y + (y - part.lo.y)) * extents.x + (block.lo.x - part.lo.x);
      if (!runs.empty() && runs.back().offset + runs.back().length == offset)
        runs.back().length += length;
      else
        runs.push_back({offset, length});
    }
  }
  runs.shrink_to_fit();
  return runs;
}

Share block_share(const Box& part, const Box& own) {
  Share share;
  share.block = intersect(part, own);
  share.part_values = part.volume();
  share.values = share.block.volume();
  if (share.values > 0) share.runs = block_runs(share.block, part);
  return share;
}

Share points_share(const std::vector<Index3>& points, const Box& own) {
  Share share;
  share.part_values = static_cast<std::int64_t>(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!own.contains(points[i])) continue;
    const auto local = [](std::int64_t value, std::int64_t lo) {
      return static_cast<std::int32_t>(value - lo);
    };
    share.points.push_back(
        {local(points[i].x, own.lo.x), local(points[i].y, own.lo.y), local(points[i].z, own.lo.z)});
    const auto place = static_cast<std::int64_t>(i);
    if (!share.runs.empty() && share.runs.back().offset + share.runs.back().length == place)
      ++share.runs.back().length;
    else
      share.runs.push_back({place, 1});
  }
  share.values = static_cast<std::int64_t>(share.points.size());
  share.points.shrink_to_fit();
  share.runs.shrink_to_fit();
  return share;
}

PlannedStream resolve(Stream&& stream, const Box& own, Index3 domain, std::size_t first_dataset) {
  PlannedStream planned{.name = std::move(stream.name),
                        .quantity = std::move(stream.quantity),
                        .unit = std::move(stream.unit),
                        .reduction = stream.reduction,
                        .cadence = stream.cadence,
                        .datasets = std::move(stream.datasets),
                        .shares = {},
                        .on_failure = stream.on_failure,
                        .growth = std::move(stream.growth),
                        .asked_in = std::move(stream.asked_in)};
  if (const auto* rows = std::get_if<Rows>(&stream.selection)) {
    planned.components = rows->components;
    return planned;
  }
  const auto keep = [&](Share share, std::size_t part) {
    if (share.values == 0) return;
    share.dataset = first_dataset + part;
    share.type = planned.datasets[part].type;
    share.on_failure = planned.on_failure;
    planned.shares.push_back(std::move(share));
  };
  if (const auto* points = std::get_if<Points>(&stream.selection)) {
    keep(points_share(points->points, own), 0);
  } else if (const auto* boxes = std::get_if<Boxes>(&stream.selection)) {
    for (std::size_t i = 0; i < boxes->boxes.size(); ++i) keep(block_share(boxes->boxes[i], own), i);
  } else {
    keep(block_share(Box::whole(domain), own), 0);
  }
  return planned;
}

}  // namespace

std::int64_t PlannedStream::sample_bytes() const noexcept {
  std::int64_t bytes = 0;
  for (const auto& share : shares) bytes += share.bytes();
  return bytes;
}

std::int64_t PlannedStream::row_bytes() const noexcept {
  return components * size_of(datasets.front().type);
}

std::int64_t Plan::step_bytes() const noexcept {
  std::int64_t bytes = 0;
  for (const auto& stream : streams)
    if (stream.reduction == Reduction::none)
      for (const auto& share : stream.shares) bytes += share.staged_bytes();
  return bytes;
}

std::int64_t Plan::steps_per_buffer() const noexcept {
  const std::int64_t step = step_bytes();
  if (step == 0) return 1;
  // The writes of a step: each of the shares that could grow over several steps, or all of it.
  std::int64_t bytes = 0, shares = 0;
  for (const auto& stream : streams)
    for (const auto& share : stream.shares)
      if (stream.reduction == Reduction::none && touches_next_sample(share)) bytes += share.bytes(), ++shares;
  const std::int64_t write = shares > 0 ? bytes / shares : step;
  const std::int64_t wanted = (efficient_write_bytes + write - 1) / write;
  return std::clamp(std::min(wanted, max_gathered_bytes / step), std::int64_t{1}, max_steps_per_buffer);
}

std::int64_t Plan::staging_bytes() const noexcept {
  std::int64_t reduced = 0;
  for (const auto& stream : streams)
    if (stream.reduction != Reduction::none)
      for (const auto& share : stream.shares) reduced += share.staged_bytes();
  return std::max(steps_per_buffer() * step_bytes(), std::min(reduced, reduction_chunk_bytes));
}

std::size_t Plan::staged_extents_per_buffer() const noexcept {
  std::size_t shares = 0;
  for (const auto& stream : streams) shares += stream.shares.size();
  return static_cast<std::size_t>(steps_per_buffer()) * shares;
}

std::int64_t Plan::accumulator_bytes() const noexcept {
  std::int64_t bytes = 0;
  for (const auto& stream : streams)
    if (stream.reduction != Reduction::none && stream.reduction != Reduction::final)
      for (const auto& share : stream.shares) bytes += Accumulator::bytes(share, stream.reduction);
  return bytes;
}

std::int64_t Plan::memory_bytes(int buffers) const noexcept {
  std::size_t lists = 0;
  for (const auto& stream : streams)
    for (const auto& share : stream.shares)
      lists += sizeof(Share) + share.points.size() * sizeof(LocalPoint) + share.runs.size() * sizeof(Run) +
               static_cast<std::size_t>(buffers * steps_per_buffer()) * sizeof(StagedExtent);
  return buffers * staging_bytes() + accumulator_bytes() + static_cast<std::int64_t>(lists);
}

std::int64_t Plan::total_bytes() const noexcept {
  std::int64_t bytes = 0;
  for (const auto& stream : streams)
    if (!stream.growth)
      bytes += stream.sample_bytes() * (stream.reduction == Reduction::none ? stream.cadence.samples() : 1);
  return bytes;
}

std::int64_t Plan::file_bytes() const noexcept {
  std::int64_t bytes = 0;
  for (const auto& stream : streams)
    for (const auto& spec : stream.datasets)
      bytes += static_cast<std::int64_t>(h5::element_count(spec.shape)) * size_of(spec.type);
  return bytes;
}

bool Plan::may_drop() const noexcept {
  return std::any_of(streams.begin(), streams.end(),
                     [](const auto& stream) { return stream.on_failure == OnFailure::drop; });
}

bool Plan::may_switch() const noexcept {
  return std::any_of(streams.begin(), streams.end(),
                     [](const auto& stream) { return stream.on_failure == OnFailure::switch_directory; });
}

bool Plan::rows(StepIndex step) const noexcept {
  return std::any_of(streams.begin(), streams.end(), [step](const PlannedStream& stream) {
    return stream.reduction == Reduction::none && stream.cadence.is_due(step);
  });
}

Cadence Cadence::of_list(std::vector<StepIndex> steps) {
  if (steps.empty()) throw Error(ErrorKind::usage, "a cadence of no steps", "a list with at least one step");
  return {.first = steps.front(), .every = 1, .last = steps.back(), .at = std::move(steps)};
}

void check_cadence(const Cadence& cadence, Problems& problems) {
  if (cadence.every < 1)
    problems.add(fmt::format("samples every {} steps", cadence.every), "give a positive number");
  const auto& at = cadence.at;
  if (std::ranges::adjacent_find(at, std::greater_equal()) != at.end())
    problems.add("the steps of its samples do not ascend", "name each step once, the smallest first");
}

Problems check_streams(const std::vector<Stream>& streams, Index3 domain) {
  Problems all("output");
  std::set<std::string> paths;
  for (const auto& stream : streams) {
    Problems problems("output " + stream.name);
    check_cadence(stream.cadence, problems);
    if (const auto* points = std::get_if<Points>(&stream.selection)) check_points(*points, domain, problems);
    if (const auto* boxes = std::get_if<Boxes>(&stream.selection)) check_boxes(*boxes, domain, problems);
    check_growth(stream, problems);
    if (problems.empty()) check_datasets(stream, domain, paths, problems);
    all.merge(problems);
  }
  return all;
}

void number_shares(Plan& plan) noexcept {
  std::size_t number = 0;
  for (auto& stream : plan.streams)
    for (auto& share : stream.shares) share.number = number++;
}

Plan make_plan(std::vector<Stream> streams, Box own_box, Index3 domain) {
  check_streams(streams, domain).throw_if_any();
  const Index3 extents = own_box.extents();
  TAILRACE_CHECK(own_box.empty() || intersect(own_box, Box::whole(domain)) == own_box,
                 "own box inside the domain");
  TAILRACE_CHECK(std::max({extents.x, extents.y, extents.z}) <= std::numeric_limits<std::int32_t>::max(),
                 "local indices fit 32 bits");
  Plan plan{.domain = domain, .own_box = own_box, .streams = {}};
  std::size_t datasets = 0;
  for (auto& stream : streams) {
    const std::size_t count = stream.datasets.size();
    plan.streams.push_back(resolve(std::move(stream), own_box, domain, datasets));
    datasets += count;
  }
  number_shares(plan);
  return plan;
}

std::vector<const PlannedStream*> streams_of_rows(const Plan& plan) {
  std::vector<const PlannedStream*> streams;
  for (const auto& stream : plan.streams)
    if (stream.takes_rows()) streams.push_back(&stream);
  return streams;
}

void place_rows(Plan& plan, bool is_root) {
  constexpr std::int64_t gathered_bytes = 1 << 20;
  // Nobody knows how many come: their places are counted from the first row of the file on.
  const auto open_share = [](std::size_t dataset, h5::ElementType type, std::int64_t values) {
    Share share;
    share.dataset = dataset;
    share.type = type;
    share.values = values;
    share.runs = {{0, open_elements}};
    return share;
  };
  std::size_t first = 0, counts = 0;
  for (const auto& stream : plan.streams) counts += stream.datasets.size();
  for (auto& stream : plan.streams) {
    if (stream.takes_rows()) {
      const std::int64_t rows = std::max<std::int64_t>(1, gathered_bytes / stream.row_bytes());
      stream.shares = {open_share(first, stream.datasets.front().type, rows * stream.components)};
      if (is_root) {
        stream.shares.push_back(open_share(counts, h5::ElementType::int64, 1));
        stream.shares.push_back(open_share(counts + 1, h5::ElementType::int64, head_elements));
      }
      for (auto& share : stream.shares) share.on_failure = stream.on_failure;
      counts += 2;
    }
    first += stream.datasets.size();
  }
  number_shares(plan);
}

std::vector<const Share*> shares_of(const Plan& plan) {
  std::vector<const Share*> shares;
  for (const auto& stream : plan.streams)
    for (const auto& share : stream.shares) shares.push_back(&share);
  return shares;
}

std::string to_string(const Plan& plan) {
  std::string text = fmt::format("domain {} x {} x {}, own box {} to {}\n", plan.domain.x, plan.domain.y,
                                 plan.domain.z, text_of(plan.own_box.lo), text_of(plan.own_box.hi));
  for (const auto& stream : plan.streams) {
    std::size_t runs = 0;
    for (const auto& share : stream.shares) runs += share.runs.size();
    const auto last = stream.cadence.is_open() ? std::string("the end") : std::to_string(stream.cadence.last);
    text += fmt::format(
        "{}: {} ({}), steps {} to {} by {}, {} datasets; here {} shares in {} runs, {} per sample\n",
        stream.name, stream.quantity, to_string(stream.reduction), stream.cadence.first, last,
        stream.cadence.every, stream.datasets.size(), stream.shares.size(), runs,
        human_bytes(static_cast<double>(stream.sample_bytes())));
  }
  text += fmt::format("staging buffers of {}, accumulators {}, written here {}\n",
                      human_bytes(static_cast<double>(plan.staging_bytes())),
                      human_bytes(static_cast<double>(plan.accumulator_bytes())),
                      human_bytes(static_cast<double>(plan.total_bytes())));
  return text;
}

}  // namespace tailrace::output
