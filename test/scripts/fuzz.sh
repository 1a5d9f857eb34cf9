#!/usr/bin/env bash
# Runs each fuzz target for FUZZTIME (10s). A failing input is left in testdata/fuzz, where it is a test from then on.
set -euo pipefail
cd "$(dirname "$0")/../.."
FUZZTIME=${FUZZTIME:-10s}

count=0
while read -r dir; do
	targets=$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' "$dir"/*_test.go 2>/dev/null || true)
	for target in $targets; do
		printf '\n== %s %s, %s ==\n' "${dir#"$PWD"/}" "$target" "$FUZZTIME"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" "$dir" </dev/null
		count=$((count + 1))
	done
done < <(go list -f '{{.Dir}}' ./...)

printf '\n%d fuzz targets\n' "$count"
((count > 0))
