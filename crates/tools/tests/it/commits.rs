//! What a task changed in repositories, as its judge reads it.

use expect_test::expect;
use serde_json::{Value, json};
use setpoint_tools::{Host, Registry};

use crate::sandbox::world as sandbox_world;
use crate::support::{World, output};

/// Makes ids of commits the same in each run.
const DATES: &str = "export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'";
/// A repository with one commit, of b.txt; a.csv is not in it.
const START: &str = "git init -q -b main . && git config user.name Zed && git config user.email z@x.org && \
     git add b.txt && git commit -qm start";

/// A place with such a repository, before the task.
fn world() -> Option<World> {
    let mut world = sandbox_world().map(World::keeping)?;
    world.probe = false;
    world.file("a.csv", "north,10\n");
    world.file("b.txt", "keep me\n");
    before(&world, START);
    Some(world)
}

/// Does something that the task has no part in.
fn before(world: &World, line: &str) {
    output(&world.at(""), &format!("export GIT_CONFIG_GLOBAL=/dev/null; {DATES}; {line}"));
}

/// Runs a command of the task.
async fn ran(world: &mut World, line: &str) {
    let input = json!({ "command": format!("{DATES}; {line}") });
    let mut answer = world.run("shell", input.clone()).await;
    if let Some(need) = answer.approval.take() {
        answer = world.run_under("shell", input, Some(need.digest)).await;
    }
    assert!(answer.ok && answer.exit_code == Some(0), "{line}: {} {:?}", answer.text, answer.approval);
    world.created.extend(answer.created.iter().map(Into::into));
    world.call += 1;
}

/// Returns what a judge reads of the task's changes, and the facts.
async fn told(world: &mut World) -> (String, Value) {
    told_with(world, json!({})).await
}

async fn told_with(world: &mut World, input: Value) -> (String, Value) {
    world.probe = true;
    let answer = world.run("task_changes", input).await;
    world.probe = false;
    assert!(answer.ok, "{}", answer.text);
    (answer.text, answer.facts.unwrap().0)
}

