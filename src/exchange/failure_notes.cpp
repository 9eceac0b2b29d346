// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/failure_notes.hpp"

#include <span>
#include <string>

#include "base/bytes.hpp"
#include "mpi/message.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::exchange {

namespace {

constexpr int note_tag = 32001;

}  // namespace

void FailureNotes::fail(ErrorInfo info) {
  if (info.rank < 0) info.rank = comm_.rank();
  if (!failed()) {
    const std::string text = mpi::to_text(info);
    append_bytes(note_, std::as_bytes(std::span(text)));
    for (const int peer : peers_) sends_.push_back(mpi::start_send(comm_, note_, peer, note_tag));
  }
  throw Error(info);
}

void FailureNotes::look() {
  const auto note = mpi::find_arrival(comm_, note_tag);
  if (!note) return;
  const auto bytes = mpi::receive(*note);
  fail(mpi::error_from(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
}

}  // namespace tailrace::exchange
