// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/check.hpp"
#include "base/files.hpp"
#include "h5/file.hpp"
#include "mpi/verdict.hpp"
#include "output/core/raw_file.hpp"
#include "output/sinks/directory_switch.hpp"
#include "output/sinks/new_file.hpp"
#include "output/sinks/raw_directories.hpp"
#include "output/sinks/row_files.hpp"
#include "output/sinks/snapshots.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

std::int64_t bytes_of(const h5::DatasetSpec& spec) {
  return static_cast<std::int64_t>(h5::element_count(spec.shape) * h5::size_bytes(spec.type));
}

/// The specs of the streams' datasets, in the order of their numbers.
std::vector<const h5::DatasetSpec*> specs_of(const Plan& plan) {
  std::vector<const h5::DatasetSpec*> specs;
  for (const auto& stream : plan.streams)
    for (const auto& spec : stream.datasets) specs.push_back(&spec);
  return specs;
}

/// Returns where a new dataset begins.
std::int64_t create(h5::File& file, const h5::DatasetSpec& spec) {
  return static_cast<std::int64_t>(file.create_dataset(spec).value_or(0));  // 0: no values, never used
}

/// The names under which the stripes of a dataset could resume in other directories. They are behind its
/// last byte, where nobody reads them.
void add_spare_names(const FileExtents& extents, const Hdf5Places& places,
                     std::vector<h5::ExternalPart>& parts) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < extents.size(); ++i)
    names.insert(std::filesystem::path(parts[i].file).filename().string());
  for (const auto& name : names)
    for (const auto& directory : places.directories)
      parts.push_back({.file = (std::filesystem::path(directory) / name).string(), .offset = 0, .bytes = 1});
}

void lay_out_rows(h5::File& file, const SinkContext& context, const PlannedStream& stream,
                  Hdf5Places& places) {
  places.datasets.push_back(create_rows(file, context.path, stream, places.files.size()));
  places.files.push_back(rows_path(context.path, stream));
}

/// Puts the streams' datasets into the raw files, stripe after stripe; rows have files of their own.
void lay_out_striped(h5::File& file, const SinkContext& context, NewRawFiles& raw, Hdf5Places& places) {
  const std::size_t files = raw.paths().size();
  Stripes stripes(files, raw_head_bytes, context.options.stripe_bytes);
  if (context.plan.may_switch())
    for (const auto& path : raw.paths())
      places.directories.push_back(std::filesystem::path(path).parent_path().string());
  places.files.insert(places.files.end(), raw.paths().begin(), raw.paths().end());
  const auto lay_out_one = [&](const h5::DatasetSpec& spec) {
    places.datasets.push_back(stripes.add(bytes_of(spec)));
    std::vector<h5::ExternalPart> parts;
    for (const auto& extent : places.datasets.back())
      parts.push_back({.file = raw.paths()[extent.file - 1],
                       .offset = static_cast<std::uint64_t>(extent.offset),
                       .bytes = static_cast<std::uint64_t>(extent.bytes)});
    add_spare_names(places.datasets.back(), places, parts);
    file.create_external_dataset(spec, parts);
  };
  for (const auto& stream : context.plan.streams)
    if (stream.takes_rows())
      lay_out_rows(file, context, stream, places);
    else
      for (const auto& spec : stream.datasets) lay_out_one(spec);
  for (std::size_t i = 0; i < files; ++i) raw.resize(i, stripes.size(i + 1));
}

/// Puts the streams' datasets into the file itself, or says in it which files the samples are in.
void lay_out_here(h5::File& file, const SinkContext& context, Hdf5Places& places) {
  const bool splits = context.splits_samples;
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets) {
      if (stream.takes_rows()) {
        lay_out_rows(file, context, stream, places);
      } else if (splits && is_split(stream)) {
        create_split_dataset(file, context.path, spec, stream.cadence);
        places.datasets.emplace_back();
      } else {
        places.datasets.push_back(one_extent(create(file, spec), bytes_of(spec)));
      }
    }
}

