#!/usr/bin/env bash
# What `make demo` shows: plans a 64 MiB all-reduce on two networks, proves and simulates every candidate, executes the
# chosen plan and the ring on 16 ranks of one process with checked data, and writes demo/index.html.
set -euo pipefail
cd "$(dirname "$0")/.."

hocket=build/release/hocket
mkdir -p demo
for topology in torus:4x4 examples/irregular16.csv; do
  name=$(basename "${topology//:/_}" .csv)
  link=()
  [[ $topology == *.csv ]] || link=(--link 16GB/s,150ns)
  "$hocket" plan all_reduce --topo "$topology" "${link[@]}" --size 64MiB -o "demo/$name.hkt"
  "$hocket" plan all_reduce --topo "$topology" "${link[@]}" --size 64MiB --algo ring -o "demo/$name.ring.hkt" >/dev/null
  echo
  "$hocket" run "demo/$name.hkt" --ranks 16 --size 64MiB
  "$hocket" run "demo/$name.ring.hkt" --ranks 16 --size 64MiB
  echo
done
"$hocket" report all_reduce --topo torus:4x4 --topo examples/irregular16.csv --size 64MiB -o demo/index.html
echo "open demo/index.html in a browser: what was planned, why it wins, every link over time"
