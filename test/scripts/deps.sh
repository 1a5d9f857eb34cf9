#!/usr/bin/env bash
# Looks for the programs that tests run besides Go's, and installs missing ones where it can: as root, with apt-get.
# Where it cannot, it says which tests are skipped for want of them.
#   --required   fail if one is still missing
set -euo pipefail

required=${1:-}

# program, its Debian packages, and what is skipped without it
needs=(
	"gcc|gcc libc6-dev|everything: the race detector needs a C compiler (make test RACE= does without)"
	"named|bind9|the tests that run BIND 9: of the RFC 2136 back end, end to end, as a secondary of zones, and to compare answers with"
	"named-checkzone|bind9-utils|the tests that have zone files judged by BIND 9"
	"dig|bind9-dnsutils|the tests that ask as a person does"
	"knotd|knot|the test that runs Knot as a secondary of zones"
	"nsd-checkzone|nsd|the tests that have zone files judged by NSD, or compare answers with it"
	"dnsperf|dnsperf|the benchmark of answers per second"
)

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

missing() {
	local need
	for need in "${needs[@]}"; do
		command -v "${need%%|*}" >/dev/null || printf '%s\n' "$need"
	done
}

# install installs packages. The daemons that they bring are not started: tests start their own, on free ports.
install_packages() {
	local policy=/usr/sbin/policy-rc.d
	if [[ ! -e $policy ]]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod 755 "$policy"
		trap 'rm -f /usr/sbin/policy-rc.d' EXIT
	fi
	export DEBIAN_FRONTEND=noninteractive
	local wait=(-o DPkg::Lock::Timeout=300)
	apt-get "${wait[@]}" update -qq && apt-get "${wait[@]}" install -qq -y --no-install-recommends "$@"
}

mapfile -t absent < <(missing)
if ((${#absent[@]})) && ((EUID == 0)) && command -v apt-get >/dev/null; then
	packages=()
	for need in "${absent[@]}"; do
		IFS='|' read -r _ names _ <<<"$need"
		# shellcheck disable=SC2206 # one word for each package
		packages+=($names)
	done
	echo "installing ${packages[*]}"
	install_packages "${packages[@]}" || echo "apt-get could not install them" >&2
	mapfile -t absent < <(missing)
fi

if ((${#absent[@]} == 0)); then
	echo "every program that the tests run is here"
	exit 0
fi
echo "${#absent[@]} missing:"
for need in "${absent[@]}"; do
	IFS='|' read -r program names skipped <<<"$need"
	printf '  %-15s apt-get install %s\n                  skipped without it: %s\n' "$program" "$names" "$skipped"
done
[[ $required != --required ]]
