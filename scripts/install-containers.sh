#!/usr/bin/env bash
# Installs what test/containers.test.ts, test/kubernetes.test.ts and test/systemd.test.ts need: buildah, podman, podman-compose,
# docker-compose without docker, debootstrap, kubectl and systemd-nspawn; and makes the base images (scripts/container.sh). Needs root and apt-get; starts nothing.
set -euo pipefail

packages=(buildah podman podman-compose netavark aardvark-dns iptables iproute2 crun debootstrap systemd-container kubernetes-client docker-compose)

missing() {
  local program
  for program in buildah podman podman-compose docker-compose iptables ip crun debootstrap systemd-nspawn kubectl; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || echo "$program"
  done
  for program in netavark aardvark-dns; do [ -x "/usr/lib/podman/$program" ] || echo "$program"; done
}

if [ -z "$(missing)" ]; then
  echo 'buildah, podman, debootstrap, kubectl and systemd-nspawn are installed.'
  exec bash "$(dirname "${BASH_SOURCE[0]}")/container.sh" bases
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "Not installed: $(missing | xargs). Installing it needs root and apt-get." >&2
  exit 1
fi

# While this file forbids it, no package starts its service. One that was there before stays as it is.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get -o DPkg::Lock::Timeout=300 install -qq -y --no-install-recommends "${packages[@]}" >/dev/null
if [ -n "$(missing)" ]; then
  echo "Not installed: $(missing | xargs)." >&2
  exit 1
fi
echo 'buildah, podman, debootstrap, kubectl and systemd-nspawn are installed.'
bash "$(dirname "${BASH_SOURCE[0]}")/container.sh" bases
