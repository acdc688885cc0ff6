# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Read by the tests in bash: just enough TAP.

set -u
count=0

# t NAME COMMAND...: passes when COMMAND succeeds, else shows what it printed.
t()
{
	local name=$1 said

	shift
	count=$((count + 1))
	if said=$("$@" 2>&1); then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		echo "# ${said//$'\n'/$'\n'# }"
	fi
}

skip()
{
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

plan()
{
	echo "1..$count"
}
