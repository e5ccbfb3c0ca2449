# shellcheck shell=bash
# What all scripts share. Source it; it defines functions and a few paths and does nothing else.

# shellcheck disable=SC2034
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export RXLET_CACHE=${RXLET_CACHE:-$HOME/.cache/rxlet}

say() { printf '\e[1m==>\e[0m %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Fails with one line that says why, when this machine cannot hold a private node.
need_machine() {
  need_linux
  local why
  why=$(why_no_containers)
  [[ -z $why ]] || die "$why"
  need_node
}

need_linux() {
  [[ $(uname -s) == Linux ]] || die "needs Linux: pods run in its namespaces"
}

# Prints in a line why there can be no real containers; nothing where there can.
why_no_containers() {
  if [[ $EUID -ne 0 ]]; then
    echo "needs root to make namespaces and cgroups: sudo $0"
  elif ! command -v apt-get >/dev/null; then
    echo "needs apt-get (Debian or Ubuntu) to fetch containerd"
  elif ! unshare --mount --net --pid --cgroup --uts --ipc --fork true 2>/dev/null; then
    echo "this machine does not let root make mount, network, pid and cgroup namespaces (a container without --privileged?)"
  elif ! awk '{ for (i = 1; i <= NF; i++) if ($i == "-" && $(i + 1) ~ /^cgroup2?$/) { all++; if ($6 ~ /(^|,)ro(,|$)/) bad++ } }
      END { exit !(all > 0 && bad == 0) }' /proc/self/mountinfo; then
    echo "the cgroups of this machine cannot be written (a container without --privileged?)"
  fi
}

need_node() {
  command -v node >/dev/null || die "needs Node.js >= 20.19 and there is no 'node' in PATH (under sudo: sudo env PATH=\"\$PATH\" $0)"
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    die "needs Node.js >= 20.19, but 'node' in PATH is $(node -v)"
  command -v npm >/dev/null || die "needs npm, which comes with Node.js"
}
