// SPDX-License-Identifier: BSD-3-Clause
#include "phase_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "mpi/packets.hpp"
#include "mpi/verdict.hpp"
#include "phase_space_formats.hpp"
#include "phase_space_text.hpp"

namespace tailrace::molecules {

namespace {

struct Format {
  PhaseSpaceFormat format;
  const char* name;
  const char *header_ending, *data_ending;  ///< as the reference names its files
  std::unique_ptr<PhaseSpace> (*open)(mpi::CommView, const PhaseSpaceFiles&);
  void (*write)(mpi::CommView, const PhaseSpaceFiles&, const PhaseSpaceState&, const StateTotals&);
};

constexpr std::array formats{
    Format{PhaseSpaceFormat::ascii, "ascii", "", ".restart.dat", open_ascii, write_ascii},
    Format{PhaseSpaceFormat::binary, "binary", ".restart.header.xml", ".restart.dat", open_binary,
           write_binary},
    Format{PhaseSpaceFormat::cells, "cells", ".restart", ".restart.mpi", open_cells, write_cells},
    Format{PhaseSpaceFormat::netcdf, "netcdf", ".restart", ".restart.nc", open_netcdf, write_netcdf},
    Format{PhaseSpaceFormat::mpi_restart, "mpi-restart", "", ".MPIrestart.dat", open_mpi_restart,
           write_mpi_restart}};

const Format& entry_of(PhaseSpaceFormat format) {
  return *std::find_if(formats.begin(), formats.end(), [&](const auto& one) { return one.format == format; });
}

std::string without(std::string_view ending, const std::string& path) {
  return path.substr(0, path.size() - (path.ends_with(ending) ? ending.size() : std::size_t{0}));
}

bool exists(const std::string& path) {
  std::error_code code;
  return std::filesystem::exists(path, code);
}

/// Returns whether a write of two files was interrupted when the data had their name and the header had not:
/// its file .partial is made after that of the data and complete before either gets its name.
bool waits_for_name(const PhaseSpaceFiles& files) {
  return exists(files.header + ".partial") && !exists(files.data + ".partial");
}

/// The format that has these endings, of which the one of the file itself is known.
PhaseSpaceFiles with_other_file(const std::string& path, const Format& format, bool is_header) {
  const std::string_view ending = is_header ? format.header_ending : format.data_ending;
  const bool named_so = path.ends_with(ending);
  const auto files = files_of(format.format, without(ending, path));
  const auto& other = is_header ? files.data : files.header;
  if (named_so && (exists(other) || (!is_header && waits_for_name(files)))) return files;
  throw file_error(path, fmt::format("belongs to a second file, {}, that is not there", other),
                   "give both files by their names");
}

/// Refuses numbers that state nothing.
void check_header(const PhaseSpaceHeader& header, const std::string& path) {
  Problems problems(path);
  if (!std::isfinite(header.time.value_or(0)))
    problems.add(fmt::format("currentTime: {:g} is no time", *header.time), "a number");
  const double temperature = header.temperature.value_or(0);
  if (!(temperature >= 0) || !std::isfinite(temperature))
    problems.add(fmt::format("Temperature: {:g} is no temperature", temperature),
                 "a number above 0, or 0 for no thermostat");
  problems.throw_if_any();
}

/// Returns whether there is nothing behind the header of a text.
bool is_header_alone(const std::string& path) {
  const auto header = static_cast<std::int64_t>(read_text_header(path).size());
  const InputFile file(path, whole_file);
  constexpr std::int64_t blanks = 8;
  return file.size_bytes() <= header + blanks;
}

}  // namespace

const char* to_string(PhaseSpaceFormat format) noexcept {
  return entry_of(format).name;
}

PhaseSpaceFiles files_of(PhaseSpaceFormat format, const std::string& prefix) {
  const auto& entry = entry_of(format);
  const std::string_view header = entry.header_ending;
  return {format, header.empty() ? std::string() : fmt::format("{}{}", prefix, header),
          prefix + entry.data_ending};
}

PhaseSpaceFiles files_at(PhaseSpaceFormat format, const std::string& path) {
  const auto& entry = entry_of(format);
  if (std::string_view(entry.header_ending).empty()) return {format, "", path};
  return files_of(format, without(entry.header_ending, without(entry.data_ending, path)));
}

PhaseSpaceFiles recognise(const std::string& path) {
  const InputFile file(path, whole_file);
  std::string start(static_cast<std::size_t>(std::min<std::int64_t>(file.size_bytes(), 64)), '\0');
  file.read(0, std::as_writable_bytes(std::span(start)));
  if (start.starts_with("MarDyn2015")) return {PhaseSpaceFormat::mpi_restart, "", path};
  if (start.starts_with("<")) return with_other_file(path, entry_of(PhaseSpaceFormat::binary), true);
  if (start.starts_with("CDF")) return with_other_file(path, entry_of(PhaseSpaceFormat::netcdf), false);
  if (path.ends_with(".mpi")) return with_other_file(path, entry_of(PhaseSpaceFormat::cells), false);
  const auto word = start.substr(0, start.find_first_of(" \t\n"));
  if (start.empty() && !exists(files_at(PhaseSpaceFormat::binary, path).header))
    throw file_error(path, "is empty", whole_file);
  if (word.empty() || word.find('\0') != std::string::npos)
    return with_other_file(path, entry_of(PhaseSpaceFormat::binary), false);
  for (const auto format : {PhaseSpaceFormat::cells, PhaseSpaceFormat::netcdf})
    if (const std::string_view ending = entry_of(format).header_ending; path.ends_with(ending)) {
      const auto files = files_of(format, path.substr(0, path.size() - ending.size()));
      if (exists(files.data)) return files;
    }
  const std::string_view ending = entry_of(PhaseSpaceFormat::cells).header_ending;
  if (path.ends_with(ending) && is_header_alone(path))
    throw file_error(path,
                     fmt::format("belongs to a second file, {0}.mpi or {0}.nc, that is not there", path),
                     "give both files by their names");
  return {PhaseSpaceFormat::ascii, "", path};
}

std::unique_ptr<PhaseSpace> open_phase_space(mpi::CommView comm, const PhaseSpaceFiles& files) {
  auto whole = files;
  if (!files.header.empty() && waits_for_name(files)) whole.header += ".partial";
  auto file = entry_of(files.format).open(comm, whole);
  mpi::collectively(comm,
                    [&] { check_header(file->header(), whole.header.empty() ? whole.data : whole.header); });
  return file;
}

void PhaseSpace::read(const Share& share, const Take& take) {
  Validation validation;
  read_molecules(share, [&](const Molecule& molecule) {
    validation.add(molecule);
    take(molecule);
  });
  validation.check(comm(), header_.molecules, path_);
  const auto sum = mpi::sum(comm(), std::vector<std::uint64_t>{validation.state_sum()})[0];
  if (header_.state_sum && sum != *header_.state_sum)
    throw Error(
        ErrorInfo{.kind = ErrorKind::input,
                  .message = fmt::format("{}: its molecules are others than its header states", path_),
                  .path = path_,
                  .rank = 0,
                  .hint = "two files of one state"});
}

void write_phase_space(mpi::CommView comm, const PhaseSpaceFiles& files, const PhaseSpaceState& state) {
  const auto own = mpi::Comm::duplicate(comm);
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < state.list.count; ++i) sum += hash_of(state.list.molecule(i));
  const auto all = mpi::sum(own, std::vector{static_cast<std::uint64_t>(state.list.count), sum});
  const StateTotals totals{.before = mpi::exclusive_scan(own, state.list.count),
                           .molecules = static_cast<std::int64_t>(all[0]),
                           .state_sum = all[1]};
  mpi::collectively_on_root(own, [&] {
    if (!files.header.empty() && waits_for_name(files)) replace_file(files.header + ".partial", files.header);
  });
  entry_of(files.format).write(own, files, state, totals);
}

