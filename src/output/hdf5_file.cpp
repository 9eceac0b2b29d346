#include "hdf5_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "new_file.hpp"
#include "tailrace/base/error.hpp"
#include "tailrace/base/system.hpp"
#include "tailrace/h5/file.hpp"
#include "tailrace/mpi/verdict.hpp"
#include "tailrace/output/raw_file.hpp"

namespace tailrace::output {

namespace {

/// Puts the streams' datasets and the record into a new file.
Hdf5Places lay_out(h5::File& file, const SinkContext& context) {
  Hdf5Places places;
  const auto create = [&](const h5::DatasetSpec& spec) {
    return static_cast<std::int64_t>(file.create_dataset(spec).value_or(0));  // 0: no values, never used
  };
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets) places.datasets.push_back(create(spec));
  const std::vector<std::uint64_t> slots(static_cast<std::size_t>(context.comm.size()),
                                         static_cast<std::uint64_t>(context.resume_after));
  places.record_slots = context.comm.size();
  places.record = create(record_spec(context.comm.size()));
  file.write<std::uint64_t>(record_path, slots);
  return places;
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorInfo{.kind = ErrorKind::io,
                        .message = fmt::format("{}: {}: {}", path, what, std::strerror(errno)),
                        .path = path,
                        .hint = "check the permissions, or write to another file"});
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
  constexpr std::uint64_t portion_bytes = 8 << 20;
  const auto from = h5::File::open(context.path);
  RawFile file(to, make_plain_call());
  std::vector<std::byte> values;
  std::uint64_t number = 0;
  std::size_t dataset = 0;
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets) {
      const std::uint64_t end = elements_until(stream, spec, context.resume_after),
                          size = h5::size_bytes(spec.type), portion = portion_bytes / size;
      for (std::uint64_t first = 0; first < end; first += portion) {
        if (number++ % static_cast<std::uint64_t>(context.comm.size()) !=
            static_cast<std::uint64_t>(context.comm.rank()))
          continue;
        const std::uint64_t count = std::min(portion, end - first);
        values.resize(count * size);
        from.read_range(spec.path, first, count, spec.type, values);
        file.write_directly(values, places.datasets[dataset] + static_cast<std::int64_t>(first * size));
      }
      ++dataset;
    }
  file.flush();
  file.close();
}

}  // namespace

Hdf5Places create_file(const SinkContext& context) {
  Hdf5Places places;
  create_file(context, [&](h5::File& file) { places = lay_out(file, context); });
  return places;
}

std::optional<Hdf5Places> find_places(const SinkContext& context) {
  if (access(context.path.c_str(), W_OK) != 0) fail(context.path, "cannot be gone on with");
  const auto file = h5::File::open(context.path);
  Hdf5Places places;
  for (const auto& stream : context.plan.streams)
    for (const auto& spec : stream.datasets) {
      if (!file.has_dataset(spec.path)) return {};  // k-Wave makes some at the end only
      const auto place = file.place(spec.path);
      if (!place && h5::element_count(spec.shape) > 0) return {};
      places.datasets.push_back(static_cast<std::int64_t>(place.value_or(0)));
    }
  if (!file.has_dataset(record_path) || file.type(record_path) != h5::ElementType::uint64) return {};
  const auto record = file.place(record_path);
  if (!record) return {};
  places.record = static_cast<std::int64_t>(*record);
  places.record_slots = static_cast<std::int64_t>(h5::element_count(file.shape(record_path)));
  return places;
}

Hdf5Places replace_by_copy(const SinkContext& context) {
  const std::string path = target_of(context.path), place = path + ".partial";
  Hdf5Places places;
  try {
    mpi::agree_on_root(context.comm, [&] {
      const auto head = head_of_left_file(h5::File::open(context.path), context.head);
      auto file = h5::File::create(place, context.path);
      write_head(file, head);
      places = lay_out(file, context);
      file.close();
    });
    places.datasets.push_back(places.record);
    mpi::broadcast(context.comm, places.datasets, 0);
    places.record = places.datasets.back();
    places.datasets.pop_back();
    places.record_slots = context.comm.size();
    mpi::agree_on(
        context.comm, [&] { copy_share(context, place, places); }, close_limit_s);
    mpi::agree_on_root(context.comm, [&] { replace_file(place, path); });
  } catch (...) {
    if (context.comm.is_root()) remove_file(place);
    throw;
  }
  return places;
}

void set_record(const std::string& path, const Hdf5Places& places, StepIndex steps) {
  const std::vector<std::uint64_t> slots(static_cast<std::size_t>(places.record_slots),
                                         static_cast<std::uint64_t>(steps));
  RawFile file(path, make_plain_call());
  file.write_directly(std::as_bytes(std::span(slots)), places.record);
  file.close();
}

std::vector<Region> regions_after(const Plan& plan, const Hdf5Places& places, StepIndex after) {
  std::vector<Region> regions;
  std::size_t dataset = 0;
  for (const auto& stream : plan.streams) {
    for (const auto& spec : stream.datasets) {
      const std::int64_t offset = places.datasets[dataset++];
      const auto bytes = static_cast<std::int64_t>(h5::element_count(spec.shape) * h5::size_bytes(spec.type));
      const StepIndex samples = stream.cadence.samples();
      if (stream.reduction != Reduction::none || samples == 0) continue;
      const std::int64_t used = bytes / samples * stream.cadence.samples_until(after);
      regions.push_back({offset + used, bytes - used});
    }
  }
  return regions;
}

}  // namespace tailrace::output