/// Puts the streams' datasets and the commit mark into a new file.
Hdf5Places lay_out(h5::File& file, const SinkContext& context, NewRawFiles& raw) {
  Hdf5Places places;
  places.files = {context.path};
  if (raw.paths().empty())
    lay_out_here(file, context, places);
  else
    lay_out_striped(file, context, raw, places);
  create_row_counts(file, context.plan, places);
  const std::vector<std::uint64_t> slots(static_cast<std::size_t>(context.sources),
                                         static_cast<std::uint64_t>(context.resume_after));
  places.commit_mark_slots = context.sources;
  places.commit_mark = create(file, commit_mark_spec(context.sources));
  file.write<std::uint64_t>(commit_mark_path, slots);
  if (context.plan.may_drop()) {
    places.dropped = create(file, commit_mark_spec(context.sources, dropped_path));
    file.write<std::uint64_t>(dropped_path, std::vector<std::uint64_t>(slots.size()));
  }
  if (!places.directories.empty()) {
    const auto spec = switches_spec(places.directories.size());
    places.switches = create(file, spec);
    file.write<std::uint64_t>(spec.path, std::vector<std::uint64_t>(h5::element_count(spec.shape)));
  }
  return places;
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorInfo{.kind = ErrorKind::io,
                        .message = fmt::format("{}: {}: {}", path, what, std::strerror(errno)),
                        .path = path,
                        .hint = "check the permissions, or write to another file"});
}

/// Returns whether the samples of a dataset are in files of their own.
bool has_split(const h5::File& file, const std::string& dataset) {
  return file.has_dataset(dataset) && file.storage(dataset).in_other_files &&
         file.external_parts(dataset).empty();
}

/// The places of a dataset whose samples have files of their own: none in the file. Errors (usage): they have
/// not.
FileExtents find_split(const h5::File& file, const h5::DatasetSpec& spec) {
  if (h5::element_count(spec.shape) == 0 || has_split(file, spec.path)) return {};
  throw Error(ErrorInfo{
      .kind = ErrorKind::usage,
      .message =
          fmt::format("{}: --write spawn-each cannot continue here: the samples of {} are not in files of "
                      "their own",
                      file.path(), spec.path),
      .path = file.path(),
      .hint = "--write spawn:N, or start from the beginning"});
}

/// Errors (input): a file with samples up to step `context.resume_after` is missing. HDF5 would read zeros.
void check_left_snapshots(const h5::File& file, const SinkContext& context) {
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets)
      if (is_split(stream) && !stream.takes_rows() && has_split(file, spec.path))
        return check_snapshots(context.path, context.plan, context.resume_after);
}

/// The same error on all ranks: what is copied goes into one file.
[[noreturn]] void refuse_copy(const std::string& path) {
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = path +
                                   ": --write spawn-each cannot continue here: another program has made "
                                   "the file, and it would have to be copied",
                        .path = path,
                        .rank = 0,
                        .hint = "--write spawn:N, or start from the beginning"});
}

/// The head with the values that the left file has for it.
FileHead head_of_left_file(const h5::File& file, const FileHead& head) {
  FileHead result = head;
  for (auto& [spec, values] : result.datasets)
    if (file.has_dataset(spec.path) && file.shape(spec.path) == spec.shape)
      file.read_range(spec.path, 0, h5::element_count(spec.shape), spec.type, values);
  for (auto& attribute : result.attributes)
    if (attribute.reserved_bytes > 0)
      if (const auto text = file.text_attribute("/", attribute.name))
        attribute.value = text->substr(0, attribute.reserved_bytes - 1);
  return result;
}

/// Elements of a dataset that are worth copying after step `after`.
std::uint64_t elements_until(const PlannedStream& stream, const h5::DatasetSpec& spec, StepIndex after) {
  const std::uint64_t elements = h5::element_count(spec.shape);
  const StepIndex samples = stream.cadence.samples_until(after);
  if (stream.reduction == Reduction::final || samples == 0) return 0;
  if (stream.reduction != Reduction::none) return elements;
  return elements / static_cast<std::uint64_t>(stream.cadence.samples()) *
         static_cast<std::uint64_t>(samples);
}

