#!/usr/bin/env bash
# What `make demo` shows.
set -euo pipefail
cd "$(dirname "$0")/.."

hocket=build/release/hocket
if [ ! -x "$hocket" ]; then
  echo "demo: $hocket is not built yet"
  exit 0
fi
"$hocket" info
