#!/usr/bin/env bash
# Holds the tree to what is committed: regenerates, formats, vets, lints and tidies every module, and fails on any
# difference from the last commit and on any file that is not tracked. All checks run; the failures are listed in the end.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
source test/scripts/stages.sh

LINT=$PWD/bin/tools/golangci-lint
failures=()

modules=(.)
for mod in test/*/go.mod; do
	modules+=("${mod%/go.mod}")
done
# A module that only holds tools has no packages to look at.
code=()
for dir in "${modules[@]}"; do
	[[ -z $(go -C "$dir" list ./... 2>/dev/null) ]] || code+=("$dir")
done

check() {
	local name=$1 begin=$SECONDS
	shift
	printf '\n== %s ==\n' "$name"
	if "$@"; then
		stage_lines+=("$(printf '%-14s %7s   ok' "$name" "$(duration $((SECONDS - begin)))")")
	else
		stage_lines+=("$(printf '%-14s %7s   FAILED' "$name" "$(duration $((SECONDS - begin)))")")
		failures+=("$name")
	fi
}

# in_modules runs a command in the modules that it is given, up to a "--".
in_modules() {
	local dirs=() dir status=0
	while [[ $1 != -- ]]; do
		dirs+=("$1")
		shift
	done
	shift
	for dir in "${dirs[@]}"; do
		(cd "$dir" && "$@") || { echo "failed in module $dir: $*" >&2; status=1; }
	done
	return "$status"
}

unformatted() {
	local files
	files=$(find . \( -path ./bin -o -path ./dist -o -path ./.git \) -prune -o -name '*.go' -print0 | xargs -0 gofmt -s -l) || return 1
	[[ -z $files ]] || { printf 'not formatted (make fmt):\n%s\n' "$files"; return 1; }
}

# unchanged fails if the tree differs from the last commit.
unchanged() {
	local changes
	changes=$(git status --porcelain --untracked-files=all) || return 1
	[[ -n $changes ]] || return 0
	printf 'not as committed (?? is not tracked):\n%s\n\n' "$changes"
	git --no-pager diff --stat
	return 1
}

check generate make generate
check gofmt unformatted
check vet in_modules "${code[@]}" -- go vet -tags=soak ./...
check "go mod tidy" in_modules "${modules[@]}" -- go mod tidy -diff
check lint in_modules "${code[@]}" -- "$LINT" run --config "$PWD/.golangci.yml" ./...
check unchanged unchanged

finish
if ((${#failures[@]})); then
	printf '\nverify failed: %s\n' "$(IFS=,; echo "${failures[*]}")"
	exit 1
fi
printf '\nverified: everything is as committed\n'
