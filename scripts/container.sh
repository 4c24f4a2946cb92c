#!/usr/bin/env bash
# Containers on a machine that reaches no registry. Needs root and what scripts/install-containers.sh installs.
#   scripts/container.sh bases           makes base images from Debian's packages and from the Node.js of this machine
#   scripts/container.sh ready           says by its exit code whether they are there
#   scripts/container.sh build           builds the Containerfile on them: localhost/herald
#   scripts/container.sh save FILE NAME  writes that image to an OCI archive, under a name such as herald:1.2.3
#   scripts/container.sh run COMMAND …   runs a command, for example podman, in namespaces of its own: nothing is left when it ends
#   scripts/container.sh boot FOLDER     boots Debian with systemd, FOLDER as /opt/herald, and runs the commands of the standard input
# Images are stored in CONTAINERS_HOME, by default ~/.cache/herald-containers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PATH:/usr/sbin:/sbin
store=${CONTAINERS_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/herald-containers}

main() {
  local act=${1:-}
  shift || true
  case $act in
    bases | ready | build | save | run | boot) ;;
    *)
      sed -n '2,9s/^# //p' "${BASH_SOURCE[0]}" >&2
      exit 2
      ;;
  esac
  if [ "$(id -u)" -ne 0 ]; then
    echo 'scripts/container.sh needs root.' >&2
    exit 1
  fi
  configure
  "$act" "$@"
}

# Settings of podman and buildah that hold for this storage only.
configure() {
  local files
  files=$(ulimit -Hn)
  mkdir -p "$store"
  cat >"$store/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$store/images"
runroot = "/run/herald-containers"
END
  # Without the capability SYS_RESOURCE limits can be lowered only, and podman has lowered its processes to 32768 itself. Without it
  # crun cannot write device rules either, so there are no cgroups.
  cat >"$store/containers.conf" <<END
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=$files:$files", "nproc=32768:32768"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
[network]
network_backend = "netavark"
network_config_dir = "$store/networks"
END
  export CONTAINERS_CONF=$store/containers.conf CONTAINERS_STORAGE_CONF=$store/storage.conf
}

ready() {
  local name
  for name in localhost/herald-base localhost/herald-build-base docker.io/library/{postgres:17-bookworm,haproxy:2.8}; do
    buildah inspect --type image "$name" >/dev/null 2>&1 || return 1
  done
}

bases() {
  if ready; then
    echo 'The base images are there.'
    return
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  runtime_base
  debian_base
}

# What Node.js needs and nothing else: no shell, no package manager. The packages are unpacked, not installed.
runtime_base() {
  local root=$work/runtime archive
  mkdir -p "$work/archives" "$root"
  apt-get update -qq
  (cd "$work/archives" && apt-get -o APT::Sandbox::User=root download -qq base-files netbase tzdata libc6 libgcc-s1 libstdc++6 ca-certificates)
  for archive in "$work"/archives/*.deb; do dpkg-deb -x "$archive" "$root"; done
  cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
  printf 'root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n' >"$root/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
  rm -rf "$root"/usr/share/{doc,man,locale,lintian,bug} "$root/usr/lib/"*/gconv
  image "$root" herald-base --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
}

