# Builds the world that every command of the corpora runs in, in the current directory. The harness runs it once
# and copies the result.
#
#   project/  the working directory: a Git repository with ordinary files
#   home/     the home directory; `home/bin/hit` leaves a line in `home/hits` when something executes it
#   space/    the task's workspace
#   globs/    directories whose file names read as options or scripts when a glob expands to them
#   repos/    Git repositories whose own configuration executes `hit`
#   bare/     a directory that Git takes for a repository because of its content
set -eu
umask 022
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 LC_ALL=C TZ=UTC
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
export GIT_AUTHOR_DATE='2024-01-02T03:04:05Z' GIT_COMMITTER_DATE='2024-01-02T03:04:05Z'

repository() {
    git init -q --template= -b main "$1"
    # A copied world keeps times and sizes only: with these, Git still takes the index for fresh.
    git -C "$1" config core.checkStat minimal
    git -C "$1" config core.trustctime false
    git -C "$1" config user.name Ada
    git -C "$1" config user.email ada@example.org
    git -C "$1" config gc.auto 0
}
old() { find "$@" -exec touch -h -d "2024-01-02T03:04:05Z" {} +; }
commit() {
    old "$1" -name .git -prune -o ! -type d
    git -C "$1" add -A
    git -C "$1" commit -q -m "$2"
}

mkdir -p home/bin home/.config home/.tmp space project globs repos
printf '#!/bin/sh\necho "hit $*" >>"$HOME/hits"\n' >home/bin/hit
chmod 755 home/bin/hit
printf 'notes at home\n' >home/notes.txt
printf 'echo profile >>"$HOME/hits"\n' >home/profile.sh
printf 'export COLOUR=blue\n' >home/.profile
cat >home/.gitconfig <<'EOF'
[user]
	name = Ada
	email = ada@example.org
[safe]
	directory = *
[alias]
	ll = "!$HOME/bin/hit"
	st = status
[diff "viewer"]
	textconv = "$HOME/bin/hit"
[diff "tool"]
	command = "$HOME/bin/hit"
[filter "wash"]
	clean = "$HOME/bin/hit clean; cat"
	smudge = "$HOME/bin/hit smudge; cat"
EOF

# The working directory.
repository project
cd project
mkdir -p src docs tests data empty .config build
printf '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
printf '# Demo\n\nA small project.\n\n- TO''DO: write more\n' >README.md
printf 'pear\napple\nfig\napple\n' >a.txt
printf 'apple\nbanana\ncherry\n' >b.txt
printf 'name,age\nada,36\ngrace,45\nalan,41\n' >data/people.csv
printf '{"name":"demo","version":"1.0.0","x":[1,2,3],"scripts":{"test":"true"}}\n' >f.json
cp f.json package.json
printf 'a: 1\nb: [2, 3]\n' >conf.yaml
printf 'mod util;\n\nfn main() {\n    // TO''DO: more\n    println!("{}", util::add(1, 2));\n}\n' >src/main.rs
printf 'pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n' >src/util.rs
printf 'pub mod util;\n' >src/lib.rs
printf '#[test]\nfn adds() {\n    assert_eq!(demo::util::add(1, 2), 3);\n}\n' >tests/adds.rs
printf '# Guide\n\nfoo bar\n' >docs/guide.md
printf 'Design\n' >docs/design.md
printf 'ERROR one\nINFO two\nERROR three\nWARN four\n' >build.log
printf 'a b c\nd e f\n' >words.txt
printf 'first\n' >'with space.txt'
printf 'all:\n\techo made >made.txt\n' >Makefile
printf '#!/bin/sh\necho ran >>"$HOME/hits"\n' >script.sh
printf 'print("ran", file=open("py.made", "w"))\n' >script.py
printf 'touch sourced.made\n' >lines.sh
printf 'target/\n*.o\n' >.gitignore
printf 'hidden\n' >.hidden
printf 'key = value\n' >.config/tool.conf
printf 's/apple/melon/w written\n' >edit.sed
printf 'BEGIN { system("touch awk.made") }\n' >prog.awk
printf 'echo one; touch gdb.made\n' >gdb.sh
printf 'a.txt\nb.txt\n' >list.txt
printf '00000000: 4142 430a                                ABC.\n' >hex.txt
printf -- '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-pear\n+plum\n' >change.diff
printf 'module.exports = 1\n' >index.js
: >empty.txt
chmod 755 script.sh
ln -s a.txt link
ln -s docs doclink
ln -s ../home outside
ln -s nowhere.made dangling
ln -s /proc processes
ln -s /proc/self/environ surroundings
ln -s /dev/fd descriptors
tar -cf a.tar a.txt b.txt
gzip -nc a.txt >a.txt.gz
touch -d '2024-01-02T03:04:05Z' a.txt.gz
cd ..
commit project 'Start'
printf '\nMore.\n' >>project/README.md
printf 'plum\n' >>project/a.txt
commit project 'Say more'
git -C project tag v1
git -C project branch topic
printf '// end\n' >>project/src/main.rs
printf 'new\n' >project/untracked.txt

