# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Read by vmtest.sh: building kernels.

# shellcheck disable=SC2154 # set there

configure()
{
	local file symbol

	progress "$kind: configuring"
	(cd "$out/src" && scripts/kconfig/merge_config.sh -n -O "$out/obj" "$here/config.vm" \
		"${fragments[@]}") </dev/null >>"$out/build.log" 2>&1 ||
		die "merge_config.sh failed, see $out/build.log"
	for file in "$here/config.vm" "${fragments[@]}"; do
		while read -r symbol; do
			grep -qx "$symbol=[ym]" "$out/obj/.config" ||
				die "$symbol of $file does not stick with this kernel"
		done < <(sed -n 's/^\(CONFIG_.*\)=[ym]$/\1/p' "$file")
	done
}

compile()
{
	local image status start=$SECONDS

	rm -f "$out/bzImage-$kind"
	image=$(make -s -C "$out/src" O="$out/obj" image_name)
	# The same identity for both: it is among what random numbers are made of.
	"${end_with_us[@]}" make -C "$out/src" O="$out/obj" -j"${VMTEST_JOBS:-$(nproc)}" \
		LOCALVERSION=-vmtest KBUILD_BUILD_TIMESTAMP=2024-01-01 KBUILD_BUILD_VERSION=1 \
		KBUILD_BUILD_USER=vmtest KBUILD_BUILD_HOST=vmtest "${image##*/}" \
		</dev/null >>"$out/build.log" 2>&1 &
	running=$!
	while kill -0 "$running" 2>/dev/null; do
		progress "$kind: building, $((SECONDS - start)) s:" \
			"$(tail -n 1 "$out/build.log")"
		sleep 0.2
	done
	wait "$running"
	status=$?
	running=''
	clear_progress
	[ "$status" = 0 ] || die "$kind: the build failed, see $out/build.log:" \
		"$(grep -m 1 -E 'error:|Error |\*\*\*' "$out/build.log")"
	# Never half of one.
	if ! { cp "$out/obj/.config" "$out/config-$kind" && cp "$out/obj/$image" "$out/image.new" &&
	       mv "$out/image.new" "$out/bzImage-$kind"; }; then
		die "$out: cannot be written"
	fi
}

build()
{
	local ksrc patch kind changed

	need make gcc bc bison flex rsync patch
	[ -f "$1/Kconfig" ] || die "$1: not a kernel tree"
	[ -n "$out" ] || die "--build needs -o DIR"
	ksrc=$(realpath "$1")
	for patch in "${patches[@]}"; do
		{ [ -r "$patch" ] && [ ! -d "$patch" ]; } || die "$patch: no such patch"
	done
	out=$(realpath -m "$out")
	case $out/ in
	"$ksrc"/*)	die "-o $out: inside the tree, which is only read" ;;
	esac
	case $ksrc/ in
	"$out"/*)	die "-o $out: holds the tree, which is only read" ;;
	esac
	# What is in there that the tree has not is deleted.
	[ ! -e "$out/src" ] || [ -e "$out/vmtest" ] || die "$out/src: not made by --build"
	mkdir -p "$out"/{src,obj} && : >"$out/vmtest" || exit 2
	: >"$out/build.log"
	touch "$out/patched"

	# A copy. A file that differs gets a new time, also when only a patch is
	# undone: make looks at nothing else.
	progress "copying $ksrc"
	changed=$(rsync -rlpc --chmod=u+w --delete --exclude={.git,'*.o','*.ko','.*.cmd',/vmlinux} \
		--out-format=%n "$ksrc/" "$out/src/") || die "$ksrc: cannot be copied"
	# What was built there would be taken for done.
	[ ! -e "$out/src/.config" ] && [ ! -e "$out/src/include/config" ] ||
		make -C "$out/src" mrproper </dev/null >>"$out/build.log" 2>&1 ||
		die "make mrproper failed, see $out/build.log"
	clear_progress
	kind=control
	configure
	# If only the last patch is gone again, there is nothing to do.
	grep -v '/$' <<<"$changed" | sed 's/^deleting //' |
		grep -vxFf "$out/patched" | grep -q . && rm -f "$out/bzImage-control"
	cmp -s "$out/obj/.config" "$out/config-control" || rm -f "$out/bzImage-control"
	[ -e "$out/bzImage-control" ] || compile
	: >"$out/patched"
	rm -f "$out/bzImage-patched"
	[ "${#patches[@]}" != 0 ] || return 0
	for patch in "${patches[@]}"; do
		if ! patch -d "$out/src" -p1 -N -f --no-backup-if-mismatch \
			<"$patch" >"$work/patch" 2>&1; then
			sed -n 's/^\(checking\|patching\) file //p' "$work/patch" >>"$out/patched"
			die "$patch does not apply: $(grep -m 1 -E 'FAILED|find file|garbage' \
				"$work/patch")"
		fi
		sed -n 's/^patching file //p' "$work/patch" >>"$out/patched"
	done
	kind=patched
	configure
	compile
}

