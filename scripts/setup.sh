#!/bin/sh
# Installs the Debian packages that hocket is built with; with the argument `ci` also those that only CI uses.
# Says nothing and does nothing when all are there. Runs under plain sh: a bare machine has nothing else.
set -eu

packages="g++ dpkg-dev cmake ninja-build ccache pkg-config python3 libfmt-dev libcli11-dev nlohmann-json3-dev libpugixml-dev
libgtest-dev libbenchmark-dev librapidcheck-dev libexpected-dev libyaml-cpp-dev zlib1g-dev libssl-dev"
ci_packages="git clang-16 clang-tidy-16 clang-format-16 libclang-rt-16-dev llvm-16 chromium libucx-dev
libopenblas-serial-dev"

case "${1-}" in
  "") ;;
  ci) packages="$packages $ci_packages" ;;
  *) echo "usage: scripts/setup.sh [ci]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; install the equivalents of:" $packages >&2
  exit 1
fi

# One query for all: a line per package that is fully installed, its architecture cut off.
installed=" $(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $packages 2>/dev/null |
  sed -n 's/ installed$//p' | tr '\n' ' ')"
missing=""
for package in $packages; do
  case "$installed" in
    *" $package "*) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: missing packages, and neither root nor sudo to install them:$missing" >&2
    exit 1
  fi
  as_root="sudo"
fi
echo "setup: installing$missing"
$as_root apt-get update -qq -o DPkg::Lock::Timeout=300
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends $missing >/dev/null
