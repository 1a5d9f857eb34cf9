# shellcheck shell=bash
# Sourced by scripts that run in stages: each stage has a heading, and in the end it is known how long each took.
#
#   stage NAME COMMAND…   runs a stage; the script ends with the first that fails
#   finish                prints the times; also called when a stage fails

stage_lines=()
stages_begin=$SECONDS

stage() {
	local name=$1 begin=$SECONDS status=0
	shift
	printf '\n== %s ==\n' "$name"
	"$@" || status=$?
	if ((status == 0)); then
		stage_lines+=("$(printf '%-14s %7s   ok' "$name" "$(duration $((SECONDS - begin)))")")
		return
	fi
	stage_lines+=("$(printf '%-14s %7s   FAILED (exit status %d)' "$name" "$(duration $((SECONDS - begin)))" "$status")")
	finish
	exit "$status"
}

finish() {
	printf '\n== times ==\n'
	printf '%s\n' "${stage_lines[@]}"
	printf '%-14s %7s\n' total "$(duration $((SECONDS - stages_begin)))"
}

# duration prints seconds as 4s or 3m07s.
duration() {
	if (($1 < 60)); then
		printf '%ds' "$1"
	else
		printf '%dm%02ds' $(($1 / 60)) $(($1 % 60))
	fi
}
