#!/usr/bin/env bash
# build.sh writes dist/ anew from the packages of package-lock.json. They are installed outside of the repository.
set -euo pipefail
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp build.mjs package.json package-lock.json page.css page.jsx "$tmp"
(cd "$tmp" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --silent && node build.mjs)
rm -rf dist
mv "$tmp/dist" dist