void read_in_parts(mpi::CommView comm, const Share& share, const std::string& path, const NextBatch& next,
                   const Take& take) {
  for (;;) {
    std::vector<Molecule> batch;
    std::vector<mpi::Packet<Molecule>> packets(static_cast<std::size_t>(comm.size()));
    for (std::size_t rank = 0; rank < packets.size(); ++rank) packets[rank].rank = static_cast<int>(rank);
    mpi::collectively(comm, [&] {
      batch = next();
      for (const auto& molecule : batch) {
        check_molecule(molecule, share.limits, path);
        packets[static_cast<std::size_t>(share.owner(molecule.position))].values.push_back(molecule);
      }
    });
    if (mpi::max(comm, static_cast<std::int64_t>(batch.size())) == 0) return;
    for (const auto& packet : mpi::deliver(comm, packets))
      for (const auto& molecule : packet.values) take(molecule);
  }
}

RowCode code_of(const RowLayout& layout) {
  return {layout.bytes, layout.used_bytes(),
          [layout](std::span<const std::byte> row) { return unpack(layout, row); }};
}

std::vector<Molecule> RowReader::next() {
  std::vector<Molecule> batch;
  while (at_ < ranges_.size() && static_cast<std::int64_t>(batch.size()) < batch_molecules) {
    const auto& range = ranges_[at_];
    const auto count =
        std::min(range.count - done_, batch_molecules - static_cast<std::int64_t>(batch.size()));
    if (count > 0) {
      bytes_.resize(static_cast<std::size_t>((count - 1) * code_.bytes + code_.used_bytes));
      file_.read(range.offset + done_ * code_.bytes, bytes_);
    }
    for (std::int64_t i = 0; i < count; ++i)
      batch.push_back(code_.unpack(std::span(bytes_).subspan(static_cast<std::size_t>(i * code_.bytes),
                                                             static_cast<std::size_t>(code_.used_bytes))));
    done_ += count;
    if (done_ == range.count) ++at_, done_ = 0;
  }
  return batch;
}

int part_with(std::int64_t index, std::int64_t count, int ranks) noexcept {
  auto rank = static_cast<int>(static_cast<double>(index) / static_cast<double>(count) * ranks);
  rank = std::clamp(rank, 0, ranks - 1);
  while (rank > 0 && part_of(count, rank, ranks).begin > index) --rank;
  while (rank + 1 < ranks && part_of(count, rank, ranks).end <= index) ++rank;
  return rank;
}

std::string share_text(mpi::CommView comm, const std::function<std::string()>& make) {
  std::string text;
  mpi::collectively_on_root(comm, [&] { text = make(); });
  return mpi::broadcast(comm, text, 0);
}

}  // namespace tailrace::molecules
