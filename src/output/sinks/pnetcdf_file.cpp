// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/pnetcdf_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pnetcdf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include "base/check.hpp"
#include "mpi/native.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

[[noreturn]] void fail(const std::string& name, const char* operation, int code, int left_errno) {
  const bool full = code == NC_ENO_SPACE || left_errno == ENOSPC;
  const std::string reason = full                ? std::strerror(ENOSPC)
                             : code == NC_EQUOTA ? std::strerror(EDQUOT)
                             : code != NC_EFILE  ? ncmpi_strerror(code)
                             : left_errno != 0   ? std::strerror(left_errno)
                                                 : ncmpi_strerror(code);
  throw Error(ErrorInfo{
      .kind = ErrorKind::io,
      .message = fmt::format("{}: {} through PnetCDF failed: {}", name, operation, reason),
      .path = name,
      .hint = full ? "free space on the file system, write fewer samples, or write to another directory"
                   : "check the directory and its permissions, or write with another sink"});
}

nc_type nc_type_of(h5::ElementType type) {
  switch (type) {
    case h5::ElementType::float32:
      return NC_FLOAT;
    case h5::ElementType::float64:
      return NC_DOUBLE;
    case h5::ElementType::int64:
      return NC_INT64;
    case h5::ElementType::uint64:
      return NC_UINT64;
    case h5::ElementType::uint8:
    case h5::ElementType::other:
      break;
  }
  TAILRACE_CHECK(false, "no netCDF type for this element type");
  return NC_NAT;
}

MPI_Datatype memory_type_of(h5::ElementType type) {
  switch (type) {
    case h5::ElementType::float32:
      return MPI_FLOAT;
    case h5::ElementType::float64:
      return MPI_DOUBLE;
    case h5::ElementType::int64:
      return MPI_LONG_LONG_INT;
    default:
      return MPI_UNSIGNED_LONG_LONG;
  }
}

constexpr std::array types{h5::ElementType::float32, h5::ElementType::float64, h5::ElementType::int64,
                           h5::ElementType::uint64};

using Numbers = std::vector<MPI_Offset>;

}  // namespace

void PnetcdfFile::check(int code, const char* operation) const {
  if (code != NC_NOERR) fail(name_, operation, code, errno);
}

PnetcdfFile PnetcdfFile::create(mpi::CommView comm, const std::string& place, const std::string& name,
                                const mpi::Hints& hints) {
  const mpi::Info info(hints);
  int id = -1;
  errno = 0;
  const int code =
      ncmpi_create(comm.get(), place.c_str(), NC_CLOBBER | NC_64BIT_DATA, mpi::native(info.get()), &id);
  if (code != NC_NOERR) fail(name, "creating", code, errno);
  return {id, name};
}

PnetcdfFile PnetcdfFile::open(mpi::CommView comm, const std::string& path, const mpi::Hints& hints) {
  const mpi::Info info(hints);
  int id = -1;
  errno = 0;
  const int code = ncmpi_open(comm.get(), path.c_str(), NC_WRITE, mpi::native(info.get()), &id);
  if (code != NC_NOERR) fail(path, "opening", code, errno);
  return {id, path};
}

PnetcdfFile::PnetcdfFile(PnetcdfFile&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      name_(std::move(other.name_)),
      dimensions_(std::move(other.dimensions_)),
      requests_(std::move(other.requests_)) {}

int PnetcdfFile::define(const std::string& variable, const h5::Shape& shape, h5::ElementType type) {
  std::vector<int> ids;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const auto dimension = fmt::format("axis{}_{}", shape.size() - 1 - k, shape[k]);
    const auto [known, is_new] = dimensions_.emplace(dimension, -1);
    if (is_new)
      check(ncmpi_def_dim(id_, dimension.c_str(), static_cast<MPI_Offset>(shape[k]), &known->second),
            "defining a dimension");
    ids.push_back(known->second);
  }
  int id = -1;
  check(ncmpi_def_var(id_, variable.c_str(), nc_type_of(type), static_cast<int>(ids.size()), ids.data(), &id),
        "defining a variable");
  return id;
}

