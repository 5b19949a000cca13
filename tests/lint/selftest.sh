#!/bin/sh
# SPDX-License-Identifier: MIT
# The lint checks, checked: each accepts a good tree and names the fault in a bad one.
set -u
tools=${NACRE_SOURCE:?}/tools
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
n=0

# result STATUS NAME: one line of TAP, and what the check said if it failed.
result() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/#   /' said
    fi
}

# accepts NAME COMMAND...
accepts() {
    name=$1
    shift
    "$@" >said 2>&1
    result $? "$name"
}

# rejects NAME TEXT COMMAND...: the command fails, with TEXT in what it says.
rejects() {
    name=$1 text=$2
    shift 2
    if "$@" >said 2>&1; then
        echo "it was accepted" >>said
        result 1 "$name"
    else
        grep -qF -- "$text" said
        result $? "$name"
    fi
}

# new_tree: an empty project in tree/, with a good module low and a good module high.
licence='/* SPDX-License-Identifier: MIT */'
new_tree() {
    rm -rf tree
    mkdir -p tree/src/low tree/src/high tree/prog/cli tree/include/nacre
    printf 'low: # the lowest\n\nside: low\nhigh: low\n' >tree/src/LAYERS
    cat >tree/src/low/low.h <<-END
	$licence
	#ifndef LOW_LOW_H
	#define LOW_LOW_H

	int low_get(void);

	#endif
	END
    cat >tree/src/low/low.c <<-END
	$licence
	#include "low/low.h"

	static int helper(void)
	{
	    return 2;
	}

	int low_get(void)
	{
	    return helper();
	}
	END
    cat >tree/src/high/high.c <<-END
	$licence
	#include <stdio.h>

	#include "low/low.h"

	/* system("x"), and printf( in a comment; "strcpy(" in a string is one too */
	int high_get(void);

	static int helper(void)
	{
	    return 1;
	}

	int high_get(void)
	{
	    return helper() + low_get();
	}
	END
}

# add FILE LINE...: appends the lines to a file of the tree, with a licence if it is new.
add() {
    file=tree/$1
    shift
    mkdir -p "$(dirname "$file")"
    [ -f "$file" ] || echo "$licence" >"$file"
    printf '%s\n' "$@" >>"$file"
}

