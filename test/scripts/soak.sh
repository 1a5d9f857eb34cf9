#!/usr/bin/env bash
# Runs what takes too long for every change: tests in files with the build tag soak, and each fuzz target for FUZZTIME.
set -euo pipefail
cd "$(dirname "$0")/../.."
source test/scripts/stages.sh

if grep -rlE --include='*_test.go' '^//go:build .*\bsoak\b' api cmd internal test webhooks >/dev/null; then
	stage "control plane" go run -C test/controlplane . --link ../../bin/controlplane
	export KUBEBUILDER_ASSETS=$PWD/bin/controlplane
	# shellcheck disable=SC2086 # flags are words
	stage soak go test ${RACE--race} -tags=soak -run Soak -timeout 4h -v ./...
else
	echo "no test has the build tag soak"
fi
export FUZZTIME=${SOAK_FUZZTIME:-10m}
stage fuzz test/scripts/fuzz.sh
finish
