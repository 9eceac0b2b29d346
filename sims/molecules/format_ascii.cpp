// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "mpi/verdict.hpp"
#include "phase_space_formats.hpp"
#include "phase_space_text.hpp"
#include "shared_file.hpp"
#include "words.hpp"

namespace tailrace::molecules {

namespace {

/// Words of a file from a place on, read a batch at a time.
class WordStream {
 public:
  WordStream(const InputFile& file, std::int64_t begin, std::int64_t end)
      : file_(file), place_(begin), end_(end) {}

  /// The next word; empty at the end. It stays as it is until the next one is asked for.
  std::string_view next() {
    while (at_ < text_.size() || fill()) {
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      std::size_t end = at_;
      while (end < text_.size() && !is_blank(text_[end])) ++end;
      if (end == text_.size() && fill()) continue;  // it may continue in the next batch
      const auto word = std::string_view(text_).substr(at_, end - at_);
      at_ = end;
      if (!word.empty()) return word;
    }
    return {};
  }

 private:
  /// Reads the next batch behind what is left.
  bool fill() {
    constexpr std::int64_t batch_bytes = 1 << 20;
    const std::int64_t bytes = std::min(batch_bytes, end_ - place_);
    if (bytes <= 0) return false;
    text_.erase(0, at_);
    at_ = 0;
    const std::size_t left = text_.size();
    text_.resize(left + static_cast<std::size_t>(bytes));
    file_.read(place_, std::as_writable_bytes(std::span(text_)).subspan(left));
    place_ += bytes;
    return true;
  }

  const InputFile& file_;
  std::int64_t place_, end_;
  std::string text_;
  std::size_t at_ = 0;
};

/// Words that begin in a part of a file.
std::int64_t count_words(const InputFile& file, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return 0;
  std::string text(1 << 20, '\0');
  char before = ' ';
  if (begin > 0) file.read(begin - 1, std::as_writable_bytes(std::span(&before, 1)));
  std::int64_t count = 0;
  for (; begin < end; begin += static_cast<std::int64_t>(text.size())) {
    text.resize(static_cast<std::size_t>(std::min(end - begin, static_cast<std::int64_t>(text.size()))));
    file.read(begin, std::as_writable_bytes(std::span(text)));
    for (const char letter : text) {
      count += is_blank(before) && !is_blank(letter) ? 1 : 0;
      before = letter;
    }
  }
  return count;
}

/// A text file. Each rank reads an equal part of it; where molecules begin follows from counting words.
class AsciiFile final : public PhaseSpace {
 public:
  AsciiFile(mpi::CommView comm, const std::string& path, const TextHeader& text)
      : PhaseSpace(comm, text.header, path), line_(text.line), header_bytes_(text.bytes) {
    mpi::collectively(comm, [&] { file_.emplace(path, whole_file); });
  }
  [[nodiscard]] std::int64_t bytes_read() const noexcept override { return file_->bytes_read(); }

 private:
  void read_molecules(const Share& share, const Take& take) override {
    const auto part = part_of(file_->size_bytes() - header_bytes_, comm().rank(), comm().size());
    std::int64_t begin = header_bytes_ + part.begin, words = 0;
    mpi::collectively(comm(), [&] { words = count_words(*file_, begin, header_bytes_ + part.end); });
    const std::int64_t before = mpi::exclusive_scan(comm(), words);
    check_count(mpi::sum(comm(), words));
    // A rank reads the molecules whose first word is in its part.
    const std::int64_t first = (before + line_.fields - 1) / line_.fields,
                       end = (before + words + line_.fields - 1) / line_.fields;
    if (part.begin > 0) begin = begin_of_word(begin);
    WordStream stream(*file_, begin, file_->size_bytes());
    std::int64_t at = first;
    const auto next = [&] {
      if (at == first && at < end)
        for (std::int64_t word = before; word < first * line_.fields; ++word) stream.next();
      std::vector<Molecule> batch;
      for (; at < end && static_cast<std::int64_t>(batch.size()) < batch_molecules; ++at)
        batch.push_back(read_molecule(stream, at));
      return batch;
    };
    read_in_parts(comm(), share, path(), next, take);
  }

