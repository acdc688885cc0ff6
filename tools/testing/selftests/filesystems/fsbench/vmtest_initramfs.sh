# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Read by vmtest.sh: the initial RAM filesystem.

# shellcheck disable=SC2154 # set there

# put FILE [NAME]: a program with the libraries that it needs
put()
{
	local file

	mkdir -p "$root/${2:-bin}"
	cp -L "$1" "$root/${2:-bin}/"
	ldd "$1" 2>/dev/null | grep -o '/[^ )]*' | while read -r file; do
		mkdir -p "$root${file%/*}"
		[ -e "$root$file" ] || cp -L "$file" "$root$file"
	done
}

unpack_module()
{
	case $1 in
	*.xz)	xz -dc "$1" ;;
	*.zst)	zstd -dcq "$1" ;;
	*.gz)	gzip -dc "$1" ;;
	*)	cat "$1" ;;
	esac
}

# Modules, numbered in the order in which they are to be loaded. A kernel that
# has none is taken to have all built in; if it has not, the cases say so.
put_modules()
{
	local kernel=$1 release=$2 dir dep file n=100 name

	for dir in "${kernel%/*}" "${kernel%/*}/.." "${kernel%/*}/../usr" ""; do
		dir=$dir/lib/modules/$release
		[ -d "$dir/kernel" ] && break
	done
	[ -d "$dir/kernel" ] || return 0
	dep=$dir/modules.dep
	# A package that was only unpacked has no list of dependencies.
	if [ ! -e "$dep" ]; then
		dep=$work/modules.dep
		depmod -n -b "${dir%/lib/modules/*}" "$release" 2>/dev/null >"$dep" ||
			die "$dir: depmod failed"
	fi
	mkdir "$root/modules"
	awk -v wanted="$modules" '
		function load(path,	names, i) {
			if (path in done)
				return
			done[path] = 1
			for (i = split(deps[path], names); i > 0; i--)
				load(names[i])
			print path
		}
		$1 ~ /\.ko[.a-z0-9]*:$/ {
			path = substr($1, 1, length($1) - 1)
			name = path
			sub(/.*\//, "", name)
			sub(/\.ko.*/, "", name)
			file[name] = path
			$1 = ""
			deps[path] = $0
		}
		END {
			for (i = 1; i <= split(wanted, names); i++)
				if (names[i] in file)
					load(file[names[i]])
		}
	' "$dep" | while read -r file; do
		name=${file##*/}
		n=$((n + 1))
		unpack_module "$dir/$file" >"$root/modules/$n-${name%%.*}" || die "$dir/$file"
	done || exit 2
}

# make_initramfs KERNEL ARGS...
make_initramfs()
{
	local kernel=$1 release config program programs=0 file var suite

	shift
	root=$work/root
	rm -rf "$root"
	mkdir -p "$root"/{boot,suites}
	put "$(command -v busybox)"
	for program in mkfs.btrfs mkfs.xfs mkfs.ext4; do
		# The suites say which one they miss.
		! file=$(command -v "$program") || put "$file" sbin
	done
	# Of mkfs.ext4; and libattr looks for its own at each name until it finds it.
	mkdir -p "$root/etc"
	for file in /etc/mke2fs.conf /etc/xattr.conf; do
		[ ! -e "$file" ] || cp "$file" "$root/etc"
	done
	for suite in $suites; do
		for program in "$where/$suite"/*_test; do
			[ -x "$program" ] || die "$where/$suite: no program (VMTEST_SUITES)"
			put "$program" "suites/$suite"
			programs=$((programs + 1))
		done
	done
	cat "${fragments[@]}" | grep -o '^CONFIG_[A-Z0-9_]*' | sort -u >"$root/symbols"
	release=$(kernel_release "$kernel")
	config=$(kernel_config "$kernel" "$release")
	[ -z "$config" ] || cp "$config" "$root/boot/config-$release"
	put_modules "$kernel" "$release"
	install -m 0755 "$here/vmtest_init.sh" "$root/init" || exit 2
	{
		echo "programs=$programs ktap_port=$ktap_port control_port=$control_port"
		[ -z "$icount" ] || echo "export FSBENCH_ICOUNT=1"
		for var in "${!FSBENCH_@}" "${!KSFT_MACHINE_SLOW@}"; do
			echo "export $var=${!var@Q}"
		done
		echo "export FSBENCH_RESULTS=/tmp/results"
		if [ -n "${FSBENCH_BASELINE-}" ]; then
			cp "$FSBENCH_BASELINE" "$root/baseline" || exit 2
			echo "export FSBENCH_BASELINE=/baseline"
		fi
		echo "set -- ${*@Q}"
	} >"$root/arguments"
	# The same bytes each time: unpacking them takes instructions as well.
	find "$root" -exec touch -hd @0 {} +
	(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --reproducible --quiet) \
		>"$work/initramfs" || die "no initramfs: cpio failed"
	rm -rf "$root"
}

