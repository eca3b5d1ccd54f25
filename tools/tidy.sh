#!/usr/bin/env bash
# clang-tidy (.clang-tidy has the list) over the core, its tests, and the kernels of one instruction
# set; all sources, or those that are named. CLANG_TIDY names another one; 16 or later.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/tidy
cmake -S . -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCOMMITTAL_PYTHON=OFF -DCOMMITTAL_TESTS=ON \
  -DCOMMITTAL_DISPATCH=OFF > /dev/null
files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(git ls-files 'cpp/core/*.cpp' 'cpp/plan/*.cpp' \
  'cpp/bandit/*.cpp' 'cpp/mdp/*.cpp' 'cpp/kernels/*.cpp' 'cpp/tests/*.cpp')
printf '%s\n' "${files[@]}" | xargs -P "${JOBS:-2}" -n 1 "${CLANG_TIDY:-clang-tidy}" -p "$build" --quiet