# File names that a glob turns into options, scripts or outputs.
glob() {
    mkdir -p "globs/$1"
    for name in "${@:2}"; do printf 'x\na\nx\n' >"globs/$1/$name"; done
}
glob find -delete
glob find2 -fprint2 a
glob sort --output=made a
glob sortglued -omade a
glob sed -i s,x,y, zz
glob sedscript 1wmade a
glob uniq a made
glob tar --checkpoint=1 '--checkpoint-action=exec=touch made' a
glob awk 'BEGIN{system("touch made")}' a
glob sh run.sh
glob env 'A=1' touch
glob gitlog --output=made
glob gitgrep '-Otouch made;:' a
glob test -v 'a[$(touch made)]'
glob iconv -omade a
glob file -C -mmade
glob perl '-etouch(); sub touch { open F,q(>made) }' a
glob python -cprint.__self__.open\(\'made\',\'w\'\) a
glob xxd a made
glob cp a made
glob ex -cw\ made -es -V0 a
glob diff --to-file=a a b
glob less -omade a
glob jq -n env
glob date -smade
glob split a
glob column a
printf 'touch made\n' >globs/sh/run.sh
printf '0 string x y\n' >globs/file/-mmade
mkdir -p globs/path/--pre=. globs/sub/-exec
printf '#!/bin/sh\ntouch made\n' >globs/path/--pre=./hit
chmod 755 globs/path/--pre=./hit

# Repositories that execute something by themselves.
hostile() {
    repository "repos/$1"
    printf 'one\n' >"repos/$1/f.txt"
    printf 'bin\000one\n' >"repos/$1/f.bin"
    commit "repos/$1" 'One'
    printf 'second\n' >"repos/$1/f.txt"
    printf 'bin\000second\n' >"repos/$1/f.bin"
    commit "repos/$1" 'Two'
    printf 'three\n' >>"repos/$1/f.txt"
    printf 'three\n' >>"repos/$1/f.bin"
}
hostile plain
hostile fsmonitor
git -C repos/fsmonitor config core.fsmonitor '$HOME/bin/hit'
hostile textconv
git -C repos/textconv config diff.viewer.textconv '$HOME/bin/hit'
printf '* diff=viewer\n' >repos/textconv/.gitattributes
hostile external
git -C repos/external config diff.external '$HOME/bin/hit'
hostile driver
git -C repos/driver config diff.tool.command '$HOME/bin/hit'
printf '* diff=tool\n' >repos/driver/.git/info_attributes
mkdir -p repos/driver/.git/info
mv repos/driver/.git/info_attributes repos/driver/.git/info/attributes
hostile filter
git -C repos/filter config filter.wash.clean '$HOME/bin/hit clean; cat'
git -C repos/filter config filter.wash.smudge '$HOME/bin/hit smudge; cat'
printf '*.txt filter=wash\n' >repos/filter/.gitattributes
printf 'fourrr\n' >repos/filter/f.txt
hostile process
git -C repos/process config filter.wash.process '$HOME/bin/hit process'
printf '*.txt filter=wash\n' >repos/process/.gitattributes
hostile homedriver
printf '*.txt filter=wash diff=viewer\n' >repos/homedriver/.gitattributes
hostile pager
git -C repos/pager config core.pager '$HOME/bin/hit'
git -C repos/pager config pager.log '$HOME/bin/hit'
git -C repos/pager config core.editor '$HOME/bin/hit'
git -C repos/pager config sequence.editor '$HOME/bin/hit'
hostile alias
git -C repos/alias config alias.look '!$HOME/bin/hit'
git -C repos/alias config alias.stat 'diff --output=made'
git -C repos/alias config alias.l '!touch made'
hostile include
printf '[core]\n\tfsmonitor = $HOME/bin/hit\n' >repos/include/extra
git -C repos/include config include.path ../extra
hostile worktree
git -C repos/worktree config extensions.worktreeConfig true
printf '[core]\n\tfsmonitor = $HOME/bin/hit\n' >repos/worktree/.git/config.worktree
hostile hooks
mkdir -p repos/hooks/.git/hooks
for hook in pre-commit post-checkout post-index-change post-merge post-commit pre-push reference-transaction pre-rebase; do
    cp home/bin/hit "repos/hooks/.git/hooks/$hook"
done
git -C repos/hooks config core.hooksPath .git/hooks
hostile gpg
git -C repos/gpg config gpg.program ./sign
git -C repos/gpg config log.showSignature true
printf '#!/bin/sh\ncat >/dev/null\necho "hit $*" >>"$HOME/hits"\nprintf "\\n[GNUPG:] SIG_CREATED \\n" >&2\nprintf "%%s\\n" "-----BEGIN PGP SIGNATURE-----" "-----END PGP SIGNATURE-----"\n' >repos/gpg/sign
chmod 755 repos/gpg/sign
HOME=$PWD/home git -C repos/gpg commit -q -S -a -m 'Signed'
rm -f home/hits
hostile outer
hostile outer/inner
git -C repos/outer/inner config core.fsmonitor '$HOME/bin/hit'
git -C repos/outer add inner 2>/dev/null
git -C repos/outer commit -q -m 'Inner'
printf '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n' >repos/outer/.gitmodules
printf 'changed\n' >>repos/outer/inner/f.txt
git -C repos/outer config submodule.inner.url ./inner
git init -q --template= repos/pointed
printf 'one\n' >repos/pointed/f.txt
git -C repos/pointed add -A
git -C repos/pointed config core.fsmonitor '$HOME/bin/hit'
mkdir repos/file
mv repos/pointed/.git repos/file/store
printf 'gitdir: store\n' >repos/file/.git
git -C repos/file config core.worktree "../../file"
mv repos/pointed/f.txt repos/file/f.txt
rmdir repos/pointed
hostile credential
git -C repos/credential config credential.helper '!$HOME/bin/hit'
git -C repos/credential config remote.origin.url 'ext::sh -c "$HOME/bin/hit"'
git -C repos/credential config remote.shell.url 'ssh://host/x'
git -C repos/credential config core.sshCommand '$HOME/bin/hit'
git -C repos/credential config protocol.ext.allow always
hostile merge
git -C repos/merge config merge.wash.driver '$HOME/bin/hit'
git -C repos/merge config difftool.hit.cmd '$HOME/bin/hit'
git -C repos/merge config mergetool.hit.cmd '$HOME/bin/hit'
git -C repos/merge config diff.tool hit
git -C repos/merge config man.viewer hit
git -C repos/merge config man.hit.cmd '$HOME/bin/hit'
git -C repos/merge config browser.hit.cmd '$HOME/bin/hit'
git -C repos/merge config web.browser hit
git -C repos/merge config trailer.sign.command '$HOME/bin/hit'
git -C repos/merge config trailer.sign.key Sign
git -C repos/merge config trailer.sign.ifmissing add

# What Git takes for a repository because HEAD, objects and refs stand there.
git init -q --bare --template= bare
rm -f bare/description
git -C bare config core.bare false
git -C bare config core.worktree .
git -C bare config core.fsmonitor '$HOME/bin/hit'
mkdir -p bare/sub
printf 'x\n' >bare/f.txt
mkdir -p nested/deep
cp -r bare nested/deep/store
