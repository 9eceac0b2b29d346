#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# results.sh MPI_CASE DIRECTORY COMMAND...: the results that a launch keeps of its cases, read as CTest's entries do.
# The fifth case of selftest.cpp hangs and ends the launch, so the sixth has no result.
set -euo pipefail
script=$1 results=$2
shift 2

expect() {
  local wanted=$1 status=0
  shift
  "$@" || status=$?
  if [ "$status" -ne "$wanted" ]; then echo "status $status instead of $wanted: $*"; exit 1; fi
}

# Its status is mpiexec's, and which one that makes of ranks that end at the same time is a matter of chance.
if "$script" "$results" all "$@"; then echo "the launch did not fail"; exit 1; fi
expect 0 "$script" "$results" 0 "passes everywhere" false
"$script" "$results" 1 "one rank fails" true >"$results/reason" || true
grep -q "one rank fails .3 ranks., rank 2" "$results/reason" || { echo "the reason is missing"; exit 1; }
for failed in 1 2 3 4; do expect 1 "$script" "$results" "$failed" "" true; done
expect 0 "$script" "$results" 5 "ran alone" true
# Another CTest, which is another parent, does not believe them.
expect 7 bash -c '"$@"; exit $?' - "$script" "$results" 0 "ran alone" bash -c 'exit 7'

# A launch in which processes that MPI started never joined is made once more, and no other one.
launches=$(mktemp)
lost='echo "the processes of x that MPI started have not joined within 30 s" >&2'
expect 3 "$script" "$results" all bash -c "echo >>\"\$0\"; $lost; exit 3" "$launches"
expect 3 "$script" "$results" all bash -c 'echo >>"$0"; exit 3' "$launches"
if [ "$(wc -l <"$launches")" -ne 3 ]; then echo "$(wc -l <"$launches") launches instead of 3"; exit 1; fi
rm "$launches"
