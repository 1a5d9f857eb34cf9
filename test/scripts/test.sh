#!/usr/bin/env bash
# Runs the tests, in stages: test.sh [unit] [integration] [e2e] [modules]; all of them if none is named.
#   RACE     the race detector's flag; empty runs without it
#   GOTEST   more flags for go test, such as -run or -count
set -euo pipefail
cd "$(dirname "$0")/../.."
source test/scripts/stages.sh

RACE=${RACE--race}
GOTEST=${GOTEST-}
results=dist/test

# Packages under test/ that need a control plane; everything else is a unit test.
integration=(./test/integration/... ./test/cluster/... ./test/run/...)
e2e=(./test/e2e/...)
cluster_packages='/test/(integration|cluster|run|e2e)(/|$)'

check_race() {
	[[ $RACE == *-race* ]] || return 0
	[[ $(go env CGO_ENABLED) == 1 ]] && command -v "$(go env CC)" >/dev/null && return 0
	cat >&2 <<-END
		The race detector needs cgo and a C compiler ($(go env CC)), and they are not here.
		Install one (apt-get install gcc libc6-dev), or run without the race detector: make test RACE=
	END
	return 1
}

# run STAGE PACKAGE… tests packages of the module in the working directory, and keeps a summary.
run() {
	local name=$1
	shift
	# shellcheck disable=SC2086 # flags are words
	go test -json $RACE -timeout 20m $GOTEST "$@" | "$report" -summary "$root/$results/$name.txt"
}

control_plane() {
	go run -C test/controlplane . --link ../../bin/controlplane
}

unit() {
	local packages
	mapfile -t packages < <(go list ./... | grep -Ev "$cluster_packages")
	run unit "${packages[@]}"
}

# modules tests the modules of their own under test/; one that only holds tools has no packages.
modules() {
	local mod dir
	for mod in test/*/go.mod; do
		dir=${mod%/go.mod}
		if [[ -n $(go -C "$dir" list ./... 2>/dev/null) ]]; then
			(cd "$dir" && unset KUBEBUILDER_ASSETS && run "${dir##*/}" ./...) || return 1
		fi
	done
}

wanted=("$@")
((${#wanted[@]})) || wanted=(unit modules integration e2e)
wants() { [[ " ${wanted[*]} " == *" $1 "* ]]; }
for name in "${wanted[@]}"; do
	[[ $name =~ ^(unit|modules|integration|e2e)$ ]] || { echo "test.sh: there is no stage $name" >&2; exit 2; }
done

check_race
root=$PWD
rm -rf "$results"
mkdir -p "$results"
report=$root/bin/testreport
go build -buildvcs=false -o "$report" ./test/scripts/testreport

if wants integration || wants e2e; then
	stage "control plane" control_plane
	export KUBEBUILDER_ASSETS=$root/bin/controlplane
fi
if wants unit; then stage unit unit; fi
if wants modules; then stage modules modules; fi
if wants integration; then stage integration run integration "${integration[@]}"; fi
if wants e2e; then stage e2e run e2e "${e2e[@]}"; fi

finish
printf '\n== tests ==\n'
for file in "$results"/*.txt; do
	printf '%s: ' "$(basename "$file" .txt)"
	cat "$file"
done
