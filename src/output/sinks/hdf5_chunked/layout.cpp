// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_chunked/layout.hpp"

#include <fmt/format.h>

#include "output/sinks/hdf5_chunked/grid.hpp"
#include "output/sinks/hdf5_chunked/growth.hpp"
#include "output/sinks/new_file.hpp"
#include "tailrace/file_content.hpp"

namespace tailrace::output {

namespace {

template <class Action>
void for_each_dataset(const Plan& plan, const Action& action) {
  for (const auto& stream : plan.streams)
    for (const auto& spec : stream.datasets) action(stream, spec);
}

h5::Shape choose_chunk(const PlannedStream& stream, const h5::DatasetSpec& spec,
                       const WriteOptions& options) {
  if (stream.takes_rows()) return row_chunk(stream);
  const auto shape = shape_to_cut(stream, spec);
  if (h5::element_count(shape) == 0) return {};
  const auto size = static_cast<std::int64_t>(h5::size_bytes(spec.type));
  return ChunkGrid::choose(shape, size, sample_bytes(stream, shape, size), options.flush_samples);
}

h5::ChunkLayout choose_layout(const PlannedStream& stream, const h5::DatasetSpec& spec,
                              const WriteOptions& options) {
  auto chunk = choose_chunk(stream, spec, options);
  if (chunk.empty()) return {};
  return {.chunk = std::move(chunk),
          .shuffle = true,
          .deflate = options.deflate_level,
          .grows = stream.growth.has_value()};
}

std::vector<h5::ChunkLayout> create_chunked(const SinkContext& context) {
  std::vector<h5::ChunkLayout> layouts;
  create_file(context, [&](h5::File& file) {
    for_each_dataset(context.plan, [&](const PlannedStream& stream, const h5::DatasetSpec& spec) {
      layouts.push_back(choose_layout(stream, spec, context.options));
      if (layouts.back().chunk.empty())
        file.create_dataset(spec);
      else
        file.create_chunked_dataset(spec, layouts.back());
    });
    for (const auto& stream : context.plan.streams) create_counts(file, stream);
    const std::vector<std::uint64_t> slots(static_cast<std::size_t>(context.sources), 0);
    file.create_dataset(commit_mark_spec(context.sources));
    file.write<std::uint64_t>(commit_mark_path, slots);
  });
  return layouts;
}

/// Returns what is wrong with a dataset that a run is to be resumed in; empty if nothing.
std::string difference(const h5::File& file, const h5::DatasetSpec& spec, bool grows) {
  if (!file.has_dataset(spec.path)) return "is missing";
  auto shape = file.shape(spec.path);
  if (grows && !shape.empty()) shape.front() = 0;
  if (shape != spec.shape)
    return fmt::format("has the shape {}, not {}", h5::to_string(file.shape(spec.path)),
                       h5::to_string(spec.shape));
  if (file.type(spec.path) != spec.type)
    return fmt::format("has elements of {}, not {}", file.type_text(spec.path), h5::to_string(spec.type));
  return {};
}

h5::ChunkLayout existing_layout(const h5::File& file, const PlannedStream& stream,
                                const h5::DatasetSpec& spec, Problems& problems) {
  const bool grows = stream.growth.has_value();
  if (const auto what = difference(file, spec, grows); !what.empty()) {
    problems.add(fmt::format("dataset {} {}", spec.path, what),
                 "resume with the settings that made the file");
    return {};
  }
  if (!grows && h5::element_count(spec.shape) == 0) return {};
  const auto layout = file.chunk_layout(spec.path);
  if (!layout)
    problems.add(fmt::format("dataset {} is not in chunks", spec.path), "resume with the sink hdf5");
  else if (grows && !layout->grows)
    problems.add(fmt::format("dataset {} cannot grow", spec.path), "resume with the settings that made it");
  else if (!ChunkGrid::is_regular(shape_to_cut(stream, spec), layout->chunk))
    problems.add(fmt::format("dataset {} of shape {} has chunks of {}", spec.path, h5::to_string(spec.shape),
                             h5::to_string(layout->chunk)),
                 "only chunks of values that are neighbours in the dataset can be filled further");
  else
    return *layout;
  return {};
}

std::vector<h5::ChunkLayout> open_chunked(const SinkContext& context) {
  std::vector<h5::ChunkLayout> layouts;
  Problems problems(context.path);
  auto file = h5::File::open_for_update(context.path);
  for_each_dataset(context.plan, [&](const PlannedStream& stream, const h5::DatasetSpec& spec) {
    layouts.push_back(existing_layout(file, stream, spec, problems));
  });
  for (const auto& stream : context.plan.streams) check_counts(file, stream, context.resume_after, problems);
  problems.throw_if_any();
  if (!file.has_dataset(commit_mark_path)) {  // of another program, whose samples the caller vouches for
    const std::vector<std::uint64_t> slots(static_cast<std::size_t>(context.sources),
                                           static_cast<std::uint64_t>(context.resume_after));
    file.create_dataset(commit_mark_spec(context.sources));
    file.write<std::uint64_t>(commit_mark_path, slots);
  }
  file.close();
  return layouts;
}

}  // namespace

std::vector<h5::ChunkLayout> prepare_chunked_file(const SinkContext& context) {
  std::vector<h5::ChunkLayout> layouts;
  with_path(context.path,
            [&] { layouts = context.resume_after > 0 ? open_chunked(context) : create_chunked(context); });
  return layouts;
}

void broadcast(mpi::CommView comm, std::vector<h5::ChunkLayout>& layouts) {
  std::vector<std::uint64_t> words;  // of each: number of extents, extents, shuffle, level + 1
  for (const auto& layout : layouts) {
    words.push_back(layout.chunk.size());
    words.insert(words.end(), layout.chunk.begin(), layout.chunk.end());
    words.push_back(layout.shuffle ? 1 : 0);
    words.push_back(static_cast<std::uint64_t>(layout.deflate + 1));
  }
  mpi::broadcast(comm, words, 0);
  layouts.clear();
  for (auto word = words.begin(); word != words.end();) {
    const auto extents = static_cast<std::ptrdiff_t>(*word++);
    h5::ChunkLayout layout{.chunk = h5::Shape(word, word + extents)};
    word += extents;
    layout.shuffle = *word++ != 0;
    layout.deflate = static_cast<int>(*word++) - 1;
    layouts.push_back(std::move(layout));
  }
}

}  // namespace tailrace::output
