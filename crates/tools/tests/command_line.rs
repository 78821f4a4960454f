//! What reading a command gives: its programs, its normal form, its effect with the exact paths.

use std::collections::BTreeMap;
use std::path::PathBuf;

use expect_test::{Expect, expect};
use setpoint_tools::command_line::{
    Argument, ArgumentKind, RedirectionKind, Surroundings, Target, Verdict, read,
};

/// One paragraph per command: the command, its verdict, and whatever else is worth saying.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the macro makes a value, which reads better without an ampersand"
)]
fn check(commands: &[&str], expected: Expect) {
    let shown: Vec<String> = commands.iter().map(|command| shown(command)).collect();
    expected.assert_eq(&shown.join("\n"));
}

#[test]
fn every_simple_command_is_found() {
    check(
        &[
            "ls -l | sort > out; pwd && (cd x; cat a) & echo $(date) `id` <(who)",
            "if a; then b; elif c; then d; else e; fi; while f; do g; done; until h; do i; done",
            "for x in $(j); do k; done; case $(l) in $(m)) n;; *) o;; esac; { p; } ; ! q",
            "cat <<EOF\n$(r)\nEOF\n[[ $(s) ]] || (( $(t) ))",
            "echo \"$(u \"$(v)\")\" ${w:-$(x)} $((1 + $(y)))",
            "env A=1 nice -n 5 timeout 3 sh -c 'a; b | xargs c' d",
        ],
        expect![[r#"
            ls -l | sort > out; pwd && (cd x; cat a) & echo $(date) `id` <(who)
              writes /w/project/out
              cat cd date echo id ls pwd sort who
              volatile
              [ls -l | sort ; pwd ; cd x ; cat a ; echo $(date) $(id) <(who)]

            if a; then b; elif c; then d; else e; fi; while f; do g; done; until h; do i; done
              opaque: what a does is not known
              a b c d e f g h i
              [a ; b ; c ; d ; e ; f ; g ; h ; i]

            for x in $(j); do k; done; case $(l) in $(m)) n;; *) o;; esac; { p; } ; ! q
              opaque: what j does is not known
              j k l m n o p q
              [k ; n ; o ; p ; q]

            cat <<EOF␤$(r)␤EOF␤[[ $(s) ]] || (( $(t) ))
              opaque: what r does is not known
              cat r s t test
              [cat ; [[ -n $(s) ]] ; (( $(t) ))]

            echo "$(u "$(v)")" ${w:-$(x)} $((1 + $(y)))
              opaque: what v does is not known
              echo u v x y
              [echo "$(u "$(v)")" ${w:-$(x)} $((1 + $(y)))]

            env A=1 nice -n 5 timeout 3 sh -c 'a; b | xargs c' d
              opaque: it sets A, which changes what programs do
              a b c
              [env A=1 nice -n 5 timeout 3 sh -c 'a; b | xargs c' d]
        "#]],
    );
}