  /// Returns where the first word begins that begins at a place or behind it.
  [[nodiscard]] std::int64_t begin_of_word(std::int64_t place) const {
    char letter = ' ';
    const auto read = [&](std::int64_t at) {
      file_->read(at, std::as_writable_bytes(std::span(&letter, 1)));
      return letter;
    };
    if (place < file_->size_bytes() && !is_blank(read(place - 1)))
      while (place < file_->size_bytes() && !is_blank(read(place))) ++place;
    return place;
  }

  void check_count(std::int64_t words) const {
    const std::int64_t wanted = header().molecules * line_.fields;
    if (words == wanted) return;
    throw Error(ErrorInfo{
        .kind = ErrorKind::input,
        .message =
            words < wanted
                ? fmt::format("{}: ends within molecule {} of {}: it is truncated", path(),
                              words / line_.fields + 1, header().molecules)
                : fmt::format("{}: holds {} numbers behind its header, more than {} molecules of format {} "
                              "have",
                              path(), words, header().molecules, line_.name),
        .path = path(),
        .rank = 0,
        .hint = "the number of molecules that NumberOfMolecules says, and nothing behind them"});
  }

  template <class T>
  T read_number(WordStream& stream, std::int64_t number) const {
    const auto word = stream.next();
    if (const auto value = number_in<T>(word)) return *value;
    throw file_error(path(), fmt::format("molecule {} of the list has {} for a number", number + 1, word),
                     fmt::format("{} numbers, as format {} has", line_.fields, line_.name));
  }

  Molecule read_molecule(WordStream& stream, std::int64_t number) const {
    Molecule molecule;
    molecule.id = read_number<std::uint64_t>(stream, number);
    if (line_.has_component) {
      const auto component = read_number<std::uint32_t>(stream, number);
      molecule.component = component > INT32_MAX ? -1 : static_cast<std::int32_t>(component) - 1;
    }
    const auto fill = [&](auto& values) {
      for (auto& value : values) value = read_number<double>(stream, number);
    };
    fill(molecule.position);
    fill(molecule.velocity);
    if (line_.has_rotation) {
      fill(molecule.orientation);
      fill(molecule.angular_momentum);
    }
    constexpr int with_rotation = 15;
    Vec3 virial;  // of format ICRVQDV, of no use
    if (line_.fields > with_rotation) fill(virial);
    return molecule;
  }

  LineFormat line_;
  std::int64_t header_bytes_;
  std::optional<InputFile> file_;
};

/// Letters of a line: every molecule has as many, so that each rank knows where to write without asking.
constexpr std::int64_t line_bytes = 20 + 1 + 10 + 13 * 25 + 1;

void append_line(std::string& text, const Molecule& molecule) {
  text += fmt::format("{:20} {:10}", molecule.id, molecule.component + 1);
  const auto append = [&](const auto& values) {
    for (const double value : values) text += fmt::format(" {:24.16e}", value);
  };
  append(molecule.position);
  append(molecule.velocity);
  append(molecule.orientation);
  append(molecule.angular_momentum);
  text += '\n';
}

}  // namespace

std::unique_ptr<PhaseSpace> open_ascii(mpi::CommView comm, const PhaseSpaceFiles& files) {
  const auto text = share_text(comm, [&] { return read_text_header(files.data); });
  return std::make_unique<AsciiFile>(comm, files.data, parse_text_header(text, files.data));
}

void write_ascii(mpi::CommView comm, const PhaseSpaceFiles& files, const PhaseSpaceState& state,
                 const StateTotals& totals) {
  const auto header = text_header(state, totals.molecules, totals.state_sum);
  const auto first = static_cast<std::int64_t>(header.size());
  SharedFile file(comm, files.data, first + totals.molecules * line_bytes, state.access);
  const std::array all{&file};
  write_together(comm, all, [&] {
    if (comm.is_root()) file.write(0, header);
    constexpr std::int64_t lines = 4096;
    for (std::int64_t begin = 0; begin < state.list.count; begin += lines) {
      std::string text;
      for (std::int64_t i = begin; i < std::min(begin + lines, state.list.count); ++i)
        append_line(text, state.list.molecule(i));
      file.write(first + (totals.before + begin) * line_bytes, text);
    }
  });
}

}  // namespace tailrace::molecules
