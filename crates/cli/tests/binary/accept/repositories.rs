//! `git-report`: what a repository holds, and folders that are not repositories.

use serde_json::{Value, json};

use super::{Want, case, hold, texts, worded};
use crate::support::{Came, Home, shell};

const GIT: &[&str] = &[
    "report on the git repository in {}",
    "what is the state of the git repo in {}?",
    "how many commits does the repository in {} have",
    "git status of {}",
];

#[test]
fn repositories() {
    let home = Home::new();
    let script = r#"
        git init -q -b trunk repo && cd repo
        commit() { git -c user.name="$1" -c user.email=x@x commit -q --allow-empty -m "$2"; }
        echo a > 'a b.txt'; echo k > keep; git add .; commit Ann 'first	one'
        commit Bob second; commit Ann 'third: "quoted"'
        echo b >> 'a b.txt'; git rm -q --cached keep; rm keep; echo n > 'new ü.txt'; mkdir deep; echo d > deep/er
        git init -q -b main ../none
        git init -q -b main ../tabbed && cd ../tabbed && commit 'Ann	B' 'a	tab	here'
        git init -q -b main ../moved && cd ../moved
        echo one > a; git add a; commit Ann one; git mv a c
        git clone -q --depth 1 "file://$PWD/../repo" ../cut
        git init -q -b main ../marked && cd ../marked
        echo a > f; git add f; commit Ann one; git update-index --assume-unchanged f; echo b > f
        git init -q -b main ../modes && cd ../modes
        echo a > f; git add f; commit Ann one; git config core.fileMode false; chmod +x f
        git init -q -b main ../wide && cd ../wide
        commit Ann one; git checkout -q -b side; commit Ann two; commit Ann three; git checkout -q main
        cp -r . ../loose; git -C ../loose checkout -q --detach
    "#;
    shell(&home.work(), script);
    let head = shell(&home.work(), "git -C repo rev-parse HEAD");
    let mut cases = worded(GIT, "repo", || {
        Want::Answer(vec![
            ("/branch", json!("trunk")),
            ("/commits", json!(3)),
            ("/authors", json!([{"name": "Ann", "commits": 2}, {"name": "Bob", "commits": 1}])),
            ("/changed", json!(["a b.txt", "keep"])),
            ("/untracked", json!(["deep/er", "new ü.txt"])),
            ("/last_commit/hash", json!(head.trim())),
            ("/last_commit/subject", json!("third: \"quoted\"")),
        ])
    });
    cases.extend(worded(GIT, "none", || {
        let values = vec![("/commits", json!(0)), ("/authors", json!([])), ("/last_commit", Value::Null)];
        Want::Answer(values)
    }));
    cases.extend(worded(GIT, "tabbed", || {
        Want::Answer(vec![
            ("/authors", json!([{"name": "Ann\tB", "commits": 1}])),
            ("/last_commit/author", json!("Ann\tB")),
            ("/last_commit/subject", json!("a\ttab\there")),
        ])
    }));
    cases.extend(worded(GIT, "moved", || {
        Want::Answer(vec![("/commits", json!(1)), ("/changed", json!(["a", "c"])), ("/untracked", json!([]))])
    }));
    let said = texts(&["this is a shallow clone: older commits are not here"]);
    cases.push(case("git status of cut", Want::Gap("everything could be read", vec![("/left_out", said)])));
    let said = texts(&["1 file is marked so that Git does not see changes of it"]);
    cases
        .push(case("git status of marked", Want::Gap("everything could be read", vec![("/left_out", said)])));
    let said = texts(&["Git is set not to look at changes of file modes (core.fileMode)"]);
    cases.push(case("git status of modes", Want::Answer(vec![("/left_out", said)])));
    let elsewhere = "2 commits are on other branches or tags alone, and were not counted";
    let detached = "no branch is checked out: HEAD is detached";
    for (repo, branch, said) in
        [("wide", json!("main"), vec![elsewhere]), ("loose", Value::Null, vec![elsewhere, detached])]
    {
        cases.extend(worded(GIT, repo, || {
            let values = vec![("/commits", json!(1)), ("/branch", branch.clone())];
            Want::Answer([values, vec![("/left_out", texts(&said))]].concat())
        }));
    }
    home.file("plain/x", "x");
    cases.push(case("report on the git repository in plain", Want::Refused("no Git repository")));
    cases.push(case("report on the git repository in gone", Want::Refused("gone does not exist in ")));
    hold(&home, &cases);
}

/// The numbers are those of the whole repository, whichever folder of it is named.
#[test]
fn folders_in_a_repository() {
    let home = Home::new();
    let script = r"
        git init -q -b trunk r && cd r && mkdir -p docs/deep && echo a > docs/a && echo b > b && git add . &&
        git -c user.name=Ann -c user.email=a@a commit -q -m first && cd .. && ln -s r/docs way
    ";
    shell(&home.work(), script);
    let top = home.work().join("r").canonicalize().unwrap();
    let said = format!("the figures are those of the whole repository at {}", top.display());
    let part = |folder: &str| {
        let values =
            vec![("/commits", json!(1)), ("/below_top", json!(folder)), ("/left_out", texts(&[&said]))];
        Want::Gap("is the top of its repository", values)
    };
    let mut cases = worded(GIT, "./r/docs", || part("docs"));
    cases.push(case("how many commits are in ./r/docs", part("docs")));
    cases.push(case("git status of r/docs/deep", part("docs/deep")));
    cases.push(case("git status of ./way", part("docs")));
    cases.push(case("how many commits are in ./r", Want::Answer(vec![("/below_top", json!(""))])));
    hold(&home, &cases);
}