/// Copies this rank's share of the streams' datasets from the left file to their new places.
void copy_share(const SinkContext& context, const std::string& to, const Hdf5Places& places) {
  constexpr std::uint64_t batch_bytes = 8 << 20;
  const auto from = h5::File::open(context.path);
  std::vector<std::unique_ptr<RawFile>> files;
  for (const auto& path : places.files)
    files.push_back(std::make_unique<RawFile>(files.empty() ? to : path, make_plain_call()));
  const auto write = [&](const FileExtents& extents, std::int64_t at, std::span<const std::byte> values) {
    while (!values.empty()) {
      const FileExtent place = from_byte(extents, at);
      const auto some = values.first(std::min(values.size(), static_cast<std::size_t>(place.bytes)));
      files[place.file]->write_directly(some, place.offset);
      at += static_cast<std::int64_t>(some.size());
      values = values.subspan(some.size());
    }
  };
  std::vector<std::byte> values;
  std::uint64_t number = 0;
  std::size_t dataset = 0;
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets) {
      const std::uint64_t end = elements_until(stream, spec, context.resume_after),
                          size = h5::size_bytes(spec.type), batch = batch_bytes / size;
      for (std::uint64_t first = 0; first < end; first += batch) {
        if (number++ % static_cast<std::uint64_t>(context.comm.size()) !=
            static_cast<std::uint64_t>(context.comm.rank()))
          continue;
        const std::uint64_t count = std::min(batch, end - first);
        values.resize(count * size);
        from.read_range(spec.path, first, count, spec.type, values);
        write(places.datasets[dataset], static_cast<std::int64_t>(first * size), values);
      }
      ++dataset;
    }
  for (const auto& file : files) {
    file->flush();
    file->close();
  }
}

/// The number of a file among those of an output, to which it is added if it is new. Errors (io): it is
/// missing or may not be written.
std::size_t number_of(const std::string& file, const std::string& dataset, Hdf5Places& places) {
  const auto found = std::find(places.files.begin() + 1, places.files.end(), file);
  const auto number = static_cast<std::size_t>(found - places.files.begin());
  if (found != places.files.end()) return number;
  if (access(file.c_str(), W_OK) != 0) fail(file, "cannot be resumed, it holds values of " + dataset);
  places.files.push_back(file);
  return number;
}

/// Returns where the values of a dataset in raw files are; nothing if these are not ours.
std::optional<FileExtents> find_striped(const h5::File& file, const h5::DatasetSpec& spec,
                                        Hdf5Places& places) {
  if (!file.is_native(spec.path)) return {};
  FileExtents extents;
  std::int64_t end = 0;
  for (const auto& part : file.external_parts(spec.path)) {
    const auto number = number_of(part.file, spec.path, places);
    const auto bytes = static_cast<std::int64_t>(part.bytes), offset = static_cast<std::int64_t>(part.offset);
    if (offset < raw_head_bytes || bytes < 0) return {};
    extents.push_back({.first = end, .bytes = bytes, .file = number, .offset = offset});
    end += bytes;
  }
  if (end != bytes_of(spec)) return {};
  return extents;
}

/// The directories to which a dataset's stripes may go, by the spare names of its first file.
std::vector<std::string> find_directories(const h5::File& file, const std::string& dataset) {
  const std::size_t used = file.external_parts(dataset).size();
  if (used == 0) return {};
  std::vector<std::string> directories;
  const auto names = file.external_names(dataset);
  const auto first = std::filesystem::path(names[used % names.size()].file).filename();
  for (std::size_t i = used; i < names.size(); ++i) {
    const std::filesystem::path path(names[i].file);
    if (path.filename() == first) directories.push_back(path.parent_path().string());
  }
  return directories;
}

