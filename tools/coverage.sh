#!/usr/bin/env bash
# Coverage: of Python by the fast tests, and of C++ by the C++ tests. Some minutes. Needs the
# extra `test` and coverage in the Python that PYTHON names, gcovr on the
# PATH (pip install coverage 'gcovr>=8'), cmake and GCC.
#
#   tools/coverage.sh            # both
#   tools/coverage.sh python     # with tests to run after it, if not all of them
#   tools/coverage.sh cpp
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python}
what=${1:-both}
[ $# -eq 0 ] || shift

if [ "$what" != cpp ]; then
  rm -rf build/coverage
  mkdir -p build/coverage
  # Also in the processes that tests start.
  cat > build/coverage/rc << 'RC'
[run]
branch = true
parallel = true
source = committal
data_file = ${COVERAGE_DATA}
patch = subprocess
[report]
exclude_also =
    if TYPE_CHECKING:
    \.\.\.$
RC
  export COVERAGE_DATA="$PWD/build/coverage/data" COVERAGE_RCFILE="$PWD/build/coverage/rc"
  "$python" -m coverage run -m pytest -q -n 0 -p no:cacheprovider "$@"
  "$python" -m coverage combine -q
  "$python" -m coverage report --skip-covered --sort=cover | tee build/coverage/python.txt | tail -n 40
fi

if [ "$what" != python ]; then
  # One instruction set, little optimisation: lines about as they are written.
  cmake -S . -B build/gcov -DCMAKE_BUILD_TYPE=Debug -DCOMMITTAL_PYTHON=OFF -DCOMMITTAL_TESTS=ON \
    -DCOMMITTAL_DISPATCH=OFF -DCOMMITTAL_COVERAGE=ON > /dev/null
  cmake --build build/gcov > /dev/null
  find build/gcov -name '*.gcda' -delete
  ctest --test-dir build/gcov --output-on-failure > /dev/null
  # A line of a template is one line, however often it is compiled.
  gcovr --merge-lines --root . --filter cpp/ --exclude cpp/tests/ --print-summary --sort uncovered-percent build/gcov \
    | tee build/gcov/cpp.txt | tail -n 45
fi
