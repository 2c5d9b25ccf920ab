#!/usr/bin/env bash
# build.sh writes dist/ anew from web/ with the packages of package-lock.json, which are installed outside of the repository. It
# needs Node 20.19 or later. npm's registry and cache are those of the user's own configuration.
set -euo pipefail
cd "$(dirname "$0")"
repository=$(cd ../../.. && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp -R web "$tmp/web"
rm -rf "$tmp/web/node_modules" "$tmp/web/dist" "$tmp/web/src/gen"
cp ../../../graph/schema.graphql "$tmp/schema.graphql"
(
  cd "$tmp/web"
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --silent
  SCHEMA="$tmp/schema.graphql" node gen.mjs
  npx tsc --noEmit
  REPOSITORY="$repository" npx vitest run --reporter=dot
  npx vite build --logLevel warn
  node licences.mjs
)
# The stamp is of every file that a person writes.
git -C web ls-files --cached --others --exclude-standard | LC_ALL=C sort | while read -r f; do
  printf '%s\n' "$f"
  cat "web/$f"
done | sha256sum | cut -d' ' -f1 >"$tmp/web/dist/sources.sha256"
rm -rf dist
mv "$tmp/web/dist" dist
