// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/wire.hpp"

#include "base/error_bytes.hpp"

namespace tailrace::output::wire {

namespace {

// What travels of each type, in one place for both directions: `archive` is a Packer or an Unpacker.

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, h5::DatasetSpec>& spec) {
  archive(spec.path, spec.shape, spec.type);
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, Cadence>& cadence) {
  archive(cadence.first, cadence.every, cadence.last, cadence.at);
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, Share>& share) {
  archive(share.dataset, share.type, share.part_values, share.values, share.on_failure, share.number,
          share.runs);
}

/// Describes what the sink and the write calls of a writer go by.
template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, WriteOptions>& options) {
  archive(options.strategy, options.sink, options.deflate_level, options.flush_samples, options.pace,
          options.faults);
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, PlannedStream>& stream);

template <class T>
void list(Packer& packer, const std::vector<T>& items) {
  packer(items.size());
  for (const auto& item : items) fields(packer, item);
}
template <class T>
void list(Unpacker& unpacker, std::vector<T>& items) {
  items.resize(unpacker.get<std::size_t>());
  for (auto& item : items) fields(unpacker, item);
}

void growth(Packer& packer, const std::optional<Growth>& growth) {
  packer(growth ? growth->group : std::string());
}
void growth(Unpacker& unpacker, std::optional<Growth>& growth) {
  if (auto group = unpacker.get<std::string>(); !group.empty()) growth = Growth{.group = std::move(group)};
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, PlannedStream>& stream) {
  archive(stream.name, stream.reduction, stream.on_failure, stream.components);
  fields(archive, stream.cadence);
  list(archive, stream.datasets);
  growth(archive, stream.growth);
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, OpenRequest>& request) {
  archive(request.session, request.sources, request.source, request.staging_bytes, request.path);
  fields(archive, request.options);
  list(archive, request.streams);
  list(archive, request.shares);
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, TraceRequest>& request) {
  archive(request.directory, request.mode, request.point);
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, ClockReading>& reading) {
  archive(reading.now_s, reading.identity);
}

template <class Archive>
void fields(Archive& archive, ArchivedBy<Archive, WriterAccount>& account) {
  archive(account.process, account.host, account.cpus, account.place, account.output, account.idle_s,
          account.idle_cpu_s, account.jobs, account.batches, account.peak_memory_bytes, account.warning);
}

}  // namespace

template <class T>
void put(Packer& packer, const T& value) {
  fields(packer, value);
}
template <class T>
void get(Unpacker& unpacker, T& value) {
  fields(unpacker, value);
}

template void put(Packer&, const OpenRequest&);
template void put(Packer&, const TraceRequest&);
template void put(Packer&, const ClockReading&);
template void put(Packer&, const WriterAccount&);
template void put(Packer&, const ErrorInfo&);
template void put(Packer&, const Share&);
template void get(Unpacker&, OpenRequest&);
template void get(Unpacker&, TraceRequest&);
template void get(Unpacker&, ClockReading&);
template void get(Unpacker&, WriterAccount&);
template void get(Unpacker&, ErrorInfo&);
template void get(Unpacker&, Share&);

}  // namespace tailrace::output::wire
