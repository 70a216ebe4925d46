# The parts of the checks, sourced by .ci/run and .ci/full. Each part is a function; `part NAME FUNCTION` runs it, prints
# its seconds and goes on after a failure, so that one run shows everything that is wrong; `finish` gives the exit status.

export GTEST_COLOR=no
export UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS=detect_stack_use_after_return=1
symbolizer=$(command -v llvm-symbolizer-16 || true)
[ -z "$symbolizer" ] || export ASAN_SYMBOLIZER_PATH="$symbolizer" UBSAN_SYMBOLIZER_PATH="$symbolizer"

passed=0
failed=0

part() {
  local name=$1 function=$2 start=$SECONDS status=0
  echo "== $name"
  set +e
  (set -euo pipefail; "$function")
  status=$?
  set -e
  if [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
    echo "$name: ok ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    echo "$name: FAILED with status $status ($((SECONDS - start)) s)"
  fi
}

finish() {
  echo "seconds in all: $SECONDS"
  echo "parts: $passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# configure_and_build PRESET TARGET...
configure_and_build() {
  cmake --preset "$1" "${configure_options[@]}"
  cmake --build "build/$1" --target "${@:2}"
}
configure_options=()

# run_labels PRESET LABELS_REGEX
run_labels() {
  ctest --test-dir "build/$1" --output-on-failure -j2 -L "^($2)\$"
}

release_tests() {
  [ ${#configure_options[@]} -eq 0 ] || cmake --preset release "${configure_options[@]}"
  make test
}

address_sanitizer() {
  configure_and_build asan-ubsan kind_unit kind_property kind_world kind_mutation kind_fuzz
  run_labels asan-ubsan "unit|property|world|mutation|fuzz"
}

# The preset builds only the files of tests/unit whose code runs on more than one thread. A thread sanitizer build needs
# address-space randomisation off where the kernel randomises more bits than it can bear.
thread_sanitizer() {
  configure_and_build tsan kind_unit kind_world
  local fixed=()
  ! setarch -R true 2>/dev/null || fixed=(setarch -R)
  "${fixed[@]}" ctest --test-dir build/tsan --output-on-failure -j2 -L "^(unit|world)\$"
}

# Files that differ from HOCKET_CI_BASE, else from the merge base with origin/main, else from the commit before; in a
# repository with one commit all files. Names only of files that still exist.
changed_files() {
  local base=${HOCKET_CI_BASE-} head
  head=$(git rev-parse HEAD)
  [ -n "$base" ] || base=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$head" ]; then
    base=$(git rev-parse --verify --quiet HEAD~1 || true)
  fi
  if [ -n "$base" ]; then
    git diff --name-only --diff-filter=d "$base" -- "$@"
  else
    git ls-files -- "$@"
  fi
}

format_of_changes() {
  local files
  mapfile -t files < <(changed_files '*.h' '*.cpp')
  echo "${#files[@]} changed files"
  [ ${#files[@]} -eq 0 ] || clang-format-16 --dry-run -Werror "${files[@]}"
}

# A changed header is seen through the source of the same name. The commands are those of g++, some of whose options clang
# does not know.
tidy_files_max=16
tidy_of_changes() {
  local files
  mapfile -t files < <(changed_files 'src/*.cpp' 'src/*.h' | sed 's/\.h$/.cpp/' | sort -u |
    while read -r file; do [ ! -f "$file" ] || echo "$file"; done | head -n "$tidy_files_max")
  echo "${#files[@]} changed sources (at most $tidy_files_max)"
  [ ${#files[@]} -eq 0 ] || printf '%s\0' "${files[@]}" | xargs -0 -n 2 -P 2 \
    clang-tidy-16 --quiet -p build/release --extra-arg=-Wno-unknown-warning-option
}

# fuzz_seconds is set by .ci/full.
fuzz_search() {
  configure_and_build fuzz kind_fuzz
  local program name status=0
  mkdir -p build/fuzz/artifacts
  for program in build/fuzz/tests/fuzz_*; do
    [ -x "$program" ] || continue
    name=${program##*/fuzz_}
    mkdir -p "build/fuzz/corpus/$name"
    local corpora=("build/fuzz/corpus/$name")
    [ ! -d "tests/corpus/$name" ] || corpora+=("tests/corpus/$name")
    echo "fuzz $name, $fuzz_seconds s"
    "$program" -max_total_time="$fuzz_seconds" -print_final_stats=1 -verbosity=0 \
      -artifact_prefix="build/fuzz/artifacts/$name-" "${corpora[@]}" || status=1
  done
  return "$status"
}

# A million calls and a hundred communicators made anew, over each transport.
soak() {
  cmake --build build/release --target bench_soak
  local transport
  for transport in shm tcp; do build/release/bench/bench_soak --transport "$transport"; done
}
