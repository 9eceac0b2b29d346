// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "mpi/handles.hpp"
#include "tailrace/comm.hpp"

/// MPI's own types for the handles of our headers, for the sources that call MPI.
namespace tailrace::mpi {

/// The type that MPI has for a handle, and its value for none.
template <class Handle>
struct Native;
template <>
struct Native<Request> {
  using type = MPI_Request;
  static type none() noexcept { return MPI_REQUEST_NULL; }
};
template <>
struct Native<DatatypeHandle> {
  using type = MPI_Datatype;
  static type none() noexcept { return MPI_DATATYPE_NULL; }
};
template <>
struct Native<MessageHandle> {
  using type = MPI_Message;
  static type none() noexcept { return MPI_MESSAGE_NULL; }
};
template <>
struct Native<WindowHandle> {
  using type = MPI_Win;
  static type none() noexcept { return MPI_WIN_NULL; }
};
template <>
struct Native<GroupHandle> {
  using type = MPI_Group;
  static type none() noexcept { return MPI_GROUP_NULL; }
};
template <>
struct Native<InfoHandle> {
  using type = MPI_Info;
  static type none() noexcept { return MPI_INFO_NULL; }
};
template <>
struct Native<FileHandle> {
  using type = MPI_File;
  static type none() noexcept { return MPI_FILE_NULL; }
};

/// A handle of MPI's in 8 bytes, and back. No library has one that is 0.
template <class Raw>
[[nodiscard]] std::uint64_t bits_of(Raw raw) noexcept {
  if constexpr (std::is_pointer_v<Raw>)
    return reinterpret_cast<std::uintptr_t>(raw);  // NOLINT: given back by `of_bits`
  else
    return static_cast<std::uint32_t>(raw);
}
template <class Raw>
[[nodiscard]] Raw of_bits(std::uint64_t bits) noexcept {
  if constexpr (std::is_pointer_v<Raw>)
    return reinterpret_cast<Raw>(static_cast<std::uintptr_t>(bits));  // NOLINT: as it was given
  else
    return static_cast<Raw>(static_cast<std::uint32_t>(bits));
}

/// The handle as MPI takes it.
template <class Handle>
[[nodiscard]] typename Native<Handle>::type native(Handle handle) noexcept {
  return handle == Handle::none ? Native<Handle>::none()
                                : of_bits<typename Native<Handle>::type>(static_cast<std::uint64_t>(handle));
}

/// The handle as our headers have it.
template <class Handle>
[[nodiscard]] Handle handle_of(typename Native<Handle>::type raw) noexcept {
  return raw == Native<Handle>::none() ? Handle::none : static_cast<Handle>(bits_of(raw));
}

/// Lends a handle to one call of MPI that sets or changes it: `MPI_Ibarrier(comm, Lent(request))`.
template <class Handle>
class Lent {
 public:
  explicit Lent(Handle& handle) noexcept : handle_(handle), raw_(native(handle)) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() { handle_ = handle_of<Handle>(raw_); }
  operator typename Native<Handle>::type *() noexcept { return &raw_; }  // NOLINT: what it is for

 private:
  Handle& handle_;
  typename Native<Handle>::type raw_;
};

/// Lends some requests, at most `most`, to calls of MPI.
class LentRequests {
 public:
  static constexpr std::size_t most = 64;
  explicit LentRequests(std::span<Request> requests) noexcept : requests_(requests) {
    std::transform(requests.begin(), requests.end(), raw_.begin(), native<Request>);
  }
  LentRequests(const LentRequests&) = delete;
  LentRequests& operator=(const LentRequests&) = delete;
  ~LentRequests() {
    std::transform(raw_.begin(), raw_.begin() + std::ssize(requests_), requests_.begin(), handle_of<Request>);
  }
  [[nodiscard]] MPI_Request* data() noexcept { return raw_.data(); }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(requests_.size()); }

 private:
  std::span<Request> requests_;
  std::array<MPI_Request, most> raw_;  // NOLINT: as many as there are are set
};

/// Calls `visit(lent requests, number of the first)` for some requests at a time, until it returns false;
/// returns whether it never did.
template <class Visit>
bool for_each_batch(std::span<Request> requests, Visit visit) {
  for (std::size_t first = 0; first < requests.size(); first += LentRequests::most) {
    LentRequests lent(requests.subspan(first, std::min(LentRequests::most, requests.size() - first)));
    if (!visit(lent, first)) return false;
  }
  return true;
}

}  // namespace tailrace::mpi
