#!/usr/bin/env bash
# image.sh [TAG] builds the container image (default: atrium) with buildah, and starts it once, as its user and with its empty /data: it
# must become ready.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=.ci/packages.sh
. .ci/packages.sh

command -v buildah >/dev/null || install_packages buildah
tag=${1:-atrium}
dir=$(mktemp -d)
container= server=
cleanup() {
  [ -z "$server" ] || kill -KILL -- "-$server" 2>/dev/null || true
  [ -z "$container" ] || buildah rm "$container" >/dev/null
  rm -rf "$dir"
}
trap cleanup EXIT

mkdir "$dir/data"
CGO_ENABLED=0 go build -trimpath -ldflags=-s -o "$dir/atrium" ./cmd/atrium
buildah build -t "$tag" -f cmd/atrium/deploy/Containerfile "$dir"

container=$(buildah from "$tag")
set -m # a process group of its own, so that nothing of it stays behind
# A chroot is the isolation that works without cgroups, so inside another container as well.
buildah run --isolation chroot "$container" -- /atrium serve --no-demo --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 >"$dir/out" 2>&1 &
server=$!
disown # no notice of its end
set +m
for _ in {1..300}; do
  ! grep '^ready ' "$dir/out" || exit 0
  kill -0 "$server" 2>/dev/null || break
  sleep 0.2
done
cat "$dir/out" >&2
exit 1
