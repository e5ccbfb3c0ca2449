# shellcheck shell=bash
# What all scripts share. Source it; it defines functions and a few paths and does nothing else.

# shellcheck disable=SC2034
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export RXLET_CACHE=${RXLET_CACHE:-$HOME/.cache/rxlet}

say() { printf '\e[1m==>\e[0m %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Fails with one line that says why, when this machine cannot hold a private node.
need_machine() {
  [[ $(uname -s) == Linux ]] || die "needs Linux: pods run in its namespaces"
  [[ $EUID -eq 0 ]] || die "needs root to make namespaces and cgroups: sudo $0"
  command -v apt-get >/dev/null || die "needs apt-get (Debian or Ubuntu) to fetch containerd"
  need_node
  unshare --mount --net --pid --cgroup --uts --ipc --fork true 2>/dev/null ||
    die "this machine does not let root make mount, network, pid and cgroup namespaces (a container without --privileged?)"
}

need_node() {
  command -v node >/dev/null || die "needs Node.js >= 20.19 and there is no 'node' in PATH (under sudo: sudo env PATH=\"\$PATH\" $0)"
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    die "needs Node.js >= 20.19, but 'node' in PATH is $(node -v)"
  command -v npm >/dev/null || die "needs npm, which comes with Node.js"
}