void PnetcdfFile::define(int variable, const h5::Attribute& attribute) {
  const char* const name = attribute.name.c_str();
  if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.value)) {
    // The format has no lists of texts.
    return define(variable, {attribute.name, fmt::format("{}", fmt::join(*texts, " ")), 0});
  }
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
    const std::vector<long long> list(integers->begin(), integers->end());
    check(ncmpi_put_att_longlong(id_, variable, name, NC_INT64, static_cast<MPI_Offset>(list.size()),
                                 list.data()),
          "defining an attribute");
  } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    std::string padded = *text;
    padded.resize(std::max(padded.size(), attribute.reserved_bytes), '\0');
    check(ncmpi_put_att_text(id_, variable, name, static_cast<MPI_Offset>(padded.size()), padded.data()),
          "defining an attribute");
  } else if (const auto* number = std::get_if<double>(&attribute.value)) {
    check(ncmpi_put_att_double(id_, variable, name, NC_DOUBLE, 1, number), "defining an attribute");
  } else {
    const long long integer = std::get<std::int64_t>(attribute.value);
    check(ncmpi_put_att_longlong(id_, variable, name, NC_INT64, 1, &integer), "defining an attribute");
  }
}

void PnetcdfFile::finish_definitions() {
  errno = 0;
  check(ncmpi_enddef(id_), "writing the head");
}

void PnetcdfFile::update_text(const std::string& attribute, const std::string& text) {
  MPI_Offset reserved = 0;
  check(ncmpi_inq_attlen(id_, NC_GLOBAL, attribute.c_str(), &reserved), "looking for an attribute");
  const auto length = std::min(static_cast<MPI_Offset>(text.size()), reserved);
  errno = 0;
  check(ncmpi_put_att_text(id_, NC_GLOBAL, attribute.c_str(), length, text.data()), "writing an attribute");
}

int PnetcdfFile::find(const std::string& variable) const {
  int id = -1;
  check(ncmpi_inq_varid(id_, variable.c_str(), &id), "looking for a variable");
  return id;
}

std::int64_t PnetcdfFile::place(int variable) const {
  MPI_Offset offset = 0;
  check(ncmpi_inq_varoffset(id_, variable, &offset), "looking for a variable's place");
  return offset;
}

void PnetcdfFile::write_all(int variable, std::span<const std::byte> values) {
  nc_type nc = NC_NAT;
  check(ncmpi_inq_vartype(id_, variable, &nc), "looking for a variable's type");
  const auto type =
      *std::find_if(types.begin(), types.end(), [&](auto one) { return nc_type_of(one) == nc; });
  errno = 0;
  check(
      ncmpi_put_var_all(id_, variable, values.data(),
                        static_cast<MPI_Offset>(values.size() / h5::size_bytes(type)), memory_type_of(type)),
      "writing a variable");
}

void PnetcdfFile::write_element(int variable, const std::vector<std::uint64_t>& element,
                                std::uint64_t value) {
  const Numbers start(element.begin(), element.end());
  const unsigned long long number = value;
  errno = 0;
  check(ncmpi_put_var1_ulonglong_all(id_, variable, start.data(), &number), "writing a number");
}

void PnetcdfFile::post(int variable, std::span<const h5::Hyperslab> hyperslabs, h5::ElementType type,
                       std::span<const std::byte> values) {
  std::vector<Numbers> starts, counts;
  for (const auto& hyperslab : hyperslabs) {
    starts.emplace_back(hyperslab.start.begin(), hyperslab.start.end());
    counts.emplace_back(hyperslab.count.begin(), hyperslab.count.end());
  }
  std::vector<MPI_Offset*> start_lists, count_lists;
  for (auto& numbers : starts) start_lists.push_back(numbers.data());
  for (auto& numbers : counts) count_lists.push_back(numbers.data());
  int request = NC_REQ_NULL;
  check(ncmpi_iput_varn(id_, variable, static_cast<int>(hyperslabs.size()), start_lists.data(),
                        count_lists.data(), values.data(),
                        static_cast<MPI_Offset>(values.size() / h5::size_bytes(type)), memory_type_of(type),
                        &request),
        "asking for a write");
  requests_.push_back(request);
}

void PnetcdfFile::complete() {
  std::vector<int> codes(requests_.size(), NC_NOERR);
  errno = 0;
  const int code = ncmpi_wait_all(id_, static_cast<int>(requests_.size()), requests_.data(), codes.data());
  requests_.clear();
  check(code, "writing");
  for (const int one : codes) check(one, "writing");
}

void PnetcdfFile::close() {
  errno = 0;
  check(ncmpi_close(std::exchange(id_, -1)), "closing");
}

}  // namespace tailrace::output
