#!/usr/bin/env bash
# Builds static binaries: build.sh OUTDIR [NAME…]. Without names, all: each directory of cmd/ with a main.go, under its
# name, but cmd/manager, which is namegate. The Dockerfile runs this too; nothing here needs a container engine.
#   VERSION         what --version says; default: git describe, or dev
#   GOOS, GOARCH    as always with Go; default: this machine's
set -euo pipefail
(($#)) || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."

VERSION=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo dev)}

build() {
	local name=$1 dir=cmd/$1
	[[ $name != namegate ]] || dir=cmd/manager
	[[ -f $dir/main.go ]] || { echo "build.sh: there is no command $name" >&2; exit 2; }
	echo "building $out/$name ($VERSION)"
	# The version comes from outside, so that a tree without its .git builds, and builds the same.
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o "$out/$name" "./$dir"
}

names=("$@")
if ((${#names[@]} == 0)); then
	for main in cmd/*/main.go; do
		name=$(basename "$(dirname "$main")")
		[[ $name != manager ]] || name=namegate
		names+=("$name")
	done
fi
for name in "${names[@]}"; do
	build "$name"
done
