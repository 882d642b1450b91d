# Set-up and build, read by ./rondo when there is something to do; uses its root, build, preset, libtorch
# and stamp. Everything here speaks on stderr, because stdout belongs to the program's results.
# shellcheck shell=bash disable=SC2154

logs=$root/build/logs

say() { printf '%s\n' "rondo: $*" >&2; }

# fail LOG ADVICE: what to show when a step went wrong.
fail() {
  say "that failed; the end of $1:"
  tail -n 25 -- "$1" | cut -c 1-180 | sed 's/^/  | /' >&2
  say "$2"
  exit 1
}

# step NAME SENTENCE ADVICE COMMAND…: announces a step and runs it with its output in a log.
step() {
  local log=$logs/$1.log sentence=$2 advice=$3
  shift 3
  say "$sentence …"
  "$@" >"$log" 2>&1 </dev/null || fail "$log" "$advice"
}

# --- Debian packages -------------------------------------------------------------------------------------

# Prints the packages behind those of the given HEADER=PACKAGE pairs that the compiler does not find.
packages_of_missing_headers() {
  local pair
  for pair in "$@"; do
    printf '#if !__has_include(<%s>)\n%s\n#endif\n' "${pair%%=*}" "${pair#*=}"
  done | "${CXX:-g++}" -x c++ -E -P - | tr -d ' '
}

packages_of_missing_commands() {
  local pair
  for pair in "$@"; do
    command -v "${pair%%=*}" >/dev/null || printf '%s\n' "${pair#*=}"
  done
}

# A Python with pip is only needed to fetch from PyPI.
find_python() {
  for python in python3 /usr/bin/python3; do
    "$python" -m pip --version >/dev/null 2>&1 && return
  done
  return 1
}

