#!/usr/bin/env bash
# Finds tests that fail by chance: runs `npm test` N times, beside one busy process for each core with `load`.
#   scripts/repeat.sh 10 [load]
#   SCRIPT=test:slow scripts/repeat.sh 3        another script of package.json
# A line for each run, and in the end the number of red runs, which is not zero when the exit code is not. The output of red runs is kept.
set -uom pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

runs=${1:-} load=${2:-} script=${SCRIPT:-test}
if ! [[ $runs =~ ^[1-9][0-9]*$ ]] || [[ $load != '' && $load != load ]]; then
  echo 'usage: scripts/repeat.sh N [load]' >&2
  exit 2
fi

# Each in a process group of its own (set -m), so that nothing of it is left after an interrupt.
busy=() tests=
logs=$(mktemp -d "${TMPDIR:-/tmp}/herald-repeat.XXXXXX")
clean_up() {
  for group in $tests "${busy[@]}"; do
    kill -- "-$group" && wait "$group"
  done 2>/dev/null
  rmdir "$logs" 2>/dev/null
}
trap clean_up EXIT
trap 'exit 130' INT TERM

if [ "$load" = load ]; then
  for ((core = 0; core < $(getconf _NPROCESSORS_ONLN); core++)); do
    # Ends when the script was killed, too.
    node -e 'const { ppid } = process; while (process.ppid === ppid) for (let n = 0; n < 1e9; n++);' &
    busy+=($!)
  done
fi

red=0
for ((run = 1; run <= runs; run++)); do
  since=$SECONDS log=$logs/$run.log status=0
  npm run "$script" -- --reporter=./test/support/red.ts --reporter=default >"$log" 2>&1 &
  tests=$!
  wait "$tests" || status=$?
  tests=
  if [ "$status" -eq 0 ]; then
    echo "run $run: green in $((SECONDS - since)) s"
    rm -f "$log"
  else
    red=$((red + 1))
    echo "run $run: red in $((SECONDS - since)) s, output in $log"
    sed -n 's/^RED /  /p' "$log" | grep . || echo "  ended with $status, and no test failed"
  fi
done
echo "$runs runs, $red red"
[ "$red" -eq 0 ]
