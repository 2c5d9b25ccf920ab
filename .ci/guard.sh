#!/usr/bin/env bash
# guard.sh DIR is started by with-services.sh and cleans up after it, even if it is killed by SIGKILL: the end of standard input
# says that it is gone. Each line of standard input is the id of the process group that runs at the moment, or empty.
set -uo pipefail
dir=$1

running=
while read -r group; do running=$group; done
[ -z "$running" ] || kill -TERM -- "-$running" 2>/dev/null

if postmaster=$(head -n 1 "$dir/pg/postmaster.pid" 2>/dev/null); then
  kill -QUIT "$postmaster" # at once, without a checkpoint: nobody needs its data
  for _ in {1..300}; do
    [ -e "$dir/pg/postmaster.pid" ] || break
    sleep 0.1
  done
fi
rm -rf "$dir"
