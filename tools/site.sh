#!/usr/bin/env bash
# Builds the site into build/site (docs/conf.py says what it may be given); warnings are errors.
# Needs the package and its extra `docs` (pip install '.[docs]') in the Python that PYTHON names.
set -euo pipefail
cd "$(dirname "$0")/.."
"${PYTHON:-python}" -m sphinx -W --keep-going -q -d build/doctrees docs build/site "$@"
echo "build/site/index.html: $(find build/site -name '*.html' | wc -l) pages"
