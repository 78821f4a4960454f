//! Which commands are read-only and how they run; which ask, and why.

use std::path::PathBuf;

use expect_test::expect;
use setpoint_command_line::{Surroundings, Verdict, read};

fn check(commands: &[&str], expected: expect_test::Expect) {
    let surroundings = Surroundings { cwd: PathBuf::from("/w"), home: PathBuf::from("/home/ada") };
    let mut out = String::new();
    for command in commands {
        let reading = read(command, &surroundings);
        let said = match &reading.verdict {
            Verdict::ReadOnly(plan) => format!("runs: {}", plan.rendered()),
            Verdict::RemovesOrMakes(found) => format!("removes or makes: {:?}", found.paths()),
            Verdict::Asks(reason) => format!("asks: {reason}"),
        };
        out.push_str(&format!("{command}\n    {said}\n"));
    }
    expected.assert_eq(&out);
}

#[test]
fn literal_commands_run_as_rendered() {
    check(
        &[
            "ls -la",
            "rg -n --color never x src",
            "ls --sort size --time-style iso src",
            "find . -name '*.rs' -not -path './target/*'",
            "wc -l src/*.rs *.toml",
            "cat a | head -20",
            "git log --oneline -5",
            "git diff HEAD~1 -- src",
            "git -C ../other status -s",
            "cd crates && ls ~/x 2>/dev/null | sort -rn || echo none",
            "grep -rn \"TODO\" src --include='*.rs'",
            "sed -n '10,20p' a.rs; awk '{print $1}' b",
            "ls # all of it",
            "git show HEAD@{1}:a",
        ],
        expect![[r#"
            ls -la
                runs: ls -l -a
            rg -n --color never x src
                runs: rg --no-ignore-messages -n --color never -- x src
            ls --sort size --time-style iso src
                runs: ls --sort size --time-style iso -- src
            find . -name '*.rs' -not -path './target/*'
                runs: find . -name '*.rs' -not -path './target/*'
            wc -l src/*.rs *.toml
                runs: wc -l -- src/*.rs *.toml
            cat a | head -20
                runs: cat -- a | head -20
            git log --oneline -5
                runs: git --no-pager --no-optional-locks -c safe.bareRepository=explicit -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.alternateRefsCommand= -c diff.autoRefreshIndex=false -c log.showSignature=false -c gpg.program=false -c protocol.allow=never -c submodule.recurse=false log --no-ext-diff --no-textconv --oneline -5
            git diff HEAD~1 -- src
                runs: git --no-pager --no-optional-locks -c safe.bareRepository=explicit -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.alternateRefsCommand= -c diff.autoRefreshIndex=false -c log.showSignature=false -c gpg.program=false -c protocol.allow=never -c submodule.recurse=false diff --no-ext-diff --no-textconv --ignore-submodules=dirty 'HEAD~1' -- src
            git -C ../other status -s
                runs: git --no-pager --no-optional-locks -c safe.bareRepository=explicit -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.alternateRefsCommand= -c diff.autoRefreshIndex=false -c log.showSignature=false -c gpg.program=false -c protocol.allow=never -c submodule.recurse=false -C ../other status --ignore-submodules=dirty -s
            cd crates && ls ~/x 2>/dev/null | sort -rn || echo none
                runs: cd -P -- crates && ls -- /home/ada/x 2>/dev/null | sort --buffer-size=512M --temporary-directory=/dev/null/none -r -n || echo none
            grep -rn "TODO" src --include='*.rs'
                runs: grep -r -n '--include=*.rs' -- TODO src
            sed -n '10,20p' a.rs; awk '{print $1}' b
                runs: sed -n -- 10,20p a.rs ; awk -- '{print $1}' b
            ls # all of it
                runs: ls
            git show HEAD@{1}:a
                runs: git --no-pager --no-optional-locks -c safe.bareRepository=explicit -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.alternateRefsCommand= -c diff.autoRefreshIndex=false -c log.showSignature=false -c gpg.program=false -c protocol.allow=never -c submodule.recurse=false show --no-ext-diff --no-textconv 'HEAD@{1}:a'
        "#]],
    );
}

#[test]
fn commands_not_literal_or_not_listed_ask() {
    check(
        &[
            "ls $HOME",
            "ls $(pwd)",
            "A=1 ls",
            "ls > files",
            "cat <<EOF\nx\nEOF",
            "cat < file",
            "for f in *; do cat $f; done",
            "ls &",
            "(ls)",
            "[ -f x ] && ls",
            "echo {a,b}",
            "env ls",
            "sort -o out in",
            "sort --outp=x in",
            "find . -delete",
            "sed -i s/a/b/ f",
            "git diff --output=x",
            "git branch new",
            "git log --format=%G?",
            "rg --pre sh x",
            "./ls",
            "uniq a b",
            "tar tf host:x",
            "cd src; ls",
            "ls && cd src",
            "printf '%n' x",
            "xxd a b",
            "rm *.o",
            "mkdir -p a/b",
            "cargo --version",
            "pip --version",
            "date -d 'TZ=\"/x\" now'",
            "cat a | cat | cat | cat | cat | cat | cat | cat | cat",
        ],
        expect![[r#"
            ls $HOME
                asks: it contains a parameter, so what it does is only known when it runs
            ls $(pwd)
                asks: it contains a command substitution, so what it does is only known when it runs
            A=1 ls
                asks: it contains an assignment, so what it does is only known when it runs
            ls > files
                asks: it redirects to or from a file
            cat <<EOF
            x
            EOF
                asks: it redirects to or from a file
            cat < file
                asks: it redirects to or from a file
            for f in *; do cat $f; done
                asks: it contains a parameter, so what it does is only known when it runs
            ls &
                asks: it contains a background job, so what it does is only known when it runs
            (ls)
                asks: it contains a subshell, an array or a function, so what it does is only known when it runs
            [ -f x ] && ls
                asks: [ is not on the list of programs that only read
            echo {a,b}
                asks: it contains a brace, so what it does is only known when it runs
            env ls
                asks: env is not on the list of programs that only read
            sort -o out in
                asks: sort with -o is not known to only read
            sort --outp=x in
                asks: sort with --outp=x is not known to only read
            find . -delete
                asks: find with -delete is not known to only read
            sed -i s/a/b/ f
                asks: sed with -i is not known to only read
            git diff --output=x
                asks: git with --output=x is not known to only read
            git branch new
                asks: git with new is not known to only read
            git log --format=%G?
                asks: git with --format=%G? is not known to only read
            rg --pre sh x
                asks: rg with --pre is not known to only read
            ./ls
                asks: ./ls is not on the list of programs that only read
            uniq a b
                asks: uniq with b is not known to only read
            tar tf host:x
                asks: tar with tf is not known to only read
            cd src; ls
                asks: it contains a `cd` that is not `cd DIR &&` at the start, so what it does is only known when it runs
            ls && cd src
                asks: it contains a `cd` that is not `cd DIR &&` at the start, so what it does is only known when it runs
            printf '%n' x
                asks: printf with %n is not known to only read
            xxd a b
                asks: xxd with b is not known to only read
            rm *.o
                asks: rm is not on the list of programs that only read
            mkdir -p a/b
                asks: mkdir is not on the list of programs that only read
            cargo --version
                asks: cargo is not on the list of programs that only read
            pip --version
                asks: pip is not on the list of programs that only read
            date -d 'TZ="/x" now'
                asks: date with 'TZ="/x" now' is not known to only read
            cat a | cat | cat | cat | cat | cat | cat | cat | cat
                asks: it runs more than 8 commands at once in a pipeline
        "#]],
    );
}

#[test]
fn removing_and_making_names_its_paths() {
    check(
        &["rm -rf build", "rm a 'b c'", "rmdir x", "mkdir new", "rm -- -x"],
        expect![[r#"
        rm -rf build
            removes or makes: ["build"]
        rm a 'b c'
            removes or makes: ["a", "b c"]
        rmdir x
            removes or makes: ["x"]
        mkdir new
            removes or makes: ["new"]
        rm -- -x
            removes or makes: ["-x"]
    "#]],
    );
}
