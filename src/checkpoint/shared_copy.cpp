// SPDX-License-Identifier: BSD-3-Clause
#include "shared_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "checkpoint/store.hpp"
#include "h5/file.hpp"
#include "manifest.hpp"
#include "mpi/verdict.hpp"
#include "output/core/sink.hpp"

namespace tailrace::checkpoint {

namespace {

h5::DatasetSpec rows_of(const Part::Set& set, const char* name, std::int64_t rows, std::size_t words) {
  return {fmt::format("/sets/{}/{}", set.name(), name),
          {static_cast<std::uint64_t>(rows), words},
          h5::ElementType::uint64,
          {}};
}

}  // namespace

SharedCopy::SharedCopy(mpi::CommView comm, const std::string& directory, std::vector<StoredPart> parts,
                       const output::WriteOptions& options)
    : comm_(comm), directory_(directory), parts_(std::move(parts)) {
  share_description();
  mpi::collectively_on_root(comm_, [&] {
    begin_checkpoint(directory_, step());
    places_ = lay_out();
  });
  mpi::broadcast(comm_, places_, 0);
  mpi::collectively(comm_, [&] {
    for (const auto& part : parts_) data_.push_back(std::make_unique<InputFile>(part.file.data, remedy));
    out_ = std::make_unique<output::RawFile>(file(), output::make_write_call(options, comm_.rank()));
  });
  task_.emplace([this] { copy(); });
}

/// After a restart a rank may have no part at all.
void SharedCopy::share_description() {
  const auto from = mpi::min(comm_, std::int64_t{parts_.empty() ? comm_.size() : comm_.rank()});
  const auto text =
      mpi::broadcast(comm_, from == comm_.rank() ? to_text(parts_.front().part) : "", static_cast<int>(from));
  any_ = part_of("the description of a part", text);
}

std::string SharedCopy::file() const {
  return fmt::format("{}/{}", partial_path(directory_, step()), state_file);
}

/// Makes the file with all that is known beforehand; the places of the rest are returned. @local
std::vector<SharedCopy::Places> SharedCopy::lay_out() const {
  auto file = h5::File::create(this->file());
  for (const auto& [spec, values] : any_.head) {
    file.create_dataset(spec);
    if (!values.empty()) file.write_bytes(spec.path, spec.type, values);
  }
  std::vector<Places> places;
  for (const auto& set : any_.sets) {
    const auto create = [&](const h5::DatasetSpec& spec) {
      return static_cast<std::int64_t>(file.create_dataset(spec).value_or(0));
    };
    const auto data = create(set.data),
               cells = create(rows_of(set, "cells", set.entries.all, set.entry_words)),
               rows = create(rows_of(set, "parts", any_.ranks, set.row.size()));
    places.push_back({data, cells, rows});
  }
  file.close();
  return places;
}

void SharedCopy::copy() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto& part = parts_[p].part;
    for (std::size_t i = 0; i < part.sets.size(); ++i) {
      const auto& set = part.sets[i];
      const auto& to = places_[i];
      copy_extent(*data_[p], set.data_at, set.stored.own, to.data + set.stored.first);
      copy_extent(*data_[p], set.entries_at, set.entries_bytes(),
                  to.cells + set.entries.first * set.entry_bytes());
      const auto row = std::as_bytes(std::span(set.row));
      out_->write_directly(row, to.rows + part.rank * static_cast<std::int64_t>(row.size()));
    }
  }
  out_->flush();
}

void SharedCopy::copy_extent(const InputFile& from, std::int64_t at, std::int64_t bytes, std::int64_t to) {
  for (std::int64_t done = 0; done < bytes;) {
    batch_.resize(static_cast<std::size_t>(std::min(batch_bytes, bytes - done)));
    from.read(at + done, batch_);
    iovec buffer{batch_.data(), batch_.size()};
    out_->write(std::span(&buffer, 1), to + done, step());
    out_->start_flush();
    done += static_cast<std::int64_t>(batch_.size());
  }
}

void SharedCopy::finish() {
  try {
    mpi::collectively(
        comm_,
        [&] {
          task_->finish();
          out_->close();
        },
        output::close_limit_s);
    std::vector<std::uint64_t> sums(any_.sets.size());
    for (const auto& [part, file] : parts_)
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part.sets[i].sum;
    sums = mpi::sum(comm_, sums);
    mpi::collectively_on_root(comm_, [&] {
      Manifest manifest{.simulation = any_.origin.simulation,
                        .program = any_.origin.program,
                        .step = step(),
                        .time_s = any_.origin.time_s,
                        .ranks = any_.ranks,
                        .created = any_.created,
                        .compressed = any_.is_compressed(),
                        .sets = {}};
      for (std::size_t i = 0; i < sums.size(); ++i)
        manifest.sets[any_.sets[i].name()] = {.count = any_.sets[i].count.all, .sum = sums[i]};
      write_manifest(partial_path(directory_, step()), std::move(manifest));
      commit_checkpoint(directory_, step());
    });
  } catch (...) {
    std::error_code ignored;
    if (comm_.is_root()) std::filesystem::remove_all(partial_path(directory_, step()), ignored);
    throw;
  }
}

}  // namespace tailrace::checkpoint