/// Finds out what the file has for streams that may go to other directories, if it has that.
void find_switches(const h5::File& file, const Plan& plan, Hdf5Places& places) {
  if (!file.has_dataset(switches_path)) return;
  for (const auto* spec : specs_of(plan))
    if (places.directories.empty() && file.has_dataset(spec->path))
      places.directories = find_directories(file, spec->path);
  const auto wanted = switches_spec(places.directories.size());
  if (!places.directories.empty() && file.shape(switches_path) == wanted.shape &&
      file.type(switches_path) == wanted.type)
    places.switches = static_cast<std::int64_t>(file.place(switches_path).value_or(0));
}

/// Returns where the values of a dataset are, if they can be written there.
std::optional<FileExtents> find_extents(const h5::File& file, const h5::DatasetSpec& spec,
                                        Hdf5Places& places) {
  if (!file.has_dataset(spec.path)) return {};  // k-Wave makes some at the end only
  if (!file.external_parts(spec.path).empty()) return find_striped(file, spec, places);
  const auto place = file.place(spec.path);
  if (!place && bytes_of(spec) > 0) return {};
  return one_extent(static_cast<std::int64_t>(place.value_or(0)), bytes_of(spec));
}

}  // namespace

Hdf5Places create_file(const SinkContext& context) {
  Hdf5Places places;
  const auto replaced = raw_files_of(context.path);
  NewRawFiles raw(context.options.directories, target_of(context.path));
  create_file(context, [&](h5::File& file) { places = lay_out(file, context, raw); });
  raw.keep();
  remove_raw_files(replaced);
  return places;
}

std::optional<Hdf5Places> find_places(const SinkContext& context) {
  if (access(context.path.c_str(), W_OK) != 0) fail(context.path, "cannot be resumed");
  const auto file = h5::File::open(context.path);
  if (context.resume_after > 0) check_left_snapshots(file, context);
  Hdf5Places places;
  places.files = {context.path};
  const bool splits = context.splits_samples;
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets) {
      if (stream.takes_rows()) {
        places.datasets.emplace_back();  // below
        continue;
      }
      auto extents = splits && is_split(stream) ? std::optional(find_split(file, spec))
                                                : find_extents(file, spec, places);
      if (!extents) return {};
      places.datasets.push_back(std::move(*extents));
    }
  for (std::size_t i = 1; i < places.files.size(); ++i)
    if (!is_raw_file(places.files[i])) return {};
  find_rows(file, context.path, context.plan, places);
  if (!file.has_dataset(commit_mark_path) || file.type(commit_mark_path) != h5::ElementType::uint64)
    return {};
  const auto commit_mark = file.place(commit_mark_path);
  if (!commit_mark) return {};
  places.commit_mark = static_cast<std::int64_t>(*commit_mark);
  places.commit_mark_slots = static_cast<std::int64_t>(h5::element_count(file.shape(commit_mark_path)));
  if (file.has_dataset(dropped_path) && file.shape(dropped_path) == file.shape(commit_mark_path))
    places.dropped = static_cast<std::int64_t>(file.place(dropped_path).value_or(0));
  find_switches(file, context.plan, places);
  return places;
}

void find_again(const Plan& plan, Hdf5Places& places) {
  const auto file = h5::File::open(places.files.front());
  std::size_t dataset = 0;
  for (const auto* spec : specs_of(plan)) {
    auto extents = find_extents(file, *spec, places);
    TAILRACE_CHECK(extents.has_value(), "a dataset stays where it can be written");
    places.datasets[dataset++] = std::move(*extents);
  }
}

