/* SPDX-License-Identifier: MIT */
#include "grammar.h"

#include <string.h>

#include "lib/test.h"

enum {
    TEXT_MAX = 4 * 1024 * 1024,
    PIECES_MAX = 6,
    LONG_LINE = 20000,
    DAMAGE_ONE_IN = 6,
    WRAP_ONE_IN = 4,
};

/* Short names, for the table. */
enum {
    RE = GRAMMAR_REDEFINES,
    RC = GRAMMAR_RACES,
    RX = GRAMMAR_RACES_ERR,
    IN = GRAMMAR_INTERACTIVE,
    EN = GRAMMAR_END,
    PL = GRAMMAR_PLACE,
    TR = GRAMMAR_TRAPS,
    LI = GRAMMAR_LIMITS,
    LS = GRAMMAR_LOSES | GRAMMAR_REDEFINES,
    LO = GRAMMAR_ENDLESS | GRAMMAR_RACES,
};

static const struct piece {
    const char *text;
    unsigned flags;
} pieces[] = {
  /* quotes, braces and what is left open */
    {"echo 'a b'  \"c  d\" e\\ f",                                                        0      },
    {"echo $'tab\\tnul\\0end \\x41\\u00e9'",                                              0      },
    {"echo $\"locale\"",                                                                  0      },
    {"echo 'open",                                                                        0      },
    {"echo \"open",                                                                       0      },
    {"echo $'open",                                                                       0      },
    {"echo \"a$(echo 'b\"c')d\"",                                                         0      },
    {"echo `echo \\`echo deep\\``",                                                       0      },
    {"echo `open",                                                                        0      },
    {"echo $(open",                                                                       0      },
    {"echo $((1+",                                                                        0      },
    {"echo ${x",                                                                          0      },
    {"echo ${x:-${y:-'}'}}",                                                              0      },
    {"{ echo in",                                                                         0      },
    {"( echo in",                                                                         0      },
    {"}",                                                                                 0      },
    {")",                                                                                 0      },
    {"fi",                                                                                0      },
    {"done",                                                                              0      },
    {"esac",                                                                              0      },
    {";;",                                                                                0      },
    {"if true; then echo open",                                                           0      },
    {"case x in x) echo open",                                                            0      },
    {"for i in 1 2; do echo $i",                                                          0      },
    {"[[ a == a",                                                                         0      },
    {"{ echo a; } }",                                                                     0      },
    {"echo {1..5} {a,b}{c,d} {open",                                                      0      },
    {"((",                                                                                0      },
 /* here documents */
    {"cat <<EOF\n$HOME $(echo sub) \\$x\nEOF",                                            0      },
    {"cat <<'EOF'\n$HOME $(echo sub)\nEOF",                                               0      },
    {"cat <<-EOF\n\t\ttabs\n\tEOF",                                                       0      },
    {"cat <<\"A B\"\nblank\nA B",                                                         0      },
    {"cat <<EOF\nnever ended",                                                            0      },
    {"cat <<EOF\nended by a blank\nEOF \n",                                               0      },
    {"cat <<A <<B\n1\nA\n2\nB",                                                           0      },
    {"cat <<< \"here $((6*7)) string\"",                                                  0      },
    {"cat <<<'open",                                                                      0      },
    {"cat <<",                                                                            0      },
    {"read -r x <<< 'given'; echo \"$x\"",                                                0      },
 /* bytes */
    {"printf '\\0\\377\\n\\r'",                                                           0      },
    {"echo caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9a",                                    0      },
    {"echo \xff\xfe\xc3",                                                                 0      },
    {"echo '\xc0\xaf' \x80",                                                              0      },
    {"echo cr\r",                                                                         0      },
    {"echo a\r\necho b\r\n",                                                              0      },
    {"echo '\x1b[31mred\x07\x08'",                                                        0      },
    {"\x01\x02\x7f",                                                                      0      },
    {"\xef\xbb\xbf"
     "echo bom",                                                                     0      },
    {"printf %s no-newline",                                                              0      },
    {"echo tail\\",                                                                       0      },
    {"echo a\\\nb",                                                                       0      },
    {"\\",                                                                                0      },
    {"# a comment 'with a quote",                                                         0      },
    {"echo a # b ' \"",                                                                   0      },
    {"",                                                                                  0      },
    {"   \t ",                                                                            0      },
    {":",                                                                                 0      },
    {"!",                                                                                 0      },
    {"! false",                                                                           0      },
    {"!! !$ !echo",                                                                       0      },
    {"~nobody-here/x",                                                                    0      },
 /* ends */
    {"exit",                                                                              0      },
    {"exit 3",                                                                            0      },
    {"exit 256",                                                                          0      },
    {"exit -1",                                                                           0      },
    {"exit nonsense",                                                                     0      },
    {"exit 1 2",                                                                          IN     },
    {"(exit 9)",                                                                          0      },
    {"logout",                                                                            0      },
    {"false",                                                                             0      },
    {"return 4",                                                                          EN     },
    {"return",                                                                            EN     },
    {"break",                                                                             0      },
    {"continue 2",                                                                        0      },
    {"local x=1",                                                                         0      },
    {"f() { local x=1; return 5; }; f",                                                   0      },
    {"f() { f; }; FUNCNEST=20 f",                                                         EN     },
    {"exec true",                                                                         0      },
    {"exec echo replaced",                                                                0      },
    {"exec /no/such/program",                                                             0      },
    {"exec bash -c 'echo other; exit 6'",                                                 0      },
    {"exec >f; echo hidden; cat f >&2",                                                   0      },
    {"exec 2>&1",                                                                         0      },
    {"exec 3>&1 4>&2; echo three >&3; echo four >&4",                                     0      },
    {"exec 1>&-",                                                                         0      },
    {"exec 0<&- 1>&- 2>&-",                                                               0      },
    {"exec </dev/null >/dev/null",                                                        0      },
    {"exec 5<>f; echo x >&5",                                                             0      },
    {"exec {fd}>f; echo $((fd >= 10))",                                                   0      },
    {"exec 10>&- 11>&- 12>&- 13>&-",                                                      IN     },
    {"exec 10<&- 11<&- 12<&- 13<&- 63<&- 255<&-",                                         IN     },
    {"exec 10>/dev/null 11</dev/null",                                                    IN     },
    {"echo gone >&-",                                                                     0      },
    {"echo to 9 >&9",                                                                     0      },
    {"{ echo out; echo err >&2; } 2>&1",                                                  0      },
    {"echo swap 3>&1 1>&2 2>&3 3>&-",                                                     0      },
    {"read x <&-; echo $?",                                                               0      },
    {"kill -9 $$",                                                                        RX     },
    {"kill $$; echo after",                                                               IN     },
    {"kill -INT $$; echo after",                                                          IN     },
    {"kill -HUP $$; echo after",                                                          RC     },
    {"kill -QUIT $$; echo after",                                                         0      },
    {"kill -PIPE $$; echo after",                                                         RX     },
    {"kill -STOP $$ & sleep 0.02; kill -CONT $$",                                         RC     },
    {"(kill -9 $BASHPID); echo $?",                                                       RX     },
    {"(kill -SEGV $BASHPID); echo $?",                                                    RX     },
    {"kill -0 $$; echo $?",                                                               0      },
    {"kill 0",                                                                            RC     },
    {"suspend",                                                                           IN     },
 /* options */
    {"set -e",                                                                            0      },
    {"set -e; false; echo never",                                                         0      },
    {"set -eu -o pipefail",                                                               0      },
    {"set -u; echo $not_set; echo never",                                                 IN     },
    {"set -f; echo *",                                                                    0      },
    {"set -n; echo never",                                                                IN     },
    {"set -x; echo traced",                                                               RX     },
    {"set -v",                                                                            RX     },
    {"set -o pipefail; false | true; echo $?",                                            0      },
    {"set -C; echo a >f; echo b >f; echo $?",                                             0      },
    {"set -a; x=1; env | grep '^x='",                                                     0      },
    {"set -k; echo a=b c",                                                                0      },
    {"set -t; echo one",                                                                  IN     },
    {"set -b; set -h; set -B; set -P; set -E; set -T",                                    0      },
    {"set -m",                                                                            RC     },
    {"set -o posix",                                                                      IN     },
    {"set -o history; set -H",                                                            IN     },
    {"set -o vi; set -o emacs",                                                           IN     },
    {"set -r; cd /",                                                                      IN     },
    {"set -p",                                                                            0      },
    {"set +B; echo {a,b}",                                                                0      },
    {"set -- a 'b c' '' \"$@\"; echo $# \"$2\"",                                          0      },
    {"set nonsense -z; echo $1",                                                          0      },
    {"set -Z",                                                                            0      },
    {"shopt -s extglob nullglob dotglob; echo @(x|y)*",                                   0      },
    {"shopt -s failglob; echo no-such-*; echo after",                                     IN     },
    {"shopt -s lastpipe; echo x | read y; echo \"[$y]\"",                                 0      },
    {"shopt -s expand_aliases",                                                           IN     },
    {"shopt -u expand_aliases sourcepath interactive_comments",                           IN     },
    {"shopt -s nocasematch xpg_echo; echo 'a\\tb'",                                       0      },
    {"shopt -s compat31; shopt -u compat31",                                              0      },
    {"shopt -s inherit_errexit checkwinsize globstar",                                    0      },
    {"shopt -s extdebug",                                                                 EN     },
    {"shopt -s execfail; exec /no/such; echo went on",                                    0      },
    {"umask 777; umask; umask 022",                                                       0      },
    {"umask 027",                                                                         0      },
    {"ulimit -n 64",                                                                      LI     },
    {"ulimit -n 12",                                                                      LI     },
    {"ulimit -f 1; head -c 100000 /dev/zero >f; echo $?",                                 RX | LI},
    {"ulimit -c 0; ulimit -s 2048",                                                       0      },
 /* traps */
    {"trap 'echo bye' EXIT",                                                              EN     },
    {"trap 'exit 7' EXIT",                                                                EN     },
    {"trap 'echo bye; exit 8' EXIT; exit 2",                                              0      },
    {"( trap 'echo sub bye' EXIT; exit 4 )",                                              0      },
    {"trap 'echo trapped-err' ERR; false; true",                                          TR     },
    {"trap 'echo trapped-debug' DEBUG; :",                                                TR     },
    {"trap 'echo trapped-return' RETURN; g() { :; }; g",                                  EN | TR},
    {"trap 'echo trapped-int' INT; kill -INT $$",                                         0      },
    {"trap 'echo trapped-usr1' USR1; kill -USR1 $$; echo after",                          0      },
    {"trap '' INT TERM HUP PIPE",                                                         0      },
    {"trap 'exit 11' ERR; false",                                                         EN | TR},
    {"trap 'unset -v x; cd /' DEBUG",                                                     TR     },
    {"trap 'echo \"' ERR; false",                                                         RX | TR},
    {"trap - EXIT ERR DEBUG RETURN INT TERM",                                             0      },
    {"trap 'echo chld' CHLD; /bin/true",                                                  RC | TR},
    {"trap",                                                                              0      },
 /* what our own lines use */
    {"printf() { echo fake printf; }",                                                    RE     },
    {"eval() { echo fake eval; }; eval 'echo x'",                                         RE     },
    {"cd() { echo fake cd; }; cd /",                                                      RE     },
    {"echo() { builtin printf 'fake %s\\n' \"$*\"; }; echo x",                            RE     },
    {"builtin() { return 9; }; builtin echo x",                                           RE     },
    {"builtin() { command builtin \"$@\"; }",                                             RE     },
    {"unset() { :; }; unset x",                                                           RE     },
    {"command() { :; }; command ls",                                                      RE     },
    {"exit() { echo no exit; }; exit 5",                                                  RE     },
    {"exec() { echo no exec; }; exec true",                                               RE     },
    {"source() { :; }; .() { echo dot; }",                                                RE     },
    {"trap() { :; }; declare() { :; }; shopt() { :; }",                                   RE     },
    {"test() { return 1; }; [() { return 1; }",                                           RE     },
    {"true() { return 1; }; false() { return 0; }; true",                                 RE     },
    {"set() { :; }; export() { :; }; alias() { :; }; umask() { :; }",                     RE     },
    {"kill() { :; }; kill -9 $$",                                                         RE     },
    {"unset -f echo printf cd eval builtin unset command exit",                           0      },
    {"readonly -f nothing; f() { :; }; readonly -f f; f() { echo new; }; f",              RE     },
    {"echo() { :; }; readonly -f echo",                                                   RE     },
    {"builtin() { :; }; readonly -f builtin",                                             LS     },
    {"alias echo='echo aliased'\necho x",                                                 RE | IN},
    {"alias builtin='false' .='false' printf='false' cd=false",                           RE | IN},
    {"alias '{'='echo brace' if=echo for=echo",                                           RE | IN},
    {"unalias -a",                                                                        0      },
    {"enable -n echo; echo external",                                                     RE     },
    {"enable -n printf",                                                                  RE     },
    {"enable -n builtin",                                                                 RE     },
    {"enable -n . source eval cd",                                                        RE     },
    {"enable -n declare trap shopt set umask alias unset",                                RE     },
    {"enable -n enable builtin",                                                          LS     },
    {"enable echo printf builtin . source eval cd declare trap shopt",                    0      },
    {"enable -f /no/such.so thing",                                                       RX     },
    {"hash -p /bin/false ls; ls; echo $?",                                                0      },
    {"FUNCNEST=9; command_not_found_handle() { echo \"not: $1\"; return 44; }; nosuch a", 0      },
    {"PROMPT_COMMAND='echo prompt; false'",                                               0      },
    {"PS1='$(echo ps1)'; PS4='+$(echo ps4 >&2) '",                                        0      },
    {"TIMEFORMAT=%R; time :",                                                             RX     },
 /* variables */
    {"PATH=",                                                                             RE     },
    {"PATH=; ls",                                                                         RE     },
    {"PATH=/no/where; ls; echo $?",                                                       RE     },
    {"unset PATH HOME IFS PWD OLDPWD",                                                    RE     },
    {"IFS=",                                                                              0      },
    {"IFS=abcdefghijklmnopqrstuvwxyz/0123456789; x=/tmp/a1; echo $x",                     0      },
    {"IFS=:; set -- a b; echo \"$*\"",                                                    0      },
    {"readonly r=1; r=2; echo after",                                                     0      },
    {"readonly PATH IFS PWD OLDPWD HOME",                                                 RE     },
    {"readonly LINENO _ x",                                                               RX     },
    {"unset LINENO; echo [$LINENO]",                                                      0      },
    {"readonly POSIXLY_CORRECT=",                                                         IN     },
    {"POSIXLY_CORRECT=1",                                                                 IN     },
    {"PWD=/wrong; echo $PWD; cd .; echo ${PWD##*/}",                                      0      },
    {"declare -i n=5+6; n+=1; echo $n",                                                   0      },
    {"declare -a arr=(1 2 [5]=six); echo ${#arr[@]} ${!arr[@]} \"${arr[5]}\"",            0      },
    {"declare -A map=([a]=1 ['b c']=2); echo ${#map[@]} ${map[b c]}",                     0      },
    {"declare -n ref=ref; echo $ref",                                                     RX     },
    {"declare -r arr2=(a b); arr2[0]=c; echo after",                                      0      },
    {"declare -ux up=abc; echo $up",                                                      0      },
    {"x='line 1\nline 2\\'; export x; env | grep -c 'line'",                              0      },
    {"export $'weird=\\x01\\xff'; echo ${#weird}",                                        0      },
    {"export BASH_ENV=/no/such ENV=/no/such",                                             0      },
    {"export LC_ALL=xx_YY; echo caf\xc3\xa9",                                             RX     },
    {"export LANG=C LC_ALL=C; x=\xc3\xa9; echo ${#x}",                                    0      },
    {"BASH_FUNC_f%%='() { :; }' env | grep -c BASH_FUNC",                                 0      },
    {"1x=2",                                                                              0      },
    {"x[=1",                                                                              0      },
    {"${x}=1",                                                                            0      },
    {"echo $1 $@ $# ${10}",                                                               0      },
    {"echo ${x:?missing}; echo after",                                                    IN     },
    {"echo ${!x} ${x@Q} ${x^^} ${#x}",                                                    0      },
    {"echo ${bad!subst}; echo after",                                                     0      },
    {"echo $((1/0)); echo after",                                                         0      },
    {"echo $((08)); echo after",                                                          0      },
    {"((0)); echo $?",                                                                    0      },
    {"let 'x=1/0'; echo $?",                                                              0      },
    {"let",                                                                               0      },
    {"x=$((2**63-1)); echo $((x+1))",                                                     0      },
    {"[[ a =~ ( ]]; echo $?",                                                             0      },
    {"[[ 'x y' =~ x.(y) ]]; echo ${BASH_REMATCH[1]}",                                     0      },
    {"test a = b = c; echo $?",                                                           0      },
    {"getopts ab: o -a; echo $o $OPTIND",                                                 0      },
    {"mapfile -t lines < <(seq 3); echo ${#lines[@]}",                                    0      },
    {"read -r a b < <(echo 1 2 3); echo \"$b\"",                                          0      },
    {"echo $- | tr -d i | wc -l",                                                         IN     },
    {"echo $LINENO $BASH_SOURCE $FUNCNAME",                                               PL     },
    {"caller; echo $BASH_LINENO",                                                         PL     },
    {"f() { echo ${#FUNCNAME[@]}; }; f",                                                  PL     },
 /* directories */
    {"cd /; pwd",                                                                         0      },
    {"cd /no/such; echo $?",                                                              0      },
    {"mkdir d; cd d; rmdir ../d; pwd; ls",                                                0      },
    {"mkdir d2; cd d2; mv ../d2 ../d3; pwd",                                              0      },
    {"mkdir 'a b' $'c\\nd'; cd $'c\\nd'; pwd | wc -l",                                    0      },
    {"mkdir -p x/y; cd x/y; cd ../..; cd -",                                              0      },
    {"ln -s /tmp link; cd link; pwd; pwd -P; cd ..",                                      0      },
    {"cd ''; cd; pwd",                                                                    0      },
    {"pushd /; pushd /tmp; popd; dirs",                                                   0      },
    {"CDPATH=/; cd tmp",                                                                  0      },
    {"rm -rf ./* .[a-z]*; ls -A",                                                         0      },
    {"chmod 000 .; ls; chmod 755 .",                                                      RX     },
    {"echo *",                                                                            0      },
    {"echo data >f; cat f; cat <f >g; cmp f g && echo same",                              0      },
 /* children */
    {"sleep 0.01 &",                                                                      0      },
    {"sleep 30 &",                                                                        0      },
    {"sleep 30 & kill $!; wait $!; echo $?",                                              RX     },
    {"sleep 0.01 & wait; echo waited",                                                    0      },
    {"(sleep 0.02; echo late) & echo early; wait",                                        0      },
    {"while sleep 0.01; do echo chatter; done &",                                         RC     },
    {"yes chatter & sleep 0.01",                                                          RC     },
    {"yes quiet >/dev/null & sleep 0.01",                                                 0      },
    {"setsid sleep 30 &",                                                                 0      },
    {"setsid sh -c 'echo from setsid' & wait",                                            0      },
    {"(setsid sh -c 'sleep 30' & ) ; echo double",                                        0      },
    {"((sleep 30; echo x) >/dev/null 2>&1 &); echo forked",                               0      },
    {"nohup sleep 30 >/dev/null 2>&1 & disown",                                           0      },
    {"(trap '' INT TERM; sleep 30) >/dev/null 2>&1 &",                                    0      },
    {"sleep 30 & kill -STOP $!",                                                          RX     },
    {"sh -c 'kill -STOP $$' & sleep 0.01",                                                RX     },
    {"(exit 3) & wait $!; echo $?",                                                       0      },
    {"wait",                                                                              RC     },
    {"wait -n; echo $?",                                                                  RC     },
    {"wait 1; echo $?",                                                                   0      },
    {"jobs; fg; bg; echo $?",                                                             RC     },
    {"disown -a",                                                                         0      },
    {"coproc cat; echo x >&${COPROC[1]}; read y <&${COPROC[0]}; echo $y",                 RX     },
    {"coproc NAMED { sleep 30; }",                                                        0      },
    {"echo a > >(cat)",                                                                   RC     },
    {"echo a | tee >(cat >&2) | cat",                                                     RC     },
    {"diff <(echo 1) <(echo 2)",                                                          0      },
    {"cat <(exit 3) <(sleep 0.01; echo slow)",                                            0      },
    {"echo /dev/fd/* | wc -w",                                                            PL     },
 /* pipes and streams */
    {"yes | head -n 3",                                                                   RX     },
    {"yes | head -n 20000 | wc -l",                                                       RX     },
    {"seq 100000 | head -1; echo ${PIPESTATUS[0]}",                                       RC     },
    {"false | true | (exit 3); echo ${PIPESTATUS[@]}",                                    PL     },
    {"echo x | cat | cat | cat",                                                          0      },
    {"echo x |& cat",                                                                     0      },
    {"{ yes; } | true",                                                                   RX     },
    {"cat | cat",                                                                         0      },
    {"read x; echo $?",                                                                   0      },
    {"cat",                                                                               0      },
    {"head -c 100000 /dev/zero | tr '\\0' x",                                             0      },
    {"head -c 1000000 /dev/zero",                                                         0      },
    {"head -c 300000 /dev/zero | tr '\\0' e >&2",                                         0      },
    {"seq 20000; seq 20000 >&2",                                                          0      },
    {"for i in {1..200}; do echo o$i; echo e$i >&2; done",                                0      },
    {"head -c 200000 /dev/urandom | wc -c",                                               0      },
    {"dd if=/dev/zero bs=1000 count=300 2>/dev/null | md5sum",                            0      },
    {"echo to stderr >&2",                                                                0      },
    {"echo x >/dev/full; echo $?",                                                        0      },
    {"echo x >/no/such/file; echo $?",                                                    0      },
    {"echo x >/dev/stderr; echo y >/dev/stdout; echo z >/dev/fd/1",                       0      },
    {"cat /dev/stdin; cat /dev/fd/0",                                                     0      },
    {"test -p /dev/stdout && echo pipe; test -t 1 || echo no terminal",                   0      },
    {"echo x | (read a; read b; echo \"$a-$b-$?\")",                                      0      },
    {"while :; do :; done",                                                               LO     },
    {"until false; do sleep 0.01; done",                                                  LO     },
    {"while read -r x; do echo $x; done < <(yes | head -100) | tail -1",                  RX     },
    {"sleep 30",                                                                          LO     },
    {"mkfifo p; cat p",                                                                   LO     },
    {"read -t 0.01 x < <(sleep 30); echo $?",                                             RC     },
 /* compound */
    {"for ((i=0;i<3;i++)); do echo $i; done",                                             0      },
    {"i=0; while ((i++<3)); do continue; done; echo $i",                                  0      },
    {"case abc in a*) echo m;;& *c) echo n;; esac",                                       0      },
    {"select x in a b; do echo $x; break; done <<< 1",                                    0      },
    {"if (( 1 > 2 )); then echo a; elif false; then echo b; else echo c; fi",             0      },
    {"f() ( exit 3 ); f; echo $?",                                                        0      },
    {"f() { echo $1; shift; [ $# -gt 0 ] && f \"$@\"; }; f a b c",                        0      },
    {"function g { return 300; }; g; echo $?",                                            0      },
    {"eval 'echo ev'; eval \"echo 'open\"; echo $?",                                      0      },
    {"eval 'exit 5'; echo never",                                                         0      },
    {". /no/such/file; echo $?",                                                          0      },
    {"echo 'echo sourced $1' >s; . ./s arg",                                              0      },
    {"source <(echo echo sub)",                                                           0      },
    {"bash -c 'exit 7'; echo $?",                                                         0      },
    {"bash <<< 'echo inner; exit 3'; echo $?",                                            0      },
    {"echo 'echo script' | sh -s",                                                        0      },
    {"env -i /bin/bash -c 'echo clean $#'",                                               0      },
    {"nosuchcommand",                                                                     0      },
    {"./no/such; echo $?",                                                                0      },
    {"/tmp; echo $?",                                                                     0      },
    {"echo '#!/no/such/interp' >s; chmod +x s; ./s; echo $?",                             0      },
    {"history; fc -l; echo $?",                                                           IN     },
    {"bind -p; compgen -A function; complete -p",                                         IN | RX},
    {"ls -la /proc/self/fd >/dev/null",                                                   0      },
    {"times >/dev/null; type echo; type -t cd",                                           0      },
};
enum { N_PIECES = sizeof(pieces) / sizeof(pieces[0]) };

