//! Commands in the sandbox: what they change counts once the gate has let it through.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};

use serde_json::{Value, json};
use setpoint_protocol::tool::{ApprovalNeed, ErrorKind, SandboxTier, SideEffect, ToolAnswer};

use crate::sandbox::world as sandbox_world;
use crate::support::World;

fn world() -> Option<World> {
    let mut world = sandbox_world()?;
    world.probe = false;
    Some(world)
}

/// What a file that is there before holds.
const OLD: &str = "old\n";

fn command(line: &str) -> Value {
    json!({ "command": line })
}

async fn ran(world: &World, line: &str) -> ToolAnswer {
    let answer = world.run("shell", command(line)).await;
    assert!(answer.approval.is_none(), "{line}: {:?}", answer.approval);
    answer
}

async fn asked(world: &World, line: &str) -> ApprovalNeed {
    world.need("shell", command(line)).await
}

fn read(world: &World, name: &str) -> String {
    fs::read_to_string(world.at(name)).unwrap()
}

#[tokio::test]
async fn a_command_that_changes_nothing_runs_without_a_question() {
    let Some(world) = world() else { return };
    world.file("test.sh", "echo tested; touch ../out /tmp/out; exit 3\n");
    let answer = ran(&world, "sh test.sh").await;
    assert_eq!((answer.exit_code, answer.side_effect), (Some(3), SideEffect::None));
    assert_eq!(answer.tier, Some(SandboxTier::Full));
    assert!(answer.text.contains("tested") && !answer.text.contains("`outside`"), "{}", answer.text);
    let lacks = ran(&world, "sh -c 'cat none'").await;
    assert!(lacks.text.contains("`outside`"), "{}", lacks.text);
    assert_eq!(answer.facts.unwrap().0["changed"]["count"], 0);
    assert!(!world.root().join("out").exists());
    assert!(!world.root().join("layers").exists());
}

#[tokio::test]
async fn what_is_new_is_put_in_place_without_a_question() {
    let Some(mut world) = world() else { return };
    world.file("kept", OLD);
    let line = "mkdir -p a/b; echo new > a/b/f; chmod 750 a/b/f; chmod 700 a/b; ln -s b/f a/l; touch -d @1000 a/b/f; \
                cp kept copy; ln copy twin; mkfifo pipe";
    let answer = ran(&world, line).await;
    assert!(answer.ok && answer.side_effect == SideEffect::Reversible, "{}", answer.text);
    assert_eq!((read(&world, "a/b/f"), read(&world, "twin")), ("new\n".to_owned(), OLD.to_owned()));
    let meta = fs::metadata(world.at("a/b/f")).unwrap();
    assert_eq!((meta.permissions().mode() & 0o777, meta.mtime()), (0o750, 1000));
    assert_eq!(fs::metadata(world.at("a/b")).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read_link(world.at("a/l")).unwrap().to_str(), Some("b/f"));
    assert!(!world.at("pipe").exists() && answer.text.contains("pipe"), "{}", answer.text);
    // What the task made, a later command may change.
    world.created.extend(answer.created.iter().map(Into::into));
    assert!(world.created.contains(&world.at("a/b/f")));
    ran(&world, "echo more >> a/b/f; rm a/l; echo x > a/m").await;
    assert_eq!(read(&world, "a/b/f"), "new\nmore\n");
    assert!(!world.at("a/l").exists() && world.at("a/m").exists());
}