Hdf5Places replace_by_copy(const SinkContext& context) {
  if (context.splits_samples) refuse_copy(context.path);
  const std::string path = target_of(context.path), place = path + ".partial";
  Hdf5Places places;
  std::optional<NewRawFiles> raw;  // on the root
  try {
    mpi::collectively_on_root(context.comm, [&] {
      const auto head = head_of_left_file(h5::File::open(context.path), context.head);
      raw.emplace(context.options.directories, path);
      place_on_device(place, context.options);
      auto file = h5::File::create(place, context.path);
      write_head(file, head);
      places = lay_out(file, context, *raw);
      write_groups(file, head);
      file.close();
    });
    share(context.comm, places);
    mpi::collectively(
        context.comm, [&] { copy_share(context, place, places); }, close_limit_s);
    mpi::collectively_on_root(context.comm, [&] {
      replace_file(place, path);
      discard_snapshots(path, -1);
      raw->keep();
    });
  } catch (...) {
    if (context.comm.is_root()) remove_file(place);
    throw;
  }
  return places;
}

void share(mpi::CommView comm, Hdf5Places& places) {
  std::string names;
  for (const auto* list : {&places.files, &places.directories})
    for (const auto& name : *list) names += name + '\0';
  std::vector<std::int64_t> numbers{places.commit_mark,
                                    places.commit_mark_slots,
                                    places.dropped,
                                    places.switches,
                                    static_cast<std::int64_t>(places.files.size()),
                                    static_cast<std::int64_t>(names.size())};
  numbers.insert(numbers.end(), names.begin(), names.end());  // few enough for one message
  for (const auto& extents : places.datasets) {
    numbers.push_back(static_cast<std::int64_t>(extents.size()));
    for (const auto& s : extents)
      numbers.insert(numbers.end(), {s.first, s.bytes, static_cast<std::int64_t>(s.file), s.offset});
  }
  mpi::broadcast(comm, numbers, 0);
  places = {.files = {},
            .datasets = {},
            .commit_mark = numbers[0],
            .commit_mark_slots = numbers[1],
            .dropped = numbers[2],
            .switches = numbers[3]};
  const auto files = static_cast<std::size_t>(numbers[4]);
  const auto after_names = numbers.begin() + 6 + numbers[5];
  names.clear();
  for (auto number = numbers.begin() + 6; number != after_names; ++number)
    names += static_cast<char>(*number);
  for (std::size_t first = 0, end = 0; first < names.size(); first = end + 1) {
    end = names.find('\0', first);
    auto& list = places.files.size() < files ? places.files : places.directories;
    list.push_back(names.substr(first, end - first));
  }
  for (auto number = after_names; number != numbers.end();) {
    places.datasets.emplace_back();
    for (auto left = *number++; left > 0; --left, number += 4)
      places.datasets.back().push_back({.first = number[0],
                                        .bytes = number[1],
                                        .file = static_cast<std::size_t>(number[2]),
                                        .offset = number[3]});
  }
}

void set_commit_mark(const std::string& path, const Hdf5Places& places, StepIndex steps) {
  const std::vector<std::uint64_t> slots(static_cast<std::size_t>(places.commit_mark_slots),
                                         static_cast<std::uint64_t>(steps));
  RawFile file(path, make_plain_call());
  file.write_directly(std::as_bytes(std::span(slots)), places.commit_mark);
  file.close();
}

std::vector<std::vector<Region>> regions_after(const Plan& plan, const Hdf5Places& places, StepIndex after) {
  std::vector<std::vector<Region>> regions(places.files.size());
  std::size_t dataset = 0;
  for (const auto& stream : plan.streams) {
    const StepIndex samples = stream.cadence.samples();
    for (const auto& spec : stream.datasets) {
      const auto& extents = places.datasets[dataset++];
      if (stream.reduction != Reduction::none || samples == 0 || stream.takes_rows()) continue;
      const std::int64_t used = bytes_of(spec) / samples * stream.cadence.samples_until(after);
      for (const auto& extent : extents) {
        const std::int64_t kept = std::clamp(used - extent.first, std::int64_t{0}, extent.bytes);
        regions[extent.file].push_back({extent.offset + kept, extent.bytes - kept});
      }
    }
  }
  return regions;
}

}  // namespace tailrace::output