/* Before and after a piece. */
static const struct wrapping {
    const char *before, *after;
    unsigned flags;
} wrappings[] = {
    {"( ",                 " )",                         0 },
    {"{ ",                 "\n}",                        0 },
    {"if ",                "\nthen echo yes; fi",        0 },
    {"! { ",               "\n}",                        0 },
    {"w() {\n",            "\n}; w",                     0 },
    {"w() {\n",            "\n}",                        0 },
    {"for k in 1 2; do ",  "\ndone",                     0 },
    {"while :; do ",       "\nbreak; done",              0 },
    {"x=$( ",              "\n); echo \"[$x]\"",         0 },
    {"echo \"`",           "`\"",                        0 },
    {"( ",                 "\n) 2>&1 | cat",             RC},
    {"eval '",             "'",                          0 },
    {"eval \"",            "\"",                         0 },
    {"bash -c '",          "'",                          0 },
    {"{ ",                 "\n} >f 2>&1; cat f",         0 },
    {"{ ",                 "\n} </dev/null 2>/dev/null", 0 },
    {"case x in x) ",      "\n;; esac",                  0 },
    {"command eval ':'; ", "",                           0 },
    {"{ ",                 "\n} &",                      RC},
    {"( set -e\n",         "\n)",                        0 },
    {"(\n",                "\n) & wait $! ",             0 },
    {"cat <<EOF\n",        "\nEOF",                      0 },
    {"cat <<'EOF'\n",      "\nEOF",                      0 },
    {"trap '",             "' USR1; kill -USR1 $$",      0 },
    {"x=1 y=2 ",           "",                           0 },
    {"time ",              "",                           RX},
    {"coproc { ",          "\n}; wait",                  RC},
};
enum { N_WRAPPINGS = sizeof(wrappings) / sizeof(wrappings[0]) };