#[tokio::test]
async fn a_changed_file_is_shown_and_put_in_place_as_shown() {
    let Some(world) = world() else { return };
    fs::set_permissions(world.file("old", OLD), fs::Permissions::from_mode(0o640)).unwrap();
    world.file("gone/x", OLD);
    // Another run would make another content.
    let line = "date +%s%N > old; rm -r gone; echo new > new";
    let need = asked(&world, line).await;
    assert_eq!((read(&world, "old"), world.at("gone/x").exists()), (OLD.to_owned(), true));
    let path = |name: &str| world.at(name).to_str().unwrap().to_owned();
    assert_eq!((&need.writes, &need.deletes), (&vec![path("new"), path("old")], &vec![path("gone")]));
    let preview = need.preview.unwrap();
    assert!(preview.contains("remove folder gone\nmake new") && preview.contains("-old\n+"), "{preview}");
    let answer = world.run_under("shell", command(line), Some(need.digest)).await;
    assert!(answer.ok && answer.side_effect == SideEffect::Irreversible, "{}", answer.text);
    assert!(preview.contains(read(&world, "old").trim()), "{preview}");
    assert_eq!(fs::metadata(world.at("old")).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(!world.at("gone").exists() && world.at("new").exists());
}

#[tokio::test]
async fn a_large_question_shows_what_is_obeyed_first() {
    let Some(world) = world() else { return };
    let need =
        asked(&world, "for n in $(seq 60); do echo x > a$n; done; mkdir m; echo steal > m/.envrc").await;
    let preview = need.preview.unwrap();
    assert!(preview.starts_with("make m/.envrc") && preview.contains("+steal"), "{preview}");
}

#[tokio::test]
async fn what_was_allowed_does_not_cover_another_state() {
    let Some(world) = world() else { return };
    world.file("old", OLD);
    let line = "echo new > old";
    let need = asked(&world, line).await;
    world.file("old", "somebody's\n");
    let again = world.run_under("shell", command(line), Some(need.digest.clone())).await;
    let second = again.approval.unwrap();
    assert!(second.digest != need.digest && read(&world, "old") == "somebody's\n");
    // Another command with the same grant.
    let other = world.run_under("shell", command("echo other > old"), Some(second.digest)).await;
    assert!(other.approval.is_some() && read(&world, "old") == "somebody's\n");
}

#[tokio::test]
async fn an_approval_for_the_task_covers_the_same_command_and_the_same_paths() {
    let Some(world) = world().map(World::keeping) else { return };
    let line = "echo run >> .count; cat .count > out";
    let need = asked(&world, line).await;
    let scope = need.scope.unwrap();
    // What asks for nothing by itself does not count.
    let first = world.run_under("shell", command(line), Some(scope.clone())).await;
    assert!(first.ok, "{} {:?}", first.text, first.approval);
    let second = world.need("shell", command(line)).await;
    assert!(second.digest != need.digest && second.scope.as_ref() == Some(&scope));
    assert!(world.run_under("shell", command(line), Some(scope.clone())).await.ok);
    assert_eq!(read(&world, "out"), "run\nrun\n");
    // Another path, another folder, another command, or a file to be executed that has changed.
    world.file("b/x", "");
    world.file("do.sh", "echo run >> .count");
    let script = world.need("shell", command("sh do.sh")).await.scope.unwrap();
    assert!(world.run_under("shell", command("sh do.sh"), Some(script.clone())).await.ok);
    world.file("do.sh", "echo other >> .count");
    for (call, grant) in [
        (command("echo run >> .count; cat .count > out; echo x > .other"), &scope),
        (json!({ "command": line, "cwd": "b" }), &scope),
        (command("rm .count"), &scope),
        (command("sh do.sh"), &script),
    ] {
        let again = world.run_under("shell", call.clone(), Some(grant.clone())).await;
        assert!(again.approval.is_some(), "{call}: {}", again.text);
    }
    assert_eq!(read(&world, ".count"), "run\nrun\nrun\n");
}

#[tokio::test]
async fn only_paths_give_an_approval_for_the_task_a_scope() {
    let Some(world) = world() else { return };
    for (tool, call) in [
        ("shell", command("ln -s /etc/passwd link; echo x > .y")),
        ("shell", json!({ "command": "echo x > y", "outside": true })),
        ("write_file", json!({ "path": ".envrc", "content": "x" })),
    ] {
        assert_eq!(world.need(tool, call.clone()).await.scope, None, "{call}");
    }
}

#[tokio::test]
async fn what_other_programs_obey_and_what_leads_out_is_asked_about() {
    let Some(world) = world() else { return };
    world.file("src/kept", OLD);
    for (line, word) in [
        ("echo x > .envrc", ".envrc"),
        ("git init -q .", ".git"),
        ("mkdir -p sub/hooks && echo x > sub/hooks/pre-commit", "pre-commit"),
        ("ln -s $(echo L2V0Yw== | base64 -d) link", "leads out"),
        ("ln -s $(echo Li4vLi4veA== | base64 -d) src/link", "leads out"),
        ("ln -s .git hidden", ".git"),
        ("ln -s ../.git/hooks src/hooks", ".git"),
        ("echo x > src/CACHEDIR.TAG", "cache"),
        ("chmod 600 src/kept", "kept"),
        ("chmod 700 src", "src"),
        ("mv src other", "src"),
        ("rm src/kept && mkdir src/kept", "kept"),
    ] {
        let need = asked(&world, line).await;
        assert!(need.reason.contains(word), "{line}: {}", need.reason);
    }
    let names: Vec<_> = fs::read_dir(world.at("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["src"]);
    assert_eq!(read(&world, "src/kept"), OLD);
}

#[tokio::test]
async fn the_output_of_a_build_changes_without_a_question() {
    let Some(world) = world() else { return };
    world.file("target/CACHEDIR.TAG", "");
    world.file("target/out", OLD);
    fs::hard_link(world.at("target/out"), world.at("target/same")).unwrap();
    let line = "echo new > target/out; echo more > target/more; rm target/same; mkdir -p __pycache__ && echo x > __pycache__/a.pyc";
    let answer = ran(&world, line).await;
    assert_eq!((read(&world, "target/out"), read(&world, "target/more")), ("new\n".into(), "more\n".into()));
    assert!(!world.at("target/same").exists() && !world.at("__pycache__").exists());
    assert_eq!(answer.facts.unwrap().0["changed"]["count"], 0);
    // A new folder with its mark is such an output too.
    ran(&world, "mkdir build && touch build/CACHEDIR.TAG build/x").await;
    ran(&world, "echo more > build/x").await;
    assert!(asked(&world, "rm -r target").await.deletes.len() == 1);
}

#[tokio::test]
async fn the_workspace_is_in_sight_and_is_the_tasks_own() {
    let Some(world) = world() else { return };
    fs::write(world.in_space("notes"), OLD).unwrap();
    let line = format!(
        "cat {0}/notes; echo new > {0}/notes; ls /usr/lib | head -1",
        world.root().join("space").display()
    );
    let answer = ran(&world, &line).await;
    assert!(answer.text.contains("old"), "{}", answer.text);
    assert_eq!(fs::read_to_string(world.in_space("notes")).unwrap(), "new\n");
}

#[tokio::test]
async fn the_workspace_is_made_for_the_first_command() {
    let Some(world) = world() else { return };
    fs::remove_dir(world.root().join("space")).unwrap();
    ran(&world, &format!("echo kept > {}", world.in_space("notes").display())).await;
    let answer = ran(&world, &format!("sh -c 'cat {}'", world.in_space("notes").display())).await;
    assert!(answer.text.contains("kept"), "{}", answer.text);
}

#[tokio::test]
async fn a_scratch_file_and_a_division_are_no_other_place() {
    let Some(world) = world() else { return };
    world.file("notes", "one jar\n");
    let there = tempfile::Builder::new().tempfile_in("/tmp").unwrap();
    let free = there.path().with_extension("free");
    for line in [
        format!("echo x > {0} && cat {0}", free.display()),
        "python3 - <<'E'\nprint(7 // 2, 7 / 2)\nE".to_owned(),
        "sh -c 'echo $(( 7 / 2 ))'".to_owned(),
        "sed 's/^one /two /' notes > changed".to_owned(),
        "sed 's/.*on..//' notes > cut".to_owned(),
    ] {
        let answer = ran(&world, &line).await;
        assert!(answer.ok, "{line}: {}", answer.text);
        assert!(!free.exists());
    }
    assert_eq!(read(&world, "changed"), "two jar\n");
    let refused = ran(&world, "echo x > /no-such-name").await;
    assert!(!refused.ok && refused.text.contains("with `outside`"), "{}", refused.text);
    // What this machine's own /tmp holds, and the root folder, are other places.
    for line in [format!("sh -c 'cat {}'", there.path().display()), "sh -c ls; ls / > list".to_owned()] {
        assert!(asked(&world, &line).await.preview.is_none(), "{line}");
    }
}

#[tokio::test]
async fn a_command_about_what_the_sandbox_does_not_have_asks_first() {
    let Some(world) = world() else { return };
    fs::write(world.root().join("home/notes"), OLD).unwrap();
    let beside = world.root().join("home/notes");
    for line in ["curl http://127.0.0.1:1/ > page", &format!("python3 -c 'open(\"{}\")'", beside.display())] {
        let need = asked(&world, line).await;
        assert!(need.preview.is_none(), "{line}");
    }
    let outside = json!({"command": "echo $HOME > place", "outside": true});
    let need = world.need("shell", outside.clone()).await;
    assert!(need.preview.is_none() && !world.at("place").exists());
    assert!(world.run_under("shell", outside, Some(need.digest)).await.ok && world.at("place").exists());
}

#[tokio::test]
async fn texts_and_patterns_are_no_reason_to_leave_the_sandbox() {
    let Some(world) = world().map(World::keeping) else { return };
    world.file("d.csv", "01-02\n");
    world.file("a.csv", "x\n");
    for line in [
        "sed -i -E 's/(..)-(..)/\\2-\\1/' d.csv",
        "sed -E 's/^(.*)\\/(..)$/\\1/' d.csv > o1",
        "grep -E '^..,' a.csv > o2; true",
        "awk '$1 ~ /../' a.csv > o3",
        "python3 -c \"import re; print(re.sub(r'(..)-(..)', 'x', '01-02'))\"",
        "perl -pi -e 's/(..)-(..)/$2-$1/' d.csv",
        "tr '/' '_' < a.csv > o4",
        "sed -i 's|/var/log|/srv/log|' d.csv",
        "sed -i 's#http://localhost#https://example.org#' d.csv",
        "printf '../x' > o5",
        "echo '[x](https://example.org/y)' >> README.md",
        "cat > nginx.conf <<'E'\nroot /var/www;\nproxy_pass http://localhost:3000;\nE",
        "cat > s.sh <<'E'\ncurl -fsS https://example.org/health\nE",
        "python3 - <<'E'\nfrom urllib.parse import urlparse\nprint(urlparse('https://example.org/a').netloc)\nE",
        "mkdir -p b && cd b && cp ../a.csv .",
        "mkdir -p c && cd c && cp ../a.csv . && cat ../a.csv > x",
    ] {
        let answer = ran(&world, line).await;
        assert!(answer.ok, "{line}: {}", answer.text);
    }
    assert_eq!((read(&world, "d.csv"), read(&world, "b/a.csv")), ("01-02\n".to_owned(), "x\n".to_owned()));
}

#[tokio::test]
async fn a_look_at_what_the_sandbox_does_not_show_asks_first() {
    let Some(world) = world().map(World::keeping) else { return };
    let beside = world.root().join("home");
    fs::write(beside.join("notes"), OLD).unwrap();
    let notes = beside.join("notes").display().to_string();
    for (line, word) in [
        (format!("test -e {notes} || echo gone > o"), &*notes),
        (format!("grep -r x {notes} > o"), &*notes),
        (format!("python3 -c \"import os; os.path.exists('{notes}')\""), &*notes),
        (format!("sed '1r {notes}' a > o"), &*notes),
        (format!("P={notes}; cat $P > o"), &*notes),
        ("ls .. > o".to_owned(), ".."),
        ("python3 -c \"import os; print(os.listdir('..'))\"".to_owned(), ".."),
        ("sh -c 'ls ..'".to_owned(), ".."),
        ("mkdir -p b && cd b && ls ../.. > o".to_owned(), "../.."),
        ("mkdir -p b && cd b && cd .. && ls .. > o".to_owned(), ".."),
        ("mkdir -p b && cd b && cd \"..\" && cp ../home/notes .".to_owned(), ".."),
        ("cd b; cp ../home/notes .".to_owned(), "../home/notes"),
        ("(mkdir b && cd b) && cp ../home/notes .".to_owned(), "../home/notes"),
    ] {
        let need = asked(&world, &line).await;
        let why = format!("`{word}` names a place that the sandbox does not show");
        assert!(need.preview.is_none() && need.reason.contains(&why), "{line}: {}", need.reason);
    }
    for (line, why) in [
        ("curl https://example.org > o", "`curl` needs a network"),
        ("python3 check.py https://example.org", "`https://example.org` names a host"),
        (
            "python3 -c \"from urllib.request import urlopen; urlopen('https://example.org/x')\"",
            "`https://example.org/x`",
        ),
        ("git push && echo x > o", "`git push` needs a network"),
    ] {
        let need = asked(&world, line).await;
        assert!(need.preview.is_none() && need.reason.contains(why), "{line}: {}", need.reason);
    }
}

#[tokio::test]
async fn a_program_that_misses_the_network_is_told_so() {
    let Some(world) = world() else { return };
    world.file("get.py", "from urllib.request import urlopen\nurlopen('https://example.org')\n");
    world.file("get.js", "fetch('https://example.org').then(r => r.text())\n");
    for line in ["python3 get.py", "node get.js"] {
        let answer = ran(&world, line).await;
        assert!(!answer.ok && answer.text.contains("with `outside`"), "{line}: {}", answer.text);
    }
}

#[tokio::test]
async fn hidden_output_of_a_build_needs_no_question() {
    let Some(mut world) = world().map(World::keeping) else { return };
    // The folder of outputs is made, changed by another command of the task, and then is a person's own.
    let first = "mkdir -p target/debug/.fingerprint/x && touch target/CACHEDIR.TAG target/.rustc_info.json && \
                 echo 1 > target/debug/.fingerprint/x/lib";
    let answer = ran(&world, first).await;
    world.created.extend(answer.created.iter().map(Into::into));
    let again = "echo 2 > target/debug/.fingerprint/x/lib; echo 2 > target/.rustc_info.json; \
                 mkdir target/debug/.fingerprint/y; rm -r target/debug/.fingerprint/x";
    ran(&world, again).await;
    world.created.clear();
    ran(&world, "echo 3 > target/.rustc_info.json; mkdir target/debug/.fingerprint/z").await;
    ran(
        &world,
        "mkdir dist .nyc_output; echo x > dist/.buildinfo; echo x > .nyc_output/a.json; echo x > .coverage",
    )
    .await;
    for line in [
        "mkdir -p other/.fingerprint",
        "echo x > .rustc_info.json",
        "echo x > target/.envrc",
        "mkdir -p target/.cargo && echo x > target/.cargo/config.toml",
        "mkdir -p v && touch v/CACHEDIR.TAG && echo x > v/.envrc",
        "mkdir -p v/bin && touch v/CACHEDIR.TAG v/pyvenv.cfg && echo x > v/bin/activate",
        "mkdir -p .next && echo x > .next/x",
    ] {
        let need = asked(&world, line).await;
        assert!(need.preview.is_some(), "{line}: {}", need.reason);
    }
    // A mark in a folder that was there before is asked about, and does not open it.
    world.file("src/x", OLD);
    assert!(asked(&world, "touch src/CACHEDIR.TAG; mkdir src/.fingerprint").await.preview.is_some());
    // What a hook names is no longer ordinary.
    world.file(".husky/pre-commit", "coverage report --data-file=.coverage\n");
    assert!(asked(&world, "echo y > .coverage").await.preview.is_some());
}

#[tokio::test]
async fn a_file_becomes_a_folder_without_a_question() {
    let Some(world) = world().map(World::keeping) else { return };
    world.file("conf", OLD);
    let answer = ran(&world, "mv conf t; mkdir conf; mv t conf/main").await;
    assert!(answer.ok && read(&world, "conf/main") == OLD, "{}", answer.text);
    world.file("plain", OLD);
    let answer = ran(&world, "rm plain; mkdir -p plain/a/b; echo x > plain/a/b/c").await;
    assert!(answer.ok && read(&world, "plain/a/b/c") == "x\n", "{}", answer.text);
}

#[tokio::test]
async fn links_are_not_followed_when_changes_are_put_in_place() {
    let Some(world) = world() else { return };
    let outside = world.root().join("home");
    fs::write(outside.join("victim"), OLD).unwrap();
    symlink(&outside, world.at("out")).unwrap();
    symlink(outside.join("victim"), world.at("file")).unwrap();
    for line in ["echo x > out/new", "echo x > file", "echo x > out/victim", "rm -f out/victim; true"] {
        let answer = world.run("shell", command(line)).await;
        let need = answer.approval.map(|need| (need.writes, need.deletes));
        assert!(need.is_none() || !answer.ok, "{line}");
        assert_eq!(fs::read_to_string(outside.join("victim")).unwrap(), OLD, "{line}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "{line}");
    }
    assert!(fs::symlink_metadata(world.at("file")).unwrap().file_type().is_symlink());
    assert!(!fs::symlink_metadata(world.at("out")).unwrap().file_type().is_fifo());
}

#[tokio::test]
async fn a_question_about_very_many_paths_names_none() {
    let Some(world) = world() else { return };
    world.file("old", OLD);
    let need = asked(&world, "for n in $(seq 1 600); do echo $n > f$n; done; echo new > old").await;
    assert!(
        need.writes.is_empty() && need.preview.as_ref().unwrap().contains("[561 more changes]"),
        "{need:?}"
    );
    let answer = world
        .run_under(
            "shell",
            command("for n in $(seq 1 600); do echo $n > f$n; done; echo new > old"),
            Some(need.digest),
        )
        .await;
    assert!(answer.ok && answer.error_kind != Some(ErrorKind::Exit) && read(&world, "f600") == "600\n");
}

#[tokio::test]
async fn what_replaces_something_else_is_not_new() {
    let Some(world) = world().map(World::keeping) else { return };
    world.file("test_a.py", OLD);
    let answer = ran(&world, "echo x > b; rm test_a.py; ln -s b test_a.py").await;
    assert_eq!(answer.created, [world.at("b").to_str().unwrap()]);
    let changed = &answer.facts.unwrap().0["changed"];
    assert_eq!((&changed["count"], &changed["made"]), (&json!(2), &json!([world.at("b").to_str().unwrap()])));
}

#[tokio::test]
async fn what_a_command_changed_is_told_to_the_judge() {
    let Some(mut world) = world().map(World::keeping) else { return };
    world.file("conf", "a\r\nb\n");
    world.file("gone", "was\n");
    std::os::unix::fs::symlink("conf", world.at("link")).unwrap();
    // Another kind of thing in the place of a file, and of a link.
    world.file("notes", "of mine\n");
    std::os::unix::fs::symlink("conf", world.at("other")).unwrap();
    ran(&world, "rm notes; mkdir notes; rm other; echo new > other").await;
    let answer = ran(
        &world,
        "printf 'a\\nb\\n' > conf; rm gone link; echo x > made; printf '\\377' > raw; mkdir folder",
    )
    .await;
    assert!(!answer.text.contains("@@"), "{}", answer.text);
    world.probe = true;
    let told = world.run("task_changes", json!({})).await;
    expect_test::expect![[r#"
        removed gone
          -was
        removed link (a link to conf)
        removed notes (a folder now, a file before), mode 0644 -> 0755
          -of mine
        changed conf
          @@ -1,2 +1,2 @@
          -a\r
          +a
           b
        changed other (a file now, a link to conf before)
          @@ -0,0 +1 @@
          +new
        made folder (a folder)
        made made
          +x
        made raw
          [no preview: no UTF-8 text; 0 bytes become 1]
    "#]]
    .assert_eq(&told.text);
}

#[tokio::test]
async fn taking_the_mark_of_a_cache_away_asks() {
    let Some(mut world) = world().map(World::keeping) else { return };
    let made = "mkdir lib; printf 'Signature: 8a477f597d28d172789f06886806bc55\\n' > lib/CACHEDIR.TAG";
    for (last, asks) in [("rm lib/CACHEDIR.TAG", true), ("rm -r lib", false)] {
        let answer = ran(&world, made).await;
        world.created.extend(answer.created.iter().map(std::path::PathBuf::from));
        if asks {
            ran(&world, "echo hidden > lib/evil.py").await;
        }
        let answer = world.run("shell", json!({ "command": last })).await;
        assert_eq!(answer.approval.is_some(), asks, "{last}: {}", answer.text);
        std::fs::remove_dir_all(world.at("lib")).unwrap_or_default();
    }
}