# install_packages TARGET: what building TARGET cannot do without, and what makes it quicker. We look for
# commands and headers, not packages: they may have come from somewhere else.
install_packages() {
  local needed=() useful=() for_tests=() headers
  mapfile -t needed < <(packages_of_missing_commands cmake=cmake ninja=ninja-build "${CXX:-g++}=build-essential")
  mapfile -t useful < <(packages_of_missing_commands ccache=ccache mold=mold)
  mapfile -t for_tests < <(packages_of_missing_commands clang-format=clang-format)
  headers=(fmt/format.h=libfmt-dev toml++/toml.h=libtomlplusplus-dev nlohmann/json.hpp=nlohmann-json3-dev
    ceres/ceres.h=libceres-dev oneapi/dnnl/dnnl.hpp=libdnnl-dev CLI/CLI.hpp=libcli11-dev Random123/philox.h=librandom123-dev openssl/evp.h=libssl-dev)
  if command -v "${CXX:-g++}" >/dev/null; then
    mapfile -t -O ${#needed[@]} needed < <(packages_of_missing_headers "${headers[@]}")
    mapfile -t -O ${#for_tests[@]} for_tests < <(packages_of_missing_headers gtest/gtest.h=libgtest-dev)
  else
    needed+=("${headers[@]#*=}")
    for_tests+=(libgtest-dev)
  fi
  fetched || find_python || needed+=(python3 python3-pip)
  if [[ $1 == all ]]; then needed+=("${for_tests[@]}"); else useful+=("${for_tests[@]}"); fi
  # What is merely useful is asked for once, and the build goes on without it.
  if ((${#needed[@]} == 0)); then
    ((${#useful[@]})) && [[ ! -e $logs/apt-install.log ]] || return 0
  fi

  local packages=("${needed[@]}" "${useful[@]}") as_root=()
  ((EUID == 0)) || as_root=(sudo -n)
  if ! command -v apt-get >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
    ((${#needed[@]})) || return 0
    say "Debian packages are missing, and installing them takes root. Run this, then the same command again:"
    say "    sudo apt-get install ${packages[*]}"
    exit 2
  fi
  # Another package manager may be at work on a machine that has just started.
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  local advice="Try it by hand: apt-get update && apt-get install ${packages[*]}"
  (
    step apt-update "asking for the list of Debian packages" "$advice" "${apt[@]}" update
    step apt-install "installing ${packages[*]}" "$advice" \
      "${apt[@]}" install --no-install-recommends "${packages[@]}"
  ) || ((${#needed[@]} == 0)) || exit 1
  fetched || find_python
}

# --- libtorch and the chart bundle, from PyPI ------------------------------------------------------------

component_fetched() { cmp -s "$root/tools/deps-$1.txt" "$root/.deps/$1/requirements.txt"; }
fetched() { component_fetched charts && { [[ $libtorch ]] || component_fetched libtorch; }; }

# download_and_unpack COMPONENT: pip checks the hashes. Naming the platform makes it choose the same wheels
# under every Python; none of them is installed as Python.
download_and_unpack() {
  local wheels=$root/.deps/wheels-$1
  rm -rf -- "$wheels"
  "$python" -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --require-hashes \
    --only-binary=:all: --implementation cp --python-version 3.11 --abi cp311 --abi abi3 --abi none \
    --platform manylinux_2_28_x86_64 --platform manylinux_2_25_x86_64 --platform manylinux2014_x86_64 \
    --dest "$wheels" --requirement "$root/tools/deps-$1.txt" || return
  "$python" "$root/tools/unpack_wheels.py" "$1" "$wheels" "$root/.deps" || return
  rm -rf -- "$wheels"
  cp -- "$root/tools/deps-$1.txt" "$root/.deps/$1/requirements.txt"
}

fetch() {
  local advice="Is the Python package index reachable from here? With a libtorch of your own: RONDO_LIBTORCH=/prefix ./rondo …"
  [[ $libtorch ]] || component_fetched libtorch ||
    step libtorch "fetching libtorch (540 MB)" "$advice" download_and_unpack libtorch
  component_fetched charts ||
    step charts "fetching the chart bundle (34 MB)" "$advice" download_and_unpack charts
}

# --- Configure and build ---------------------------------------------------------------------------------

# Passes ninja's output into a log and shows how far it is: on a terminal in one line, else in tenths.
show_progress() {
  local line shown=-1
  while IFS= read -r line; do
    printf '%s\n' "$line" >&3
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    local done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    if [[ -t 2 ]]; then
      printf '\rrondo: building [%d/%d] …\e[K' "$done" "$total" >&2
    elif ((done * 10 / total != shown)); then
      shown=$((done * 10 / total))
      say "building [$done/$total] …"
    fi
  done 3>"$1"
  [[ ! -t 2 ]] || printf '\r\e[K' >&2
}

# A compilation that includes libtorch takes about 1 GB, so small machines with many cores get fewer jobs.
parallel_jobs() {
  local cores gigabytes
  cores=$(nproc)
  gigabytes=$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  printf '%d\n' $((gigabytes < 1 ? 1 : gigabytes < cores ? gigabytes : cores))
}

# What RONDO_LIBTORCH and RONDO_PRESET ask for may be impossible; that is the user's to know in one sentence.
configure() {
  local log=$logs/configure.log reason
  say "configuring ($preset) …"
  cmake --fresh --preset "$preset" -S "$root" -DRONDO_LIBTORCH="$libtorch" >"$log" 2>&1 </dev/null && return
  reason=$(awk '/^CMake Error/ {on = 1; next} /^$|^Call Stack/ {on = 0} on' "$log" | tr -s ' \n' ' ')
  if [[ $reason == *"libtorch in"* ]]; then say "${reason# }" && exit 2; fi
  fail "$log" "If it makes no sense, remove $build and try again."
}

configure_and_build() {
  local target=$1 settings="libtorch=$libtorch" configured="" home=""
  if [[ -f $build/CMakeCache.txt ]]; then
    read -r configured <"$build/.configured" || true
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
  fi
  # A folder that was moved, or a build with another libtorch, is configured from nothing.
  if [[ $configured != "$settings" || $home != "$root" || ! -f $build/build.ninja ]]; then
    configure
    printf '%s\n' "$settings" >"$build/.configured"
  fi
  # Made before the build begins: what changes meanwhile is newer and gets built the next time.
  printf '%s\n' "$settings" >"$stamp.new"
  local log=$logs/build.log
  NINJA_STATUS='[%f/%t] ' ninja -C "$build" -j "$(parallel_jobs)" "$target" 2>&1 </dev/null |
    show_progress "$log" || fail "$log" "Fix what the compiler says and run the same command again."
  mv -- "$stamp.new" "$stamp"
}

# rondo_set_up TARGET: one at a time per checkout; whoever waited finds the work done.
rondo_set_up() {
  if ! grep -q "\"name\": \"$preset\"" "$root/CMakePresets.json"; then
    say "RONDO_PRESET=$preset: there is no such preset; CMakePresets.json lists them (dev, ci, asan, …)"
    exit 2
  fi
  mkdir -p -- "$logs" "$root/.deps"
  exec 9>"$root/build/.lock"
  if ! flock --nonblock 9; then
    say "waiting for another ./rondo to finish building …"
    flock 9
    [[ $1 == all ]] || ! up_to_date || return 0
  fi
  install_packages "$1"
  fetch
  configure_and_build "$1"
  exec 9>&-
}

rondo_build() {
  rondo_set_up rondo
  say "$build/rondo is up to date"
}

# --- Tests -----------------------------------------------------------------------------------------------

# Formatting differs between releases of clang-format, so only the one in use here is asked.
formatted() {
  local version log=$logs/format.log
  version=$(clang-format --version | grep -o '[0-9]*' | head -n 1)
  if [[ $version != 14 ]]; then
    say "the format is not checked: that takes clang-format 14, and this is $version"
    return
  fi
  find "$root/src" "$root/tests" \( -name '*.h' -o -name '*.cpp' \) -print0 |
    xargs -0 --no-run-if-empty clang-format --dry-run -Werror >"$log" 2>&1 && return
  grep -F 'error:' "$log" | sed "s#^$root/##" | cut -d: -f1,2 | sort -u | head -n 20 | sed 's/^/  | /' >&2
  say "these places are not as clang-format would have them; clang-format -i FILE puts them right"
  return 1
}

rondo_test() {
  rondo_set_up all
  local status=0 log=$logs/ctest.log
  formatted || status=1
  ctest --test-dir "$build" --output-on-failure --label-exclude gpu --parallel "$(nproc)" "$@" </dev/null |
    tee "$log" || status=1
  # ctest follows its verdict with times and lists; the verdict is repeated as the last line.
  ((status == 0)) || say "not all is well: see above"
  grep 'tests passed' "$log" || status=1
  exit "$status"
}