static const struct {
    const char *text;
    unsigned flags;
} joins[] = {
    {"; ",      0 },
    {"\n",      0 },
    {" && ",    0 },
    {" || ",    0 },
    {" | ",     RC},
    {" & ",     RC},
    {"\n\n#\n", 0 },
    {";",       0 },
    {"\n",      0 },
    {"; ",      0 },
    {"\n",      0 },
    {"",        RC},
};
enum { N_JOINS = sizeof(joins) / sizeof(joins[0]) };

/* What is put in place of, or before, a byte. */
static const char *const damages[] = {
    "'", "\"", "`", "$", "(", ")",  "{",    "}",  "\\", "\n", ";",
    "&", "|",  "<", ">", "#", "\r", "\xff", "\t", "*",  "!",  "",
};
enum { N_DAMAGES = sizeof(damages) / sizeof(damages[0]) };

/* ---- random numbers ---- */

void grammar_init(struct grammar *g, uint64_t seed)
{
    g->state = seed;
}

/* splitmix64: any seed does, 0 too. */
static uint64_t next(struct grammar *g)
{
    uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

unsigned grammar_below(struct grammar *g, unsigned n)
{
    return (unsigned)(next(g) % n);
}

/* ---- texts ---- */

static void add(struct grammar_text *t, const char *text)
{
    CHECK_INT(buf_append_str(&t->bytes, text), 0);
}

static void add_long_line(struct grammar *g, struct grammar_text *t)
{
    add(t, ": ");
    for (unsigned i = grammar_below(g, LONG_LINE); i > 0; i--)
        CHECK_INT(buf_append_byte(&t->bytes, (char)('a' + i % 26)), 0);
}

static void add_piece(struct grammar *g, struct grammar_text *t)
{
    unsigned i = grammar_below(g, N_PIECES + 2);
    if (i >= N_PIECES) {
        add_long_line(g, t);
        return;
    }
    /* What only a time limit ends is rare: each costs one. */
    while (pieces[i].flags & GRAMMAR_ENDLESS && grammar_below(g, 4))
        i = grammar_below(g, N_PIECES);
    t->flags |= pieces[i].flags;
    add(t, pieces[i].text);
}

static void add_wrapped(struct grammar *g, struct grammar_text *t)
{
    if (grammar_below(g, WRAP_ONE_IN)) {
        add_piece(g, t);
        return;
    }
    const struct wrapping *w = &wrappings[grammar_below(g, N_WRAPPINGS)];
    t->flags |= w->flags;
    add(t, w->before);
    add_piece(g, t);
    add(t, w->after);
}

static void damage(struct grammar *g, struct grammar_text *t)
{
    struct buf *b = &t->bytes;
    if (!b->len)
        return;
    t->flags |= GRAMMAR_DAMAGED;
    size_t at = grammar_below(g, (unsigned)b->len);
    auto_buf struct buf rest = BUF_INIT(TEXT_MAX);
    CHECK_INT(buf_append(&rest, b->data + at, b->len - at), 0);
    buf_truncate(b, at);
    unsigned kind = grammar_below(g, 16);
    if (kind == 0) {
        t->has_nul = true;
        CHECK_INT(buf_append_byte(b, '\0'), 0);
    } else {
        add(t, damages[grammar_below(g, N_DAMAGES)]);
    }
    size_t skip = kind % 2; /* in place of a byte, or before it */
    CHECK_INT(buf_append(b, rest.data + skip, rest.len - skip), 0);
}

void grammar_next(struct grammar *g, struct grammar_text *ret)
{
    *ret = (struct grammar_text){0};
    buf_init(&ret->bytes, TEXT_MAX);
    for (unsigned n = 1 + grammar_below(g, PIECES_MAX), i = 0; i < n; i++) {
        if (i) {
            unsigned join = grammar_below(g, N_JOINS);
            ret->flags |= joins[join].flags;
            add(ret, joins[join].text);
        }
        add_wrapped(g, ret);
    }
    if (!grammar_below(g, DAMAGE_ONE_IN))
        damage(g, ret);
}

void grammar_text_done(struct grammar_text *t)
{
    buf_done(&t->bytes);
}