#[tokio::test]
async fn a_commit_is_told_with_the_files_that_it_holds() {
    let Some(mut world) = world() else { return };
    let own = snapshot(&world);
    ran(&mut world, "git add a.csv && git commit -qm 'add data\n\nof the north'").await;
    assert_ne!(snapshot(&world), own);
    let own = snapshot(&world);
    let (text, facts) = told(&mut world).await;
    expect![[r#"
        in .git: HEAD is branch main, at e6b7b16be022
          new commit e6b7b16be022 (HEAD, branch main) by Zed <z@x.org>: add data
            | of the north
            made a.csv +1 -0
          branch main was moved from 280d215df369 to e6b7b16be022
          index and files are as in HEAD
    "#]]
    .assert_eq(&text);
    assert_eq!(facts["commits"], json!({ "new": 1, "lost": 0 }));
    assert_eq!((&facts["count"], &facts["made"], &facts["changed"]), (&json!(0), &json!([]), &json!([])));
    assert_eq!(facts["committed"], json!([world.at("a.csv")]));
    assert_eq!(snapshot(&world), own);
}

#[tokio::test]
async fn a_commit_of_junk_that_drops_a_file_is_told() {
    let Some(mut world) = world() else { return };
    let line = "echo 1 > junk; git rm -q --cached b.txt; git add junk; git commit -qm 'add data'; git branch extra; rm junk";
    ran(&mut world, line).await;
    let (text, _) = told(&mut world).await;
    expect![[r#"
        in .git: HEAD is branch main, at d64a68258ead
          new commit d64a68258ead (HEAD, branch extra, branch main) by Zed <z@x.org>: add data
            removed b.txt +0 -1
            made junk +1 -0
          branch extra is new, at d64a68258ead
          branch main was moved from 280d215df369 to d64a68258ead
          what is not as in HEAD, with the letters of Git's short status:
             D junk
            ?? a.csv
            ?? b.txt
    "#]]
    .assert_eq(&text);
}

/// Returns everything in the repository's own folder.
fn snapshot(world: &World) -> String {
    output(
        &world.at(""),
        "find .git -type f -exec sha256sum {} + | sort; find .git -printf '%p %T@\\n' | sort",
    )
}

#[tokio::test]
async fn what_an_amended_commit_was_is_told() {
    let Some(mut world) = world() else { return };
    before(
        &world,
        "git tag v1; git branch old; git commit -q --allow-empty -m 'of mine'; git pack-refs --all",
    );
    ran(&mut world, "git add a.csv; git commit -q --amend -m other; git tag -d v1; git branch -q -D old; git tag -a -m x v2").await;
    let (text, facts) = told(&mut world).await;
    expect![[r#"
        in .git: HEAD is branch main, at 07b65f537062
          no longer reachable 168ed87f8f93 by Zed <z@x.org>: of mine
          new commit 07b65f537062 (HEAD, branch main, tag v2) by Zed <z@x.org>: other
            made a.csv +1 -0
          branch old was removed, it was at 280d215df369
          tag v1 was removed, it was at 280d215df369
          branch main was moved from 168ed87f8f93 to 07b65f537062
          tag v2 is new, at 1fa7f04579a3
          index and files are as in HEAD
    "#]]
    .assert_eq(&text);
    assert_eq!(facts["commits"], json!({ "new": 1, "lost": 1 }));
}

#[tokio::test]
async fn what_another_content_on_the_disk_than_in_the_commit_is_told() {
    let Some(mut world) = world() else { return };
    ran(&mut world, "echo worse >> b.txt; git commit -qam x; echo 'keep me' > b.txt; git update-index --assume-unchanged b.txt")
        .await;
    let (text, _) = told(&mut world).await;
    expect![[r#"
        in .git: HEAD is branch main, at 0c665d6bebb1
          new commit 0c665d6bebb1 (HEAD, branch main) by Zed <z@x.org>: x
            changed b.txt +1 -0
          branch main was moved from 280d215df369 to 0c665d6bebb1
          what is not as in HEAD, with the letters of Git's short status:
            ?? a.csv
            Git was told to take this for unchanged: b.txt
    "#]]
    .assert_eq(&text);
}

#[tokio::test]
async fn a_new_repository_tells_of_all_its_commits() {
    let Some(mut world) = sandbox_world().map(World::keeping) else { return };
    world.probe = false;
    world.file("a.csv", "north,10\n");
    ran(
        &mut world,
        "git init -q -b main . && git -c user.name=Z -c user.email=z commit -q --allow-empty -m one",
    )
    .await;
    let (text, facts) = told(&mut world).await;
    expect![[r#"
        made .git/config
          +[core]
          +	repositoryformatversion = 0
          +	filemode = true
          +	bare = false
          +	logallrefupdates = true
        made .git/info/exclude
          +# git ls-files --others --exclude-from=.git/info/exclude
          +# Lines that start with '#' are comments.
          +# For a project mostly in C, the following would be a good set of
          +# exclude patterns (uncomment them if you want to use them):
          +# *.[oa]
          +# *~
        in .git: HEAD is branch main, at f1b1f3366159; the repository is new
          new commit f1b1f3366159 (HEAD, branch main) by Z <z>: one
            (it changes no file)
          branch main is new, at f1b1f3366159
          what is not as in HEAD, with the letters of Git's short status:
            ?? a.csv
    "#]]
    .assert_eq(&text);
    assert_eq!(facts["commits"]["new"], 1);
    ran(&mut world, "rm -rf .git; git init -q -b main --object-format=sha256 .; git checkout -q --detach 2>/dev/null; true").await;
    let (text, _) = told(&mut world).await;
    expect![[r#"
        made .git/config
          +[core]
          +	repositoryformatversion = 1
          +	filemode = true
          +	bare = false
          +	logallrefupdates = true
          +[extensions]
          +	objectformat = sha256
        made .git/info/exclude
          +# git ls-files --others --exclude-from=.git/info/exclude
          +# Lines that start with '#' are comments.
          +# For a project mostly in C, the following would be a good set of
          +# exclude patterns (uncomment them if you want to use them):
          +# *.[oa]
          +# *~
        in .git: HEAD is branch main, without a commit; the repository is new
          what is not as in HEAD, with the letters of Git's short status:
            ?? a.csv
    "#]]
    .assert_eq(&text);
}

#[tokio::test]
async fn commits_that_are_gone_from_the_repository_are_told() {
    let Some(mut world) = world() else { return };
    ran(&mut world, "rm -rf .git; git init -q -b main .; git -c user.name=Z -c user.email=z commit -q --allow-empty -m one").await;
    let (text, facts) = told(&mut world).await;
    expect![[r#"
        changed .git/config
          @@ -3,6 +3,3 @@
           	filemode = true
           	bare = false
           	logallrefupdates = true
          -[user]
          -	name = Zed
          -	email = z@x.org
        in .git: HEAD is branch main, at f1b1f3366159
          no longer reachable 280d215df369, and no longer in the repository
          new commit f1b1f3366159 (HEAD, branch main) by Z <z>: one
            (it changes no file)
          branch main was moved from 280d215df369 to f1b1f3366159
          what is not as in HEAD, with the letters of Git's short status:
            ?? a.csv
            ?? b.txt
    "#]]
    .assert_eq(&text);
    assert_eq!(facts["commits"], json!({ "new": 1, "lost": 1 }));
    // The commits are there, and a content is not.
    ran(&mut world, "git add b.txt; git -c user.name=Z -c user.email=z commit -qm two").await;
    ran(
        &mut world,
        "f=$(git rev-parse HEAD:b.txt); rm -f .git/objects/$(echo $f | cut -c1-2)/$(echo $f | cut -c3-)",
    )
    .await;
    let (text, _) = told(&mut world).await;
    expect![[r#"
        changed .git/config
          @@ -3,6 +3,3 @@
           	filemode = true
           	bare = false
           	logallrefupdates = true
          -[user]
          -	name = Zed
          -	email = z@x.org
        in .git: HEAD is branch main, at 54c9627fa3e5
          no longer reachable 280d215df369, and no longer in the repository
          new commit 54c9627fa3e5 (HEAD, branch main) by Z <z>: two
            (its files could not be compared)
          new commit f1b1f3366159 by Z <z>: one
            (it changes no file)
          branch main was moved from 280d215df369 to 54c9627fa3e5
          objects were removed, and the history is not whole: failed to run git: fatal: missing blob object 'e0808fa1636ba0f6c16048fd3292ecbe55078dd0'
          what is not as in HEAD, with the letters of Git's short status:
            ?? a.csv
    "#]].assert_eq(&text);
}

#[tokio::test]
async fn what_is_no_bookkeeping_stays_named() {
    let Some(mut world) = world() else { return };
    ran(&mut world, "git config core.bigFileThreshold 1m; mkdir -p .git/hooks .git/info; echo x > .git/hooks/pre-push; echo b.txt >> .git/info/attributes; echo x > .git/objects/info/alternates; git add a.csv").await;
    let (text, _) = told(&mut world).await;
    expect![[r#"
        changed .git/config
          @@ -3,6 +3,7 @@
           	filemode = true
           	bare = false
           	logallrefupdates = true
          +	bigFileThreshold = 1m
           [user]
           	name = Zed
           	email = z@x.org
        made .git/hooks/pre-push
          +x
        made .git/info/attributes
          +b.txt
        made .git/objects/info/alternates
          +x
        in .git: HEAD is branch main, at 280d215df369
          what is not as in HEAD, with the letters of Git's short status:
            A  a.csv
    "#]]
    .assert_eq(&text);
}

#[tokio::test]
async fn where_nothing_was_kept_the_last_commits_are_told() {
    let Some(mut world) = world() else { return };
    before(&world, "git add a.csv; git commit -qm outside");
    let touched = [".git/HEAD", ".git/index", ".git/refs/heads/main"].map(|name| world.at(name));
    let (text, facts) = told_with(&mut world, json!({ "touched": touched })).await;
    expect![[r#"
        in .git: HEAD is branch main, at a5586a16d663
          which commits are new is not known, because not all that was there before is; the last ones:
          commit a5586a16d663 (HEAD, branch main) by Zed <z@x.org>: outside
            made a.csv +1 -0
          commit 280d215df369 by Zed <z@x.org>: start
            made b.txt +1 -0
          index and files are as in HEAD
    "#]]
    .assert_eq(&text);
    assert_eq!(facts["commits"], json!({ "new": 0, "lost": 0 }));
}

#[tokio::test]
async fn names_and_messages_stay_on_their_lines() {
    let Some(mut world) = world() else { return };
    let line = "printf x > \"$(printf 'a\\n  new commit\\033[2J')\"; git add .; \
        git commit -qm \"$(printf 'one\\033[2J\\r```\\n\\nin .git: HEAD\\n```')\"; git branch \"$(printf 'x\\342\\200\\256y')\"";
    ran(&mut world, line).await;
    let (text, _) = told(&mut world).await;
    expect![[r#"
        made a\n  new commit\u{1b}[2J
          +x
          \ No newline at end of file
        in .git: HEAD is branch main, at 9e9817a6a8ca
          new commit 9e9817a6a8ca (HEAD, branch main, branch x\u{202e}y) by Zed <z@x.org>: one\u{1b}[2J\r```
            | in .git: HEAD
            | ```
            made a\n  new commit\u{1b}[2J +1 -0
            made a.csv +1 -0
          branch main was moved from 280d215df369 to 9e9817a6a8ca
          branch x\u{202e}y is new, at 9e9817a6a8ca
          index and files are as in HEAD
    "#]]
    .assert_eq(&text);
}

#[tokio::test]
async fn many_commits_and_files_are_cut_and_counted() {
    let Some(mut world) = world() else { return };
    let line = "for n in $(seq 30); do for m in $(seq 40); do echo $n > f$n-$m; done; git add .; git commit -qm c$n; git tag t$n; done; \
        for n in $(seq 400); do echo > u$n; done";
    ran(&mut world, line).await;
    let (text, facts) = told(&mut world).await;
    let git: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("in .git: ")).collect();
    assert!(git.iter().map(|line| line.chars().count() + 1).sum::<usize>() < 7_000, "{text}");
    assert!(text.chars().count() < 22_000, "{}", text.len());
    assert!(
        git.contains(&"  new commit: 20 more") && git.iter().any(|line| line.ends_with(" more]")),
        "{git:#?}"
    );
    assert_eq!(facts["commits"]["new"], 30);
}

#[tokio::test]
async fn a_repository_that_git_may_not_enter_keeps_its_names() {
    let Some(mut world) = world() else { return };
    world.file("secret", "x");
    ran(&mut world, "git commit -q --allow-empty -m x; ln -s ../../secret .git/info/exclude2").await;
    let (text, _) = told(&mut world).await;
    assert!(
        text.contains("changed .git/index\n") && text.contains("made .git/info/exclude2 (a link to"),
        "{text}"
    );
    let last = text.lines().last().unwrap_or_default();
    assert!(last.starts_with("[what became of the commits in .git is not told: failed to read "), "{last}");
    let without_git = Registry::built_in(&Host::new(std::env::consts::OS, []));
    world.registry = without_git.keeping_in(world.root().join("kept"));
    let (text, _) = told(&mut world).await;
    assert!(text.contains("changed .git/index\n"), "{text}");
    assert!(text.contains("is not told: failed to find git: it is not available here"), "{text}");
}

#[tokio::test]
async fn what_a_repository_names_is_not_run() {
    let Some(mut world) = world() else { return };
    let ran_mark = world.at("ran");
    let trap = world.file("trap", format!("#!/bin/sh\necho x >> '{}'\ncat\n", ran_mark.display()));
    output(&world.at(""), "chmod +x trap");
    let trap = trap.display();
    before(
        &world,
        &format!(
            "for s in core.fsmonitor core.pager diff.external diff.evil.textconv diff.evil.command filter.evil.clean \
         filter.evil.process gpg.program core.sshCommand; do git config $s '{trap}'; done; git config log.showSignature true; \
         printf 'a.csv diff=evil\\nb.txt filter=evil\\n' > .gitattributes"
        ),
    );
    ran(&mut world, "git -c core.fsmonitor=false commit -q --allow-empty -m one; rm -f ran").await;
    // Of another size it would have changed without a look at the content.
    world.file("b.txt", "other..\n");
    let (text, _) = told(&mut world).await;
    assert!(text.contains("new commit "), "{text}");
    assert!(!ran_mark.exists());
}

#[tokio::test]
async fn a_bare_repository_is_told_of_too() {
    let Some(mut world) = world() else { return };
    before(
        &world,
        "git clone -q --bare . store.git; git -C store.git tag v1; git -C store.git update-ref -d refs/heads/old",
    );
    ran(&mut world, "cd store.git; git tag -d v1; git branch new; echo x > description").await;
    let (text, facts) = told(&mut world).await;
    expect![[r#"
        in store.git: HEAD is branch main, at 280d215df369
          tag v1 was removed, it was at 280d215df369
          branch new is new, at 280d215df369
    "#]]
    .assert_eq(&text);
    assert_eq!((&facts["count"], &facts["commits"]), (&json!(0), &json!({ "new": 0, "lost": 0 })));
    // A folder of that form that Git does not take for a repository.
    ran(
        &mut world,
        "mkdir -p notes.git/objects notes.git/refs; echo x > notes.git/HEAD; echo mine > notes.git/index",
    )
    .await;
    let (text, _) = told(&mut world).await;
    assert!(text.contains("made notes.git/index\n  +mine\n"), "{text}");
    assert!(text.contains("[what became of the commits in notes.git is not told: "), "{text}");
}

#[tokio::test]
async fn the_commits_of_each_repository_are_told() {
    let Some(mut world) = world() else { return };
    before(&world, "for n in 1 2 3 4; do git clone -q . n$n; done; git worktree add -q linked");
    let line = "id='-c user.name=Z -c user.email=z'; for n in 1 2 3 4; do git -C n$n $id commit -q --allow-empty -m n$n; done; \
        echo z >> linked/b.txt; git -C linked commit -qam linked";
    ran(&mut world, line).await;
    let (text, facts) = told(&mut world).await;
    for told in [
        "in .git: HEAD is branch main, at ",
        "(branch linked) by Zed <z@x.org>: linked\n    changed b.txt +1 -0\n",
        "in n1/.git: ",
        "in n2/.git: ",
        "[the commits in 2 more repositories are not told]\n",
        "changed n3/.git/refs/heads/main",
        "changed .git/worktrees/linked/index",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert!(!text.contains("in n3/.git") && !text.contains("changed n1/.git/refs"), "{text}");
    assert_eq!(facts["commits"], json!({ "new": 3, "lost": 0 }));
}

#[tokio::test]
async fn a_detached_head_and_a_switched_branch_are_told() {
    let Some(mut world) = world() else { return };
    ran(&mut world, "git checkout -q --detach; git add a.csv; git commit -qm loose").await;
    let (text, _) = told(&mut world).await;
    expect![[r#"
        in .git: HEAD is on no branch, at 793adda3e3d7; before it was branch main
          new commit 793adda3e3d7 (HEAD) by Zed <z@x.org>: loose
            made a.csv +1 -0
          index and files are as in HEAD
    "#]]
    .assert_eq(&text);
    ran(&mut world, "git checkout -q -b topic; git checkout -q main; git merge -q --no-ff -m merged topic; git checkout -q --orphan none").await;
    let (text, _) = told(&mut world).await;
    expect![[r#"
        in .git: HEAD is branch none, without a commit; before it was branch main
          new commit 1c00e98870d9 (branch main) by Zed <z@x.org>, a merge, compared with its first parent: merged
            made a.csv +1 -0
          new commit 793adda3e3d7 (branch topic) by Zed <z@x.org>: loose
            made a.csv +1 -0
          branch main was moved from 280d215df369 to 1c00e98870d9
          branch topic is new, at 793adda3e3d7
          what is not as in HEAD, with the letters of Git's short status:
            A  a.csv
            A  b.txt
    "#]].assert_eq(&text);
}

#[tokio::test]
async fn a_file_that_looks_like_a_ref_is_no_argument() {
    let Some(mut world) = world() else { return };
    world.file(".git/refs/heads/old", "--output=stolen\n");
    world.file(".git/packed-refs", "--output=stolen refs/heads/x\n");
    ran(&mut world, "rm .git/refs/heads/old .git/packed-refs; git commit -q --allow-empty -m x; echo x > .git/refs/heads/--all").await;
    let (text, _) = told(&mut world).await;
    expect![[r#"
        in .git: HEAD is branch main, at 745d13694d44
          which commits are new is not known, because not all that was there before is; the last ones:
          commit 745d13694d44 (HEAD, branch main) by Zed <z@x.org>: x
            (it changes no file)
          commit 280d215df369 by Zed <z@x.org>: start
            made b.txt +1 -0
          what is not as in HEAD, with the letters of Git's short status:
            ?? a.csv
    "#]]
    .assert_eq(&text);
    assert!(!world.at("stolen").exists());
}

#[tokio::test]
async fn the_stored_history_is_told_whatever_takes_its_place() {
    let Some(mut world) = world() else { return };
    let line = "echo worse >> b.txt; git commit -qam bad; bad=$(git rev-parse HEAD); git reset -q --hard HEAD~1; \
        echo fine > c.txt; git add c.txt; git commit -qm good; good=$(git rev-parse HEAD); git reset -q --hard $bad; \
        git replace $bad $good; mkdir -p .git/info; echo $bad > .git/info/grafts";
    ran(&mut world, line).await;
    let (text, _) = told(&mut world).await;
    expect![[r#"
        changed b.txt
          @@ -1 +1,2 @@
           keep me
          +worse
        made .git/info/grafts
          +286672c736d025a57029c3bf969277ba013f2038
        in .git: HEAD is branch main, at 286672c736d0
          new commit 187748a9f86d (refs/replace/286672c736d025a57029c3bf969277ba013f2038) by Zed <z@x.org>: good
            made c.txt +1 -0
          new commit 286672c736d0 (HEAD, branch main) by Zed <z@x.org>: bad
            changed b.txt +1 -0
          branch main was moved from 280d215df369 to 286672c736d0
          refs/replace/286672c736d025a57029c3bf969277ba013f2038 is new, at 187748a9f86d
          what is not as in HEAD, with the letters of Git's short status:
            ?? a.csv
    "#]].assert_eq(&text);
}

#[tokio::test]
async fn each_kind_of_change_in_a_commit_is_told() {
    let Some(mut world) = world() else { return };
    before(
        &world,
        "printf x > run.sh; printf '\\377\\000' > raw; git add .; git commit -qm two; git config core.bigFileThreshold 1g",
    );
    let line = "git mv b.txt moved.txt; chmod +x run.sh; printf '\\376\\000' > raw; rm a.csv; ln -s moved.txt a.csv; \
        head -c 17000000 /dev/zero | tr '\\0' '\\n' > large; echo new > tool; chmod +x tool; git add .; git commit -qm kinds";
    ran(&mut world, line).await;
    let (text, _) = told(&mut world).await;
    let git: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("in .git: ")).collect();
    expect![[r#"
        in .git: HEAD is branch main, at ff26e70830b1
          new commit ff26e70830b1 (HEAD, branch main) by Zed <z@x.org>: kinds
            renamed moved.txt, which was b.txt +0 -0
            changed a.csv +1 -1, mode 100644 -> of a link
            changed raw, lines not counted
            changed run.sh +0 -0, mode 100644 -> 100755
            made large, lines not counted
            made tool +1 -0, mode 100755
          branch main was moved from 3e3da43df6c8 to ff26e70830b1
          index and files are as in HEAD"#]]
    .assert_eq(&git.join("\n"));
}
