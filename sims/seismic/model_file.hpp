#pragma once

#include "options.hpp"

namespace tailrace::seismic {

/// Opens the datasets that a case names and completes its problem: properties that are read point by point,
/// and the values of the sources. @local. Errors (input): missing or unreadable files, shapes that do not fit
/// the domain, values that are no numbers; all problems together.
void complete_problem(Options& options);

}  // namespace tailrace::seismic
