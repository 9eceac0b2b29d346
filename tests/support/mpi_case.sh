#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One launch runs all cases of a test program, yet each is an entry of CTest, which reads its result:
#   mpi_case.sh RESULTS all COMMAND...              runs all of them and keeps their results, on two of their
#                                                   rank counts; with TAILRACE_ALL_COUNTS, on all
#   mpi_case.sh RESULTS NUMBER CASE COMMAND...      says the kept result, or runs this case alone
# Results count for the CTest that started the launch, known by its process; with another, the case runs.
set -euo pipefail
results=$1
which=$2
shift 2

if [ "$which" = all ]; then
  rm -rf "$results"
  mkdir -p "$results"
  echo "$PPID" >"$results/ctest"
  if [ -z "${TAILRACE_ALL_COUNTS:-}" ]; then set -- "$@" --two-counts; fi
  set -- "$@" "--results=$results" "--test-case-exclude=full:*"
  # Open MPI 4 with PMIx 4 loses the start of a process now and then, which ends the job with these words.
  status=0
  TAILRACE_START_LIMIT=30 "$@" 2>&1 | tee "$results/printed" || status=${PIPESTATUS[0]}
  grep -q "that MPI started have not joined within" "$results/printed" || exit "$status"
  echo "the launch is made once more"
  exec "$@"
fi

name=$1
shift
if [ "$(cat "$results/ctest" 2>/dev/null)" = "$PPID" ] && [ -e "$results/$which" ]; then
  cat "$results/$which"
  grep -q '^ok ' "$results/$which"
else
  exec "$@" "--test-case=${name//,/\\,}"
fi
