#!/usr/bin/env bash
# Makes the files of a release in a folder, from this checkout, and publishes nothing.
#   scripts/release.sh [--no-image] FOLDER
#     herald-VERSION.tgz          the package (scripts/pack.mjs)
#     herald-VERSION-image.tar    the container image as an OCI archive, where buildah and the base images are (scripts/container.sh bases)
#     NOTES.md                    the section of CHANGELOG.md, with the commit
#     SHA256SUMS                  sha256sum -c SHA256SUMS
# docs/releases.md has the order of a release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

main() {
  local with_image=yes
  if [ "${1:-}" = --no-image ]; then
    with_image=no
    shift
  fi
  if [ $# -ne 1 ] || [ "${1#-}" != "$1" ]; then
    sed -n '2,8s/^# //p' "${BASH_SOURCE[0]}" >&2
    exit 2
  fi
  version=$(node -p 'require("./package.json").version')
  commit=$(git rev-parse HEAD)
  check
  mkdir -p "$1"
  folder=$(cd "$1" && pwd)
  if [ -n "$(ls -A "$folder")" ]; then
    echo "$1 is not empty: a release has a folder of its own." >&2
    exit 1
  fi
  node scripts/build.mjs
  node scripts/pack.mjs "$folder" >/dev/null
  if [ "$with_image" = yes ]; then image; fi
  notes >"$folder/NOTES.md"
  (cd "$folder" && sha256sum -- * >"$folder.sums" && mv "$folder.sums" SHA256SUMS)
  ls "$folder"
}

# The changelog begins with this version, and its tag, if there is one, is this commit.
check() {
  local tagged
  if ! grep -m 1 '^## ' CHANGELOG.md | grep -qF "## $version – "; then
    echo "CHANGELOG.md does not begin with version $version of package.json." >&2
    exit 1
  fi
  tagged=$(git rev-parse -q --verify "refs/tags/v$version^{commit}" || true)
  if [ -n "$tagged" ] && [ "$tagged" != "$commit" ]; then
    echo "The tag v$version is another commit ($tagged): raise the version, or check the tag out." >&2
    exit 1
  fi
}

image() {
  if ! command -v buildah >/dev/null; then
    echo 'No image: buildah is not installed (scripts/install-containers.sh).' >&2
  elif [ "$(id -u)" -ne 0 ]; then
    echo 'No image: scripts/container.sh needs root.' >&2
  elif ! bash scripts/container.sh ready; then
    echo 'No image: there are no base images (scripts/container.sh bases).' >&2
  else
    bash scripts/container.sh build
    bash scripts/container.sh save "$folder/herald-$version-image.tar" "herald:$version"
  fi
}

notes() {
  local dirty=''
  [ -z "$(git status --porcelain)" ] || dirty=', with changes that are not committed'
  printf '# Herald %s\n\nCommit %s%s.\n' "$version" "$commit" "$dirty"
  # Links of the changelog begin at the root of the repository.
  awk '/^## / { sections++; next } sections == 1' CHANGELOG.md
}

main "$@"
