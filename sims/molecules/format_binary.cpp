// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <pugixml.hpp>

#include "mpi/verdict.hpp"
#include "phase_space_formats.hpp"
#include "shared_file.hpp"

namespace tailrace::molecules {

namespace {

struct NamedLayout {
  const char* name;
  RowLayout layout;
};
constexpr std::array layouts{NamedLayout{"ICRVQD", icrvqd_row}, NamedLayout{"ICRV", icrv_row},
                             NamedLayout{"IRV", irv_row}};

constexpr std::int64_t longest_header = 1 << 20;

std::string read_all(const std::string& path) {
  const InputFile file(path, whole_file);
  if (file.size_bytes() > longest_header)
    throw file_error(path, "is no header: it is too long", "the XML header");
  std::string text(static_cast<std::size_t>(file.size_bytes()), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

struct BinaryHeader {
  PhaseSpaceHeader header;
  RowLayout layout;
};

/// Reads the elements of a header; all problems together.
class HeaderReader {
 public:
  HeaderReader(const std::string& text, const std::string& path) : problems_(path) {
    const auto result = document_.load_buffer(text.data(), text.size());
    if (!result)
      throw file_error(path, fmt::format("is no XML at byte {}: {}", result.offset, result.description()),
                       "the whole header");
    info_ = document_.child("mardyn").child("headerinfo");
    if (!info_) throw file_error(path, "has no /mardyn/headerinfo", "the header of a binary checkpoint");
  }

  BinaryHeader read() {
    BinaryHeader result;
    result.header.time = number("time");
    result.header.box = Vec3{number("length/x"), number("length/y"), number("length/z")};
    for (const double length : *result.header.box)
      if (!(length > 0)) problems_.add("headerinfo/length is not positive");
    result.header.molecules = static_cast<std::int64_t>(number("number"));
    if (result.header.molecules < 0) problems_.add("headerinfo/number is negative");
    const std::string name = info_.child("format").attribute("type").value();
    const auto* const found =
        std::find_if(layouts.begin(), layouts.end(), [&](const auto& one) { return name == one.name; });
    if (found == layouts.end())
      problems_.add(fmt::format("headerinfo/format: unknown type {}", name), "ICRVQD, ICRV or IRV");
    else
      result.layout = found->layout;
    if (const auto sum = info_.child("statesum"))
      result.header.state_sum = std::strtoull(sum.child_value(), nullptr, 16);
    problems_.throw_if_any();
    return result;
  }

 private:
  double number(const char* path) {
    const auto node = info_.first_element_by_path(path);
    const std::string text = node.child_value();
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (!node || end == text.c_str() || !std::isfinite(value))
      problems_.add(fmt::format("headerinfo/{} has no number", path));
    return value;
  }

  pugi::xml_document document_;
  pugi::xml_node info_;
  Problems problems_;
};

/// Rows one behind the other. Each rank reads an equal part of them.
class BinaryFile final : public PhaseSpace {
 public:
  BinaryFile(mpi::CommView comm, const PhaseSpaceFiles& files, const BinaryHeader& header)
      : PhaseSpace(comm, header.header, files.data), layout_(header.layout) {
    mpi::collectively(comm, [&] {
      file_.emplace(files.data, whole_file);
      const std::int64_t wanted = header.header.molecules * layout_.bytes;
      if (file_->size_bytes() != wanted)
        throw file_error(
            files.data,
            fmt::format("has {} bytes where {} molecules of {} bytes are {}{}", file_->size_bytes(),
                        header.header.molecules, layout_.bytes, wanted,
                        file_->size_bytes() < wanted ? ": it is truncated" : ""),
            fmt::format(
                "the file that belongs to {}; what ls1 mardyn leaves of a longer file that it writes over "
                "can be cut off: truncate -s {} FILE",
                files.header, wanted));
    });
  }
  [[nodiscard]] std::int64_t bytes_read() const noexcept override { return file_->bytes_read(); }

 private:
  void read_molecules(const Share& share, const Take& take) override {
    const auto part = part_of(header().molecules, comm().rank(), comm().size());
    RowReader reader(*file_, code_of(layout_), {{part.begin * layout_.bytes, part.end - part.begin}});
    read_in_parts(
        comm(), share, path(), [&] { return reader.next(); }, take);
  }

  RowLayout layout_;
  std::optional<InputFile> file_;
};

std::string header_text(const PhaseSpaceState& state, const StateTotals& totals) {
  return fmt::format(
      "<?xml version='1.0' encoding='UTF-8'?>\n<mardyn version=\"20100525\" >\n\t<headerinfo>\n"
      "\t\t<time>{:.16e}</time>\n\t\t<length>\n\t\t\t<x>{:.16e}</x> <y>{:.16e}</y> <z>{:.16e}</z>\n"
      "\t\t</length>\n\t\t<number>{}</number>\n\t\t<format type=\"ICRVQD\"/>\n"
      "\t\t<statesum>{:016x}</statesum>\n\t</headerinfo>\n</mardyn>\n",
      state.time, state.box[0], state.box[1], state.box[2], totals.molecules, totals.state_sum);
}

}  // namespace

std::unique_ptr<PhaseSpace> open_binary(mpi::CommView comm, const PhaseSpaceFiles& files) {
  const auto text = share_text(comm, [&] { return read_all(files.header); });
  return std::make_unique<BinaryFile>(comm, files, HeaderReader(text, files.header).read());
}

void write_binary(mpi::CommView comm, const PhaseSpaceFiles& files, const PhaseSpaceState& state,
                  const StateTotals& totals) {
  const auto header = header_text(state, totals);
  SharedFile file(comm, files.data, totals.molecules * icrvqd_row.bytes, state.access);
  SharedFile header_file(comm, files.header, static_cast<std::int64_t>(header.size()), state.access);
  const std::array all{&file, &header_file};
  write_together(comm, all, [&] {
    if (comm.is_root()) header_file.write(0, header);
    file.write_rows(totals.before * icrvqd_row.bytes, packer_of(icrvqd_row), state.list);
  });
}

}  // namespace tailrace::molecules
