#include "tailrace/trace/trace.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "tailrace/base/error.hpp"
#include "tailrace/base/system.hpp"

namespace tailrace::trace {

const char* to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::setup:
      return "setup";
    case Kind::compute:
      return "compute";
    case Kind::exchange:
      return "exchange";
    case Kind::pack:
      return "pack";
    case Kind::output_wait:
      return "output_wait";
    case Kind::write:
      return "write";
    case Kind::close:
      return "close";
  }
  return "close";
}

void Log::add(const Span& span) {
  auto& total = totals_[static_cast<std::size_t>(span.kind)];
  total.seconds += span.end_s - span.start_s;
  total.bytes += span.bytes;
  ++total.count;
  if (spans_.size() < most_spans) spans_.push_back(span);
}

Scope::Scope(Log& log, Kind kind, StepIndex step, std::int64_t bytes)
    : log_(&log), span_{.kind = kind, .step = step, .start_s = monotonic_s(), .end_s = 0, .bytes = bytes} {}

double Scope::stop() noexcept {
  if (log_ == nullptr) return 0;
  span_.end_s = monotonic_s();
  log_->add(span_);
  log_ = nullptr;
  return span_.end_s - span_.start_s;
}

void write_csv(const std::string& path, const std::vector<const Log*>& logs, double zero_s) {
  std::ofstream file(path);
  file << "thread,kind,step,start_s,end_s,bytes\n";
  for (const auto* log : logs)
    for (const auto& span : log->spans())
      file << fmt::format("{},{},{},{:.6f},{:.6f},{}\n", log->thread(), to_string(span.kind), span.step,
                          span.start_s - zero_s, span.end_s - zero_s, span.bytes);
  file.close();
  if (file) return;
  std::remove(path.c_str());
  throw Error(ErrorInfo{.kind = ErrorKind::io,
                        .message = path + ": cannot be written",
                        .path = path,
                        .hint = "check the space and the permissions there"});
}

}  // namespace tailrace::trace
