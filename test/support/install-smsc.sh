#!/usr/bin/env bash
# Installs the independent SMSC of the long suite: Perl's Net::SMPP. Needs root and Debian; starts nothing.
set -euo pipefail

if perl -MNet::SMPP -e 1 2>/dev/null; then
  echo 'Net::SMPP is installed.'
  exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo 'Net::SMPP is not installed, and installing it needs root and apt-get.' >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends libnet-smpp-perl >/dev/null
echo 'Net::SMPP is installed.'
