# shellcheck shell=bash
# shellcheck disable=SC2154
# Fetches what is missing and nothing else; every function is quick when there is nothing to do. Needs common.sh.

# npm packages of the lock file.
install_npm() {
  [[ $repo/node_modules/.package-lock.json -nt $repo/package-lock.json && $repo/node_modules/.package-lock.json -nt $repo/package.json ]] && return
  say "npm ci"
  (cd "$repo" && npm ci --no-fund --no-audit --loglevel=error) || die "npm ci failed"
  touch "$repo/node_modules/.package-lock.json"
}

# The Debian packages named, without starting any service that comes with them.
install_debs() {
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  say "apt-get install ${missing[*]}"
  apt-get install -s "${missing[@]}" >/dev/null 2>&1 || apt-get update -qq || die "apt-get update failed"
  local ours=
  if [[ ! -e /usr/sbin/policy-rc.d ]]; then
    # 101: "action forbidden", so that the machine's own containerd stays off unless its owner starts it.
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
    ours=1
  fi
  local failed=
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$RXLET_CACHE/apt.log" 2>&1 || failed=1
  [[ -z $ours ]] || rm -f /usr/sbin/policy-rc.d
  [[ -z $failed ]] || { tail -n 20 "$RXLET_CACHE/apt.log" >&2; die "apt-get install failed"; }
}

# containerd 2.x beside the system's 1.6, into the cache. Sets `containerd_2`.
install_containerd_2() {
  containerd_2=$RXLET_CACHE/containerd-2
  [[ -x $containerd_2/usr/bin/containerd ]] && return
  say "fetch containerd 2.x (Debian sid) into $containerd_2"
  rm -rf "$containerd_2.new"
  "$repo/scripts/deb-beside" sid "$containerd_2.new" containerd >&2 || die "cannot fetch containerd from Debian sid"
  rm -rf "$containerd_2"
  mv "$containerd_2.new" "$containerd_2"
}

# kubectl, for its own side of exec and port-forward, into the cache. Sets `kubectl`.
install_kubectl() {
  kubectl=$RXLET_CACHE/kubectl/usr/bin/kubectl
  [[ -x $kubectl ]] && return
  say "fetch kubectl (Debian sid) into $RXLET_CACHE/kubectl"
  rm -rf "$RXLET_CACHE/kubectl.new" "$RXLET_CACHE/kubectl"
  "$repo/scripts/deb-beside" sid "$RXLET_CACHE/kubectl.new" kubectl >&2 || die "cannot fetch kubectl from Debian sid"
  mv "$RXLET_CACHE/kubectl.new" "$RXLET_CACHE/kubectl"
}

# Another major version of Node.js, from the npm package that holds its binary. Sets `node_binary`.
install_node() { # MAJOR
  local prefix=$RXLET_CACHE/node-$1 platform
  platform=$(node -p 'process.platform + "-" + process.arch')
  node_binary=$prefix/node_modules/node-$platform/bin/node
  [[ -x $node_binary ]] && return
  say "fetch Node.js $1 into $prefix"
  mkdir -p "$prefix"
  npm install --prefix "$prefix" --no-save --no-fund --no-audit --loglevel=error "node-$platform@$1" >&2 || die "cannot fetch node-$platform@$1 from npm"
  [[ -x $node_binary ]] || die "npm package node-$platform@$1 holds no bin/node"
}

# What a private node needs: `install_runtime 1.6` or `install_runtime 2`. Sets `images`, the folder of image archives.
install_runtime() {
  mkdir -p "$RXLET_CACHE"
  install_debs containerd runc containernetworking-plugins busybox-static iproute2 iptables util-linux
  case $1 in
    1.6) ;;
    2) install_containerd_2 ;;
    *) die "no such runtime: $1 (1.6 or 2)" ;;
  esac
  images=$RXLET_CACHE/images
  node "$repo/scripts/lib/build-images.mjs" "$images" || die "cannot build the images"
}