# archives MODULE...: lib<module>.a of each, from its .c and .cc files.
archives() {
    rm -f lib*.a
    for module; do
        for source in tree/src/"$module"/*.c tree/src/"$module"/*.cc; do
            [ -f "$source" ] || continue
            ${CC:-cc} -x "$([ "${source%.cc}" = "$source" ] && echo c || echo c++)" \
                -Itree/src -c -o "$module.o" "$source" || exit 1
            ar rc "lib$module.a" "$module.o"
        done
    done
}

layers=$tools/check-layers

new_tree
archives low high
accepts 'layers: a good tree' "$layers" tree/src liblow.a libhigh.a

new_tree
add src/low/up.c '#include "high/high.h"'
rejects 'layers: an include upwards' 'low/up.c:2: low may not use high' "$layers" tree/src

new_tree
add src/low/up.c '# include <high/high.h>'
rejects 'layers: an include in angle brackets' 'low may not use high' "$layers" tree/src

new_tree
add src/high/side.c '#include "side/side.h"'
rejects 'layers: an include sideways' 'high may not use side' "$layers" tree/src

new_tree
add src/low/low_priv.h
add src/high/peek.c '#include "low/low_priv.h"'
rejects 'layers: a private header' 'low/low_priv.h is private to low' "$layers" tree/src

new_tree
add src/high/near.c '#include "high.h"'
rejects 'layers: a header without its module' 'does not name its module' "$layers" tree/src

new_tree
add src/stray/stray.c ''
rejects 'layers: a module without a line' 'stray: has no line in LAYERS' "$layers" tree/src

new_tree
echo 'last: nothing' >>tree/src/LAYERS
rejects 'layers: an unknown module' 'LAYERS:5: last names nothing' "$layers" tree/src

new_tree
printf 'first: second\nsecond:\n' >tree/src/LAYERS
rejects 'layers: a line that looks up' 'first names second, which is not above it' \
    "$layers" tree/src

new_tree
echo 'a line' >>tree/src/LAYERS
rejects 'layers: a line that is none' "LAYERS:5: expected 'module: modules'" "$layers" tree/src

new_tree
add src/low/up.c 'int high_get(void);' 'int low_up(void);' \
    'int low_up(void) { return high_get(); }'
archives low high
rejects 'layers: a symbol without an include' 'low links to high_get of high' \
    "$layers" tree/src liblow.a libhigh.a

new_tree
add src/high/more.c 'int low_get(void);' 'int low_get(void) { return 3; }'
archives low high
rejects 'layers: a symbol with two homes' 'low_get is defined in low and in high' \
    "$layers" tree/src liblow.a libhigh.a

# Templates and inline functions have a weak copy in each archive; namespaces are mangled.
cxx='inline int shared() { static int n; return ++n; }'
new_tree
add src/low/a.cc "$cxx" 'namespace low { int get() { return shared(); } }'
add src/high/b.cc "$cxx" 'namespace low { int get(); }' 'int high_b() { return low::get() + shared(); }'
archives low high
accepts 'layers: C++ that looks down' "$layers" tree/src liblow.a libhigh.a

new_tree
add src/high/b.cc 'namespace high { int get() { return 1; } }'
add src/low/a.cc 'namespace high { int get(); }' 'int low_a() { return high::get(); }'
archives low high
rejects 'layers: C++ that looks up' 'low links to _ZN4high3getEv of high' \
    "$layers" tree/src liblow.a libhigh.a

new_tree
accepts 'banned: a good tree' "$tools/check-banned" tree
add src/low/bad.c 'void f(char *a) { strcpy(a, "x"); }'
rejects 'banned: strcpy' 'src/low/bad.c:2: strcpy()' "$tools/check-banned" tree

new_tree
add src/low/bad.c "char c = '\"'; int d = fork ();"
rejects 'banned: fork in the library' 'fork()' "$tools/check-banned" tree

new_tree
add src/low/good.c '// system("x")' 'int x = s.exit(1) + p->system(2) + my_system(3);' \
    'int system = 1;' 'const char *t = "\" popen(";'
add src/sandbox/good.c 'int a = fork();'
add prog/good.c 'int a = printf("x");'
accepts 'banned: members, comments, strings, and the places where fork and printf may be' \
    "$tools/check-banned" tree

new_tree
accepts 'headers: a good tree' "$tools/check-headers" tree
add src/high/needy.h 'static inline size_t f(size_t n) { return n; }'
rejects 'headers: one that needs another' 'src/high/needy.h does not compile alone' \
    "$tools/check-headers" tree

new_tree
add src/high/twice.h 'struct twice { int a; };'
rejects 'headers: one without a guard' 'src/high/twice.h does not compile alone' \
    "$tools/check-headers" tree

new_tree
add include/nacre/new.h '#ifndef N' '#define N' 'int f(int new);' '#endif'
rejects 'headers: an installed one that is not C++' 'include/nacre/new.h does not compile alone' \
    "$tools/check-headers" tree

new_tree
accepts 'sizes: a good tree' "$tools/check-sizes" tree
yes '' | head -800 >>tree/src/high/high.c
rejects 'sizes: a long file' 'src/high/high.c: ' "$tools/check-sizes" tree

new_tree
printf '#!/bin/sh\n# SPDX-License-Identifier: MIT\n' >tree/prog/script
accepts 'spdx: a good tree' "$tools/check-spdx" tree
printf '#!/bin/sh\necho\n' >tree/prog/script
rejects 'spdx: a script without' 'prog/script' "$tools/check-spdx" tree

new_tree
printf '\n%s\n' "$licence" >tree/src/low/late.h
rejects 'spdx: not on the first line' 'src/low/late.h' "$tools/check-spdx" tree

new_tree
mkdir -p tree/docs/man
add prog/cli/run.c ''
add prog/cli/list_all.c ''
add prog/cli/shared.c ''
add prog/cli/shared.h ''
printf '.SS run\n' >tree/docs/man/nacre.1
touch tree/docs/man/nacre-list-all.1
accepts 'docs: a good tree' "$tools/check-docs" tree
add prog/cli/unsaid.c ''
rejects 'docs: a verb without a page' 'nacre unsaid: ' "$tools/check-docs" tree

if command -v clang-format >/dev/null; then
    new_tree
    cp "$NACRE_SOURCE/.clang-format" tree
    accepts 'format: a good tree' "$tools/check-format" tree
    add src/low/bad.c 'int  f( void ){return 1;}'
    rejects 'format: bad spacing' 'src/low/bad.c:2' "$tools/check-format" tree
    "$tools/check-format" --fix tree
    accepts 'format: what --fix made of it' "$tools/check-format" tree
fi

echo "1..$n"
