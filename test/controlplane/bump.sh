#!/bin/sh
# Rewrites go.mod and go.sum for another Kubernetes release: ./bump.sh v1.37.0
set -eu
cd "$(dirname "$0")"
case ${1:-} in
v1.*.*) kubernetes=$1 staging=v0${1#v1} ;;
*) echo "usage: $0 v1.MINOR.PATCH" >&2; exit 2 ;;
esac

# Kubernetes' own go.mod replaces its staging modules by directories that its
# published module does not contain. The same modules are published as v0.*.
upstream=$(cd / && go mod download -json "k8s.io/kubernetes@$kubernetes" | sed -n 's/^.*"GoMod": "\(.*\)",*$/\1/p')
replaces=$(sed -n "s|^[[:space:]]*\(k8s.io/[a-z0-9-]*\) => \./staging/.*|	\1 => \1 $staging|p" "$upstream")
[ -n "$replaces" ] || { echo "no staging modules in $upstream" >&2; exit 1; }

# Starting from nothing but Kubernetes lets its go.mod choose every other
# version, etcd's too; requirements left from before could only raise them.
new=$(mktemp)
trap 'rm -f "$new"' EXIT
{
	sed '/^require/,$d; /^replace/,$d' go.mod
	printf 'require k8s.io/kubernetes %s\n\nreplace (\n%s\n)\n' "$kubernetes" "$replaces"
} >"$new"
cat "$new" >go.mod
: >go.sum
go mod tidy
go test ./...