/// Uncommitted changes in a submodule are not examined, and the answer says so; another commit of it is a
/// change.
#[test]
fn submodules() {
    let home = Home::new();
    let script = r"
        export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always \
            GIT_CONFIG_KEY_1=user.name GIT_CONFIG_VALUE_1=Ann GIT_CONFIG_KEY_2=user.email GIT_CONFIG_VALUE_2=a@a
        git init -q -b trunk inner && cd inner && echo a > a && git add a && git commit -q -m first && cd ..
        git init -q -b trunk outer && cd outer && git submodule -q add ../inner in && git commit -q -m first && cd ..
        cp -r outer moved && cd moved/in && git commit -q --allow-empty -m second && echo b >> ../../outer/in/a
    ";
    shell(&home.work(), script);
    let said = || texts(&["what is not committed in submodules was not looked at"]);
    let cases = [("outer", 0), ("moved", 1)].map(|(folder, changed)| {
        let values = vec![("/changed_count", json!(changed)), ("/commits", json!(1)), ("/left_out", said())];
        case(format!("git status of ./{folder}"), Want::Gap("everything could be read", values))
    });
    hold(&home, &cases);
}

/// Merges and similar operations that were begun and not finished.
#[test]
fn unfinished_work() {
    let home = Home::new();
    let script = r#"
        git init -q -b trunk base && cd base && git config user.name Ann && git config user.email a@a
        echo a > f; git add f; git commit -q -m one; git checkout -q -b side; echo s > f; git commit -q -a -m side
        git checkout -q trunk; echo t > f; git commit -q -a -m two; git format-patch -q -1 side -o ..; cd ..
        for name in merge rebase cherry-pick revert bisect am; do
            cp -r base $name; cd $name
            case $name in
                merge) git merge side;; rebase) git rebase side;; cherry-pick) git cherry-pick side;;
                revert) git revert --no-edit HEAD~1;; bisect) git bisect start;; am) git am ../0001-side.patch;;
            esac > /dev/null 2>&1
            cd ..
        done
        git -C base worktree add -q ../tree && cd tree && git merge side > /dev/null 2>&1; true
    "#;
    shell(&home.work(), script);
    let mut cases = vec![case("git status of base", Want::Answer(vec![("/unfinished", Value::Null)]))];
    for name in ["merge", "rebase", "cherry-pick", "revert", "bisect", "am"] {
        cases.push(case(format!("git status of {name}"), Want::Answer(vec![("/unfinished", json!(name))])));
    }
    cases.push(case("git status of tree", Want::Answer(vec![("/unfinished", json!("merge"))])));
    hold(&home, &cases);
}

/// A goal that names no folder is about the whole repository, from any folder in it; the time is that of the
/// current commit.
#[test]
fn repositories_around() {
    let home = Home::new();
    let script = r"
        git init -q -b trunk . && mkdir -p docs && echo a > docs/a && for n in $(seq -w 2500); do echo a > file-with-a-long-name-$n; done
        git config user.name Ann && git config user.email a@a && git config github.user ann && git config gitflow.branch.master trunk
        git add . && GIT_AUTHOR_DATE='2020-01-01T00:00:00+0900' GIT_COMMITTER_DATE='2021-02-03T04:05:06+0200' git commit -q -m first
        for n in $(seq -w 2500); do echo b > file-with-a-long-name-$n; done
    ";
    shell(&home.work(), script);
    let top = home.work().canonicalize().unwrap();
    let whole = format!("the figures are those of the whole repository at {}", top.display());
    let said = "200 of 2500 changed are listed";
    let values = |left_out: Value| {
        vec![
            ("/commits", json!(1)),
            ("/changed_count", json!(2500)),
            ("/changed/199", json!("file-with-a-long-name-0200")),
            ("/changed/200", Value::Null),
            ("/last_commit/time", json!("2021-02-03T04:05:06+02:00")),
            ("/left_out", left_out),
        ]
    };
    let ways = [
        "summarise the git repository",
        "how many commits does this repository have",
        "git status",
        "who worked on this project",
        "git status of this repo",
    ];
    let mut cases = worded(&ways, "", || Want::Answer(values(texts(&[said]))));
    cases.push(case("find the largest files in this repository", Want::Refused("no playbook")));
    cases.push(case("find the largest files in this project", Want::Refused("no playbook")));
    hold(&home, &cases);
    // From one folder further down.
    for (goal, code) in ways.iter().map(|goal| (*goal, 0)).chain([("how many commits are in .", 3)]) {
        let came = Came::of(home.command(&["run", "--json", goal]).current_dir(home.work().join("docs")));
        let output = &came.json()["output"];
        let left_out = texts(&[&whole, said]);
        assert_eq!(
            (came.code, &output["commits"], &output["left_out"]),
            (code, &json!(1), &left_out),
            "{goal}"
        );
    }
}