#[test]
fn wrappers_are_looked_through() {
    check(
        &[
            "env -i LC_ALL=C ls",
            "xargs -0 -n1 grep foo",
            "sudo -u root systemctl stop x",
            "command -v git",
            "command git status",
            "timeout -k 1 5s nohup nice -n 3 cat f",
            "find . -name '*.o' -exec rm -f {} +",
            "busybox ls -l",
            "bash -euo pipefail -c \"cat f | head\"",
            "parallel -j4 gzip ::: a b",
            "setarch x86_64 -R ls",
            "chroot /mnt ls",
            "time ls",
            "exec ls",
            "env -S 'rm -rf x'",
            "$tool --help",
            "watch df",
        ],
        expect![[r#"
            env -i LC_ALL=C ls
              read-only
              ls
              [env -i LC_ALL=C ls]

            xargs -0 -n1 grep foo
              read-only
              grep
              [xargs -0 -n1 grep foo]

            sudo -u root systemctl stop x
              opaque: sudo runs code that is not read here
              systemctl
              volatile
              [sudo -u root systemctl stop x]

            command -v git
              read-only
              command
              [command -v git]

            command git status
              read-only
              git
              [command git status]

            timeout -k 1 5s nohup nice -n 3 cat f
              read-only
              cat
              [timeout -k 1 5s nohup nice -n 3 cat f]

            find . -name '*.o' -exec rm -f {} +
              writes -/w/project/**?
              find rm
              [find . -name '*.o' -exec rm -f {} +]

            busybox ls -l
              read-only
              ls
              [busybox ls -l]

            bash -euo pipefail -c "cat f | head"
              read-only
              cat head
              [bash -euo pipefail -c 'cat f | head']

            parallel -j4 gzip ::: a b
              opaque: parallel runs code that is not read here
              gzip
              [parallel -j4 gzip ::: a b]

            setarch x86_64 -R ls
              read-only
              ls
              [setarch x86_64 -R ls]

            chroot /mnt ls
              opaque: chroot runs code that is not read here
              ls
              [chroot /mnt ls]

            time ls
              read-only
              ls
              [ls]

            exec ls
              read-only
              ls
              [exec ls]

            env -S 'rm -rf x'
              opaque: env runs code that is not read here
              rm
              [env -S 'rm -rf x']

            $tool --help
              opaque: which program runs is only known when it runs
              ?
              [${tool} --help]

            watch df
              opaque: watch runs code that is not read here
              df
              volatile
              [watch df]
        "#]],
    );
}

#[test]
fn written_and_removed_paths_are_exact() {
    check(
        &[
            "rm -rf ./target",
            "( (rm x) )",
            "rm /tmp/mine/x ~/y \"$HOME/z\" $USER.txt",
            "rm *.log src/[ab].o",
            "mkdir -p a/{b,c} ~+/d",
            "touch a ../b; cp -r a b/; mv c d; ln -s /x/y",
            "cp a b c dir",
            "cp -t dir a b",
            "tee -a log < in | cat",
            "sed -i.bak 's/a/b/' x y",
            "sort -o out in; uniq in out; dd if=a of=b bs=1M",
            "tar -xzf a.tgz -C out; tar czf b.tgz dir; unzip c.zip; gzip d; gunzip e.gz",
            "chmod -R u+x bin; truncate -s 0 f; shred -u g; mktemp",
            "find a b -name '*.o' -delete",
            "find . -fprint out",
            "ls > out 2>> err; ls &> both; ls >| forced; ls 2>/dev/null",
            "cd /tmp && rm x",
            "cd /tmp; rm x",
            "cd a || exit 1; rm x",
            "/usr/bin/cd /tmp && rm x",
            "cd \"$unknown\"; rm x",
            "cd \"$unknown\" && rm /abs",
            "(cd a && rm x); rm y",
            "while true; do cd a; rm x; done",
            "d=build; rm -rf \"$d/cache\"",
            "d=build; d=src; rm -rf $d",
            "test -d x && d=x; rm $d",
            "rm \"$unknown\"",
            "bash -c 'rm inner' > outer",
            "ln -s a b\nrm -rf ~/.pi",
        ],
        expect![[r#"
            rm -rf ./target
              writes -/w/project/target/
              rm
              [rm -rf ./target]

            ( (rm x) )
              writes -/w/project/x
              rm
              [rm x]

            rm /tmp/mine/x ~/y "$HOME/z" $USER.txt
              writes -/tmp/mine/x -/home/ada/y -/home/ada/z -/w/project/ada.txt
              rm
              [rm /tmp/mine/x /home/ada/y /home/ada/z ada.txt]

            rm *.log src/[ab].o
              writes -/w/project/*.log? -/w/project/src/[ab].o?
              rm
              [rm *.log src/[ab].o]

            mkdir -p a/{b,c} ~+/d
              writes /w/project/a/b /w/project/a/c /w/project/d
              mkdir
              [mkdir -p a/b a/c /w/project/d]

            touch a ../b; cp -r a b/; mv c d; ln -s /x/y
              writes /w/project/a /w/b /w/project/b/a/ /w/project/d /w/project/y -/w/project/c/
              cp ln mv touch
              [touch a ../b ; cp -r a b/ ; mv c d ; ln -s /x/y]

            cp a b c dir
              writes /w/project/dir/a /w/project/dir/b /w/project/dir/c
              cp
              [cp a b c dir]

            cp -t dir a b
              writes /w/project/dir/a /w/project/dir/b
              cp
              [cp -t dir a b]

            tee -a log < in | cat
              writes /w/project/log
              cat tee
              [tee -a log | cat]

            sed -i.bak 's/a/b/' x y
              writes /w/project/x /w/project/y
              sed
              [sed -i.bak s/a/b/ x y]

            sort -o out in; uniq in out; dd if=a of=b bs=1M
              writes /w/project/out /w/project/b
              dd sort uniq
              [sort -o out in ; uniq in out ; dd if=a of=b bs=1M]

            tar -xzf a.tgz -C out; tar czf b.tgz dir; unzip c.zip; gzip d; gunzip e.gz
              writes /w/project/out/ /w/project/b.tgz /w/project/ /w/project/d.gz /w/project/e -/w/project/d -/w/project/e.gz
              gunzip gzip tar unzip
              [tar -xzf a.tgz -C out ; tar czf b.tgz dir ; unzip c.zip ; gzip d ; gunzip e.gz]

            chmod -R u+x bin; truncate -s 0 f; shred -u g; mktemp
              writes /w/project/bin/ /w/project/f /tmp/tmp.*? -/w/project/g
              chmod mktemp shred truncate
              volatile
              [chmod -R u+x bin ; truncate -s 0 f ; shred -u g ; mktemp]

            find a b -name '*.o' -delete
              writes -/w/project/a/ -/w/project/b/
              find
              [find a b -name '*.o' -delete]

            find . -fprint out
              writes /w/project/out
              find
              [find . -fprint out]

            ls > out 2>> err; ls &> both; ls >| forced; ls 2>/dev/null
              writes /w/project/out /w/project/err /w/project/both /w/project/forced
              ls
              [ls ; ls ; ls ; ls]

            cd /tmp && rm x
              writes -/tmp/x
              cd rm
              [cd /tmp ; rm x]

            cd /tmp; rm x
              writes -/tmp/x -/w/project/x
              cd rm
              [cd /tmp ; rm x]

            cd a || exit 1; rm x
              writes -/w/project/a/x
              cd exit rm
              [cd a ; exit 1 ; rm x]

            /usr/bin/cd /tmp && rm x
              writes -/w/project/x
              cd rm
              [/usr/bin/cd /tmp ; rm x]

            cd "$unknown"; rm x
              opaque: which path rm changes is only known when it runs
              cd rm
              [cd "${unknown}" ; rm x]

            cd "$unknown" && rm /abs
              writes -/abs
              cd rm
              [cd "${unknown}" ; rm /abs]

            (cd a && rm x); rm y
              writes -/w/project/a/x -/w/project/y
              cd rm
              [cd a ; rm x ; rm y]

            while true; do cd a; rm x; done
              opaque: which path rm changes is only known when it runs
              cd rm true
              [true ; cd a ; rm x]

            d=build; rm -rf "$d/cache"
              writes -/w/project/build/cache/
              rm
              [rm -rf build/cache]

            d=build; d=src; rm -rf $d
              opaque: an argument of rm is only known when it runs
              rm
              [rm -rf ${d}]

            test -d x && d=x; rm $d
              opaque: an argument of rm is only known when it runs
              rm test
              [test -d x ; rm ${d}]

            rm "$unknown"
              opaque: an argument of rm is only known when it runs
              rm
              [rm "${unknown}"]

            bash -c 'rm inner' > outer
              writes /w/project/outer -/w/project/inner
              rm
              [bash -c 'rm inner']

            ln -s a b␤rm -rf ~/.pi
              writes /w/project/b -/home/ada/.pi/
              ln rm
              [ln -s a b ; rm -rf /home/ada/.pi]
        "#]],
    );
}

#[test]
fn the_same_command_has_the_same_target() {
    let target = |command: &str| read(command, &surroundings()).target;
    for same in [
        vec![
            "grep -n 'a b' file",
            "grep  -n \"a b\"   file",
            "grep -n a\\ b file",
            "  grep -n 'a'\" b\" file # note",
        ],
        vec!["ls | wc -l", "ls|wc -l", "ls 2>/dev/null |  wc -l", "ls |\nwc -l"],
        vec!["a; b", "a;b;", "a\nb", "a && b"],
        vec!["cat ~/x", "cat $HOME/x", "cat \"${HOME}/x\""],
        vec!["echo \"$x\"", "echo \"${x}\""],
        vec!["echo $(ls  -l|wc)", "echo $( ls -l | wc )"],
        vec!["rm x", "r''m x", "\\rm x", "'rm' \"x\""],
    ] {
        let targets: Vec<String> = same.iter().map(|command| target(command)).collect();
        assert!(targets.windows(2).all(|pair| pair[0] == pair[1]), "{same:?} {targets:?}");
    }
    for (one, other) in
        [("echo a b", "echo 'a b'"), ("ls | wc", "ls; wc"), ("echo $x", "echo '$x'"), ("echo *", "echo '*'")]
    {
        assert_ne!(target(one), target(other));
    }
}

#[test]
fn volatile_commands_and_executed_files() {
    check(
        &[
            "date",
            "sleep 1",
            "ls; uptime",
            "tail -f log",
            "echo $RANDOM",
            "head -c4 /dev/urandom",
            "ls -l",
            "./run.sh a",
            "python3 -u scripts/x.py arg",
            "bash -x ./x.sh",
            "sh < y.sh",
            ". ./env.sh",
            "python3 -c 'x'",
            "python3 -m pytest tests/test_a.py::test_b -q",
            "bash -c './inner.sh'",
            "perl -w x.pl | ruby y.rb",
            "sed -f a.sed b",
            "awk -f a.awk b",
            "cd sub && ./tool",
            "node --version",
            "make -f build.mk",
            "find . -exec ./each.sh {} ;",
        ],
        expect![[r#"
            date
              read-only
              date
              volatile
              [date]

            sleep 1
              read-only
              sleep
              volatile
              [sleep 1]

            ls; uptime
              read-only
              ls uptime
              volatile
              [ls ; uptime]

            tail -f log
              read-only
              tail
              volatile
              [tail -f log]

            echo $RANDOM
              read-only
              echo
              volatile
              [echo ${RANDOM}]

            head -c4 /dev/urandom
              read-only
              head
              volatile
              [head -c4 /dev/urandom]

            ls -l
              read-only
              ls
              [ls -l]

            ./run.sh a
              opaque: ./run.sh is a file of unknown content
              run.sh
              executes ["/w/project/run.sh"]
              [./run.sh a]

            python3 -u scripts/x.py arg
              opaque: python3 runs code that is not read here
              python3
              executes ["/w/project/scripts/x.py"]
              [python3 -u scripts/x.py arg]

            bash -x ./x.sh
              opaque: bash runs code that is not read here
              bash
              executes ["/w/project/x.sh"]
              [bash -x ./x.sh]

            sh < y.sh
              opaque: sh runs code that is not read here
              sh
              executes ["/w/project/y.sh"]
              [sh]

            . ./env.sh
              opaque: . runs code that is not read here
              .
              executes ["/w/project/env.sh"]
              [. ./env.sh]

            python3 -c 'x'
              opaque: python3 runs code that is not read here
              python3
              [python3 -c x]

            python3 -m pytest tests/test_a.py::test_b -q
              opaque: python3 runs code that is not read here
              python3
              executes ["/w/project/tests/test_a.py"]
              [python3 -m pytest tests/test_a.py::test_b -q]

            bash -c './inner.sh'
              opaque: ./inner.sh is a file of unknown content
              inner.sh
              executes ["/w/project/inner.sh"]
              [bash -c ./inner.sh]

            perl -w x.pl | ruby y.rb
              opaque: perl runs code that is not read here
              perl ruby
              executes ["/w/project/x.pl", "/w/project/y.rb"]
              [perl -w x.pl | ruby y.rb]

            sed -f a.sed b
              opaque: sed runs code that is not read here
              sed
              executes ["/w/project/a.sed"]
              [sed -f a.sed b]

            awk -f a.awk b
              opaque: awk runs code that is not read here
              awk
              executes ["/w/project/a.awk"]
              [awk -f a.awk b]

            cd sub && ./tool
              opaque: ./tool is a file of unknown content
              cd tool
              executes ["/w/project/sub/tool"]
              [cd sub ; ./tool]

            node --version
              read-only
              node
              [node --version]

            make -f build.mk
              opaque: make runs code that is not read here
              make
              executes ["/w/project/build.mk"]
              [make -f build.mk]

            find . -exec ./each.sh {} ;
              opaque: find with -exec is not known to be harmless
              find
              [find . -exec ./each.sh {}]
        "#]],
    );
}

#[test]
fn reasons_say_what_stood_in_the_way() {
    check(
        &[
            "frobnicate x",
            "./ls",
            "eval x",
            "$x",
            "grep -r x | sh",
            "sort $flags f",
            "ls 'x",
            "PATH=. ls",
            "GIT_PAGER=x git log",
            "f() { ls; }",
            "sh -c '[[ a ]]'",
            "git push",
            "rg --pre x y",
            "echo $((n))",
            "cat < /dev/tcp/a/1",
            "x=$(frobnicate) ls",
        ],
        expect![[r#"
            frobnicate x
              opaque: what frobnicate does is not known
              frobnicate
              [frobnicate x]

            ./ls
              opaque: ./ls is a file of unknown content
              ls
              executes ["/w/project/ls"]
              [./ls]

            eval x
              opaque: eval runs code that is not read here
              eval
              [eval x]

            $x
              opaque: which program runs is only known when it runs
              ?
              [${x}]

            grep -r x | sh
              opaque: sh runs code that is not read here
              grep sh
              [grep -r x | sh]

            sort $flags f
              opaque: an argument of sort is only known when it runs
              sort
              [sort ${flags} f]

            ls 'x
              opaque: its syntax is not understood: a quote without its end
              ?
              volatile
              [ls 'x]

            PATH=. ls
              opaque: it sets PATH, which changes what programs do
              ls
              [ls]

            GIT_PAGER=x git log
              opaque: it sets GIT_PAGER, which changes what programs do
              git
              [git log]

            f() { ls; }
              opaque: it defines a function
              ls
              [ls]

            sh -c '[[ a ]]'
              opaque: it gives sh a text that only bash reads this way
              test
              [sh -c '[[ a ]]']

            git push
              opaque: git with push is not known to be harmless
              git
              [git push]

            rg --pre x y
              opaque: rg with --pre is not known to be harmless
              rg
              [rg --pre x y]

            echo $((n))
              opaque: it computes with a value that could hold a command
              echo
              [echo $((n))]

            cat < /dev/tcp/a/1
              opaque: it opens a network connection
              cat
              [cat]

            x=$(frobnicate) ls
              opaque: what frobnicate does is not known
              frobnicate ls
              [ls]
        "#]],
    );
}

#[test]
fn words_assignments_and_redirections_are_told_apart() {
    let reading = read("LC_ALL=C grep -n \"$pattern\" *.rs 'a b' 2>&1 >>log <in", &surroundings());
    let [command] = reading.commands.as_slice() else { panic!("{:?}", reading.commands) };
    assert_eq!(command.assignments.len(), 1);
    assert_eq!(command.assignments[0].name, "LC_ALL");
    assert_eq!(command.assignments[0].value.known(), Some("C"));
    let literal = |text: &str| Argument { text: text.to_owned(), kind: ArgumentKind::Literal };
    assert_eq!(
        command.argv,
        [
            literal("grep"),
            literal("-n"),
            Argument {
                text: "\"${pattern}\"".to_owned(),
                kind: ArgumentKind::Unknown { option: true, splits: false },
            },
            Argument { text: "*.rs".to_owned(), kind: ArgumentKind::Pattern },
            literal("a b"),
        ]
    );
    let redirections: Vec<_> = command
        .redirections
        .iter()
        .map(|redirection| (redirection.fd, redirection.kind, redirection.target.text.as_str()))
        .collect();
    assert_eq!(
        redirections,
        [
            (Some(2), RedirectionKind::Duplicate, "1"),
            (None, RedirectionKind::Append, "log"),
            (None, RedirectionKind::Read, "in"),
        ]
    );
    assert_eq!(reading.tool_ids(), ["shell/grep"]);
}

#[test]
fn only_what_every_shell_reads_alike_needs_no_bash() {
    let needs_bash = |command: &str| read(command, &surroundings()).needs_bash;
    for command in [
        "ls | wc",
        "cat <<E\nx\nE",
        "x=$(ls); echo ${x:-y} $((1+2))",
        "for i in a; do echo $i; done",
        "echo '{a,b}'",
    ] {
        assert!(!needs_bash(command), "{command}");
    }
    for command in [
        "[[ a ]]",
        "ls &> x",
        "echo $'x'",
        "cat <(ls)",
        "cat <<< x",
        "echo {a,b}",
        "((1))",
        "a=(b)",
        "x+=1",
        "time ls",
        "echo ${x^^}",
        "ls |& cat",
        "echo $(cat <<< x)",
        "function f { ls; }",
        "echo ${x:1}",
    ] {
        assert!(needs_bash(command), "{command}");
    }
}

#[test]
fn the_surroundings_can_take_the_ground_away() {
    let mut surroundings = surroundings();
    assert!(read("ls", &surroundings).verdict.is_read_only());
    for (name, value) in [
        ("PATH", "/usr/bin:."),
        ("PATH", "/w/project/bin:/usr/bin"),
        ("PATH", ":/usr/bin"),
        ("BASH_ENV", "x"),
        ("LD_PRELOAD", "x"),
        ("BASH_FUNC_ls%%", "() { rm x; }"),
    ] {
        let before = surroundings.vars.clone();
        surroundings.vars.insert(name.to_owned(), value.to_owned());
        assert!(!read("ls", &surroundings).verdict.is_read_only(), "{name}={value}");
        surroundings.vars = before;
    }
}

fn shown(command: &str) -> String {
    let reading = read(command, &surroundings());
    let mut lines = vec![command.replace('\n', "␤")];
    lines.push(match &reading.verdict {
        Verdict::ReadOnly => "  read-only".to_owned(),
        Verdict::Writes { paths, deletes } => {
            let mut text = "  writes".to_owned();
            text.extend(paths.iter().map(|target| format!(" {}", target_text(target))));
            text.extend(deletes.iter().map(|target| format!(" -{}", target_text(target))));
            text
        }
        Verdict::Opaque { reason } => format!("  opaque: {reason}"),
    });
    lines.push(format!("  {}", reading.programs.join(" ")));
    if reading.volatile {
        lines.push("  volatile".to_owned());
    }
    if !reading.executes.is_empty() {
        lines.push(format!("  executes {:?}", reading.executes));
    }
    lines.push(format!("  [{}]\n", reading.target));
    lines.join("\n")
}

/// A pattern ends with a question mark, what is touched with all below with a slash.
fn target_text(target: &Target) -> String {
    let pattern = if target.pattern { "?" } else { "" };
    let recursive = if target.recursive { "/" } else { "" };
    format!("{}{pattern}{recursive}", target.path.display())
}

fn surroundings() -> Surroundings {
    Surroundings {
        cwd: PathBuf::from("/w/project"),
        home: PathBuf::from("/home/ada"),
        vars: BTreeMap::from([
            ("USER".to_owned(), "ada".to_owned()),
            ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ]),
    }
}
