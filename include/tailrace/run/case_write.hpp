// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tailrace/trace.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::run {

class CaseFile;

/// Reads the table [write] of a case into the options of the output; what the command line says goes before
/// it. What is wrong becomes problems of the file. @local
void read_write(CaseFile& file, const output::OptionTexts& typed, output::WriteOptions& options);
/// Makes the table of the resolved case complete. @local
void set_write_defaults(CaseFile& file, const output::WriteOptions& options);

/// Returns what the key trace.mode of a case asks for; `typed`, the option --trace, goes before it unless it
/// is empty. What is wrong becomes problems of the file. @local
trace::Mode read_trace(CaseFile& file, const std::string& typed);
/// Puts what was decided of the trace into the resolved case. @local
void set_trace_default(CaseFile& file, trace::Mode mode);

}  // namespace tailrace::run
