#!/usr/bin/env bash
# Installs what test/containers.test.ts, test/kubernetes.test.ts and test/systemd.test.ts need: buildah, podman, podman-compose,
# docker-compose without docker, debootstrap, kubectl and systemd-nspawn; and makes the base images (scripts/container.sh). Needs root
# and apt-get; starts nothing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

missing() {
  local program
  for program in buildah podman podman-compose docker-compose iptables ip crun debootstrap systemd-nspawn kubectl; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || echo "$program"
  done
  for program in netavark aardvark-dns; do [ -x "/usr/lib/podman/$program" ] || echo "$program"; done
}

if [ -n "$(missing)" ]; then
  packages=(buildah podman podman-compose netavark aardvark-dns iptables iproute2 crun debootstrap systemd-container docker-compose)
  # A machine with a kubectl of another package has the same file: dpkg refuses a second one, and with it all others.
  command -v kubectl >/dev/null || packages+=(kubernetes-client)
  from_debian "${packages[@]}"
fi
if [ -n "$(missing)" ]; then
  echo "Not installed: $(missing | xargs)." >&2
  exit 1
fi
echo 'buildah, podman, debootstrap, kubectl and systemd-nspawn are installed.'
bash "$(dirname "${BASH_SOURCE[0]}")/container.sh" bases