# Debian with the Node.js and npm of this machine to build, and with PostgreSQL 15 and HAProxy 2.6 for compose.yaml.
debian_base() {
  local root=$work/debian node npm
  debootstrap --variant=minbase --include=ca-certificates bookworm "$root" >"$work/log" || { tail "$work/log" >&2 && return 1; }
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  mkdir -p "$root/etc/postgresql-common"
  echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.conf"
  DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -qq -y --no-install-recommends \
    -o Dpkg::Options::=--force-confold postgresql-15 haproxy libstdc++6 systemd-sysv dbus >"$work/log" 2>&1 || { tail "$work/log" >&2 && return 1; }
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}
  # A proxy that opens TLS has a certificate of its own: what this machine trusts, the build trusts.
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
  node=$(readlink -f "$(command -v node)") npm=$(readlink -f "$(command -v npm)")
  npm=${npm%/bin/*}
  mkdir -p "$root/usr/local/lib/node_modules"
  cp "$node" "$root/usr/local/bin/node"
  cp -R "$npm" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
  image "$root" herald-build-base --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt --env npm_config_prefer_offline=true
  stand_ins
}

# What compose.yaml takes from a registry, under the same names: PostgreSQL, and HAProxy as a user that is not root.
stand_ins() {
  local container
  container=$(quietly buildah from localhost/herald-build-base)
  buildah copy -q --chmod 755 "$container" scripts/postgres-entrypoint.sh /usr/local/bin/postgres-entrypoint >/dev/null
  buildah config --entrypoint '["postgres-entrypoint"]' --volume /var/lib/postgresql/data --port 5432 --stop-signal SIGINT \
    --env PATH=/usr/local/bin:/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  buildah commit --rm -q "$container" docker.io/library/postgres:17-bookworm >/dev/null
  container=$(quietly buildah from localhost/herald-build-base)
  buildah config --entrypoint '["haproxy", "-W", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]' --user haproxy \
    --stop-signal SIGUSR1 "$container"
  buildah commit --rm -q "$container" docker.io/library/haproxy:2.8 >/dev/null
}

# A folder becomes an image with one layer.
image() {
  local root=$1 name=$2 container folder
  shift 2
  container=$(quietly buildah from scratch)
  folder=$(buildah mount "$container")
  cp -a "$root/." "$folder/"
  buildah umount "$container" >/dev/null
  buildah config "$@" "$container"
  buildah commit --rm -q "$container" "localhost/$name" >/dev/null
  echo "localhost/$name"
}

# In this machine's network, because npm fetches packages; with its cache, so that it does so once.
build() {
  local cache
  cache=$(quietly npm config get cache)
  mkdir -p "$cache"
  quietly buildah build --isolation chroot --network host --layers --volume "$cache:/root/.npm" \
    --build-arg NODE_IMAGE=localhost/herald-build-base --build-arg RUNTIME_IMAGE=localhost/herald-base \
    --format docker --tag localhost/herald "$@" .
}

save() {
  quietly buildah push -q localhost/herald "oci-archive:$1:$2" >/dev/null
}

# A machine of its own, but for the files: no process, no address, no mount is left when the command ends.
run() {
  # shellcheck disable=SC2016
  exec 9>"$store/lock"
  flock 9
  exec unshare --mount --net --pid --fork --kill-child --mount-proc --propagation private bash -c '
    mount -t tmpfs tmpfs /run
    mount -t tmpfs tmpfs /dev/shm
    umount -R /sys/fs/cgroup 2>/dev/null || true
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
    ip link set lo up
    podman rm --all --force >/dev/null
    podman volume prune --force >/dev/null
    exec "$@"' run "$@"
}

# Debian with systemd as its first process, and a shell in it. What it writes is in memory.
boot() {
  local opt
  opt=$(realpath "$1") && cat >"$store/commands"
  # shellcheck disable=SC2016
  run bash -euc '
    mount --make-rshared /
    mkdir /run/debian
    mount -t tmpfs tmpfs /run/debian && mkdir /run/debian/{upper,work,root}
    base=$(podman image mount localhost/herald-build-base)
    mount -t overlay overlay -o "lowerdir=$base,upperdir=/run/debian/upper,workdir=/run/debian/work" /run/debian/root
    cd /run/debian/root
    mv usr/local/bin/node usr/bin/node && cp -a "$1" opt/herald && cp "$2" root/commands
    rm -f etc/systemd/system/multi-user.target.wants/{haproxy,postgresql}.service
    systemd-nspawn --quiet --directory=. --boot --register=no --keep-unit --console=pipe --machine=herald >/run/console 2>&1 &
    until first=$(pgrep -P $! 2>/dev/null) && nsenter -t "$first" -a systemctl is-system-running 2>/dev/null | grep -qE "running|degraded"; do
      kill -0 $! || { cat /run/console >&2 && exit 1; }
      sleep 0.2
    done
    nsenter -t "$first" -a env -i PATH="$PATH" bash -eu /root/commands' boot "$opt" "$store/commands"
}

# Debian has a configuration of networks that names plugins we do not install: buildah warns at every call.
quietly() {
  "$@" 2> >(grep -vE 'Error validating CNI config|npm warn Unknown' >&2)
}

main "$@"
