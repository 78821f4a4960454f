//! Commands that need consent, what a question shows of them, and what an approval covers.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use setpoint_protocol::tool::{Effect, ErrorKind, SideEffect};

use crate::shell::run_anyhow;
use crate::support::{World, output};

#[tokio::test]
async fn only_provably_read_only_commands_run_unasked() {
    let world = World::new();
    world.file("old", "x");
    assert_eq!(world.read("shell", json!({"command": "ls | wc -l"})).effect, Effect::ReadOnly);
    for command in [
        "rm old",
        "echo x > new",
        "sed -i s/a/b/ old",
        "python3 -c 'print(1)'",
        "ls $(rm old)",
        "unknown_program",
    ] {
        assert_eq!(world.read("shell", json!({"command": command})).effect, Effect::Unsafe, "{command}");
        let need = world.need("shell", json!({"command": command})).await;
        assert_eq!(need.command, command);
    }
    assert_eq!(std::fs::read(world.at("old")).unwrap(), b"x");
    assert!(!world.at("new").exists());
}

#[tokio::test]
async fn removals_and_creations_list_their_paths() {
    let world = World::new();
    let old = world.file("old one", "x");
    let need = world.need("shell", json!({"command": "rm 'old one'"})).await;
    assert_eq!((need.writes, need.deletes), (vec![], vec![old.to_str().unwrap().to_owned()]));
    let answer = run_anyhow(&world, "rm 'old one'").await;
    assert!(answer.ok && !old.exists(), "{}", answer.text);
    assert_eq!(answer.side_effect, SideEffect::Irreversible);

    let answer = run_anyhow(&world, "mkdir a").await;
    assert_eq!(answer.created, [world.at("a").to_str().unwrap()]);
    assert_eq!(answer.side_effect, SideEffect::Reversible);
    assert!(world.at("a").is_dir());
    // For any other command, only the command itself can be allowed.
    let need = world.need("shell", json!({"command": "cp a b; rm a"})).await;
    assert!(need.writes.is_empty() && need.deletes.is_empty(), "{need:?}");
}

#[tokio::test]
async fn a_removal_runs_in_the_checked_directory() {
    let world = World::new();
    world.file("build/x", "build");
    world.file("other/x", "other");
    let input = json!({"command": "rm build/x"});
    let need = world.need("shell", input.clone()).await;
    std::fs::rename(world.at("build"), world.at("moved")).unwrap();
    std::os::unix::fs::symlink("other", world.at("build")).unwrap();
    let answer = world.run_under("shell", input.clone(), Some(need.digest)).await;
    assert!(!answer.ok, "{}", answer.text);
    assert!(world.at("other/x").exists());
    // On the second call, the need names the link's target.
    let need = world.need("shell", input).await;
    assert_eq!(need.deletes, [world.at("other/x").to_str().unwrap()]);
}

#[tokio::test]
async fn a_command_without_a_held_folder_names_no_path() {
    let world = World::new();
    for name in ["a/x", "b/x", "c"] {
        world.file(name, "");
    }
    for command in ["rm a/x b/x", "rm -r a/..", "rm none/x", "rm *", "mkdir -p a/b/c"] {
        let need = world.need("shell", json!({ "command": command })).await;
        assert!(need.writes.is_empty() && need.deletes.is_empty(), "{command}: {need:?}");
    }
}

#[tokio::test]
async fn paths_a_command_reads_are_resolved_like_the_kernel() {
    let world = World::new();
    world.file("d/plain", "plain");
    for (target, link) in [("/proc/self/environ", "e"), ("/proc", "p"), ("/dev/zero", "z"), ("/", "r")] {
        std::os::unix::fs::symlink(target, world.at(link)).unwrap();
    }
    for command in [
        "cat /proc/self/environ",
        "cat e",
        "cat p/self/environ",
        "cat d/../p/self/environ",
        "head -c 5 z",
        "cat r/proc/self/environ",
        "cat *",
        "grep -r x r",
        "grep -R x .",
        "grep -r x /",
        "diff -r d p",
        "cd p && cat self/environ",
        "cd p/self && ls",
        "wc -c p/self/*",
        "git -C p/self status",
    ] {
        let need = world.need("shell", json!({ "command": command })).await;
        assert!(!need.reason.is_empty(), "{command}");
    }
    for command in
        ["cat d/plain", "cat d/*", "cat none", "grep -r plain d", "find . -name plain", "cat /dev/null"]
    {
        let answer = world.run("shell", json!({ "command": command })).await;
        assert_eq!(answer.approval, None, "{command}");
    }
    let mut world = world;
    world.probe = true;
    let probe = world.run("shell", json!({"command": "cat e"})).await;
    assert_eq!(probe.error_kind, Some(ErrorKind::Blocked), "{}", probe.text);
}

#[tokio::test]
async fn a_repository_that_could_run_programs_asks() {
    let world = World::new();
    let git = |command: &str| output(&world.at("."), command);
    git("git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one");
    for command in ["git log --oneline -5", "git status -s", "git diff", "cd . && git show HEAD"] {
        let answer = world.run("shell", json!({ "command": command })).await;
        assert!(answer.ok, "{command}: {}", answer.text);
    }
    for setting in ["core.fsmonitor ./x", "filter.x.clean ./x", "diff.x.textconv ./x", "include.path ../x"] {
        git(&format!("git config {setting}"));
        let need = world.need("shell", json!({"command": "git status"})).await;
        let name = setting.split(' ').next().unwrap();
        assert!(need.reason.contains(name), "{}", need.reason);
        git(&format!("git config --unset {name}"));
    }
    assert!(world.run("shell", json!({"command": "git status"})).await.ok);
    git(
        "git init -q sub && git -C sub -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git add sub 2>&1",
    );
    let need = world.need("shell", json!({"command": "git status"})).await;
    assert!(need.reason.contains("nested"), "{}", need.reason);
    for command in ["git log", "git diff --cached --stat"] {
        assert!(world.run("shell", json!({ "command": command })).await.ok, "{command}");
    }
}

#[tokio::test]
async fn an_option_takes_its_value_from_the_next_word() {
    let world = World::new();
    world.file("a", "needle\n");
    world.file("b", "two\nlines\n");
    for command in [
        "ls --sort size",
        "ls --time-style iso --format single-column",
        "grep --max-count 1 needle a",
        "head --lines 1 b",
        "sort --key 1 b",
        "ls --block-size 1 -s b",
    ] {
        let facts = world.facts("shell", json!({ "command": command })).await;
        assert_eq!(facts["stdout"], output(&world.at("."), command), "{command}");
    }
}

#[tokio::test]
async fn the_house_is_closed_to_approved_commands() {
    let mut world = World::new();
    let data = world.root().join("home/.local/share/setpoint");
    std::fs::create_dir_all(data.join("journal")).unwrap();
    std::fs::write(data.join("journal/head"), "secret").unwrap();
    std::os::unix::fs::symlink(&data, world.at("link")).unwrap();
    let house = setpoint_tools::House::new(vec![data.clone()], vec![], data.join("workspaces"));
    world.registry = setpoint_tools::Registry::built_in(&crate::support::host()).with_house(house);
    let full = format!("cat {}", data.join("journal/head").display());
    for command in [
        full.as_str(),
        "cat ~/.local/share/setpoint/journal/head",
        "cat $HOME/.local/share/setpoint/journal/head > x",
        "cat link/journal/head",
        "cp link/journal/head .",
        "cat ~/.local/share/setpoint/journal/*",
        "ls ~/.local/share/setpoint",
        "grep -r secret ~",
        "find ~ -name head",
        "echo x > ~/.local/share/setpoint/journal/head",
        "rm -rf ~/.local/share/setpoint",
        "rm -rf ~/.local",
        "rm -r link/journal",
        "mv ~/.local/share /tmp",
        "cd ~/.local/share && python3 -c \"print(open('setpoint/journal/head').read())\"",
        "python3 -c \"print(open('../home/.local/share/setpoint/journal/head').read())\"",
        "bash -c 'cat ~/.local/share/setpoint/journal/head'",
        "tar cf x.tar ~/.local/share",
        "ln link/journal/head hard",
        "git -C link status",
        "cd ~/.local/share/setpoint && ls",
        "cd link/journal && head -n 1 head",
    ] {
        let answer = world.run("shell", json!({ "command": command })).await;
        let refused = (answer.error_kind, answer.approval.is_none());
        assert_eq!(refused, (Some(ErrorKind::Permission), true), "{command}: {}", answer.text);
        assert!(answer.text.contains("Setpoint itself"), "{}", answer.text);
    }
    assert_eq!(std::fs::read_to_string(data.join("journal/head")).unwrap(), "secret");
    // Folders beside it are not affected.
    let answer = world.run("shell", json!({"command": "ls ~/.local/share"})).await;
    assert!(answer.ok, "{}", answer.text);
}

#[tokio::test]
async fn an_approval_covers_the_exact_command_and_files() {
    let world = World::new();
    world.file("old", "one");
    let input = json!({"command": "rm old"});
    let need = world.need("shell", input.clone()).await;
    let other = world.run_under("shell", json!({"command": "rm -f old"}), Some(need.digest.clone())).await;
    assert_eq!(other.error_kind, Some(ErrorKind::ApprovalRequired));
    let elsewhere = json!({"command": "rm old", "cwd": "$PROJECT/.."});
    let elsewhere = world.run_under("shell", elsewhere, Some(need.digest.clone())).await;
    assert_eq!(elsewhere.error_kind, Some(ErrorKind::ApprovalRequired));
    world.file("old", "two");
    let changed = world.run_under("shell", input.clone(), Some(need.digest.clone())).await;
    assert_eq!(changed.error_kind, Some(ErrorKind::ApprovalRequired), "{}", changed.text);
    assert_ne!(changed.approval.unwrap().digest, need.digest);
    world.file("old", "one");
    assert!(world.run_under("shell", input, Some(need.digest)).await.ok);
    assert!(!world.at("old").exists());
}

#[tokio::test]
async fn executed_files_are_listed_with_hashes() {
    let world = World::new();
    let script = world.file("job.sh", "echo from the job\n");
    let input = json!({"command": "sh job.sh"});
    let need = world.need("shell", input.clone()).await;
    let answer = world.run_under("shell", input.clone(), Some(need.digest.clone())).await;
    assert_eq!(answer.text, "exit code zero\nfrom the job\n");
    let [executed] = answer.executed_files.as_slice() else { panic!("{:?}", answer.executed_files) };
    assert_eq!(executed.path, script.to_str().unwrap());
    assert_eq!(executed.hash, blake3::hash(b"echo from the job\n").to_hex().to_string());
    world.file("job.sh", "echo something else\n");
    let changed = world.run_under("shell", input, Some(need.digest)).await;
    assert_eq!(changed.error_kind, Some(ErrorKind::ApprovalRequired));
}

/// A script that a named script runs is part of what the person allows.
#[tokio::test]
async fn scripts_within_scripts_are_listed_too() {
    let world = World::new();
    let outer = world.file("outer.sh", "set -e\n# sh none.sh\nsh sub/inner.sh | cat\n");
    let inner =
        world.file("sub/inner.sh", "if true; then . ./sub/last; fi\nsh none.sh 2>/dev/null || true\n");
    let last = world.file("sub/last", "echo done\n");
    world.file("sub/other.sh", "");
    let input = json!({"command": "bash outer.sh"});
    let need = world.need("shell", input.clone()).await;
    let answer = world.run_under("shell", input.clone(), Some(need.digest.clone())).await;
    assert_eq!(answer.text, "exit code zero\ndone\n");
    let executed: Vec<_> = answer.executed_files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(executed, [outer, inner, last].map(|path| path.to_str().unwrap().to_owned()));
    world.file("sub/last", "echo changed\n");
    let changed = world.run_under("shell", input, Some(need.digest)).await;
    assert_eq!(changed.error_kind, Some(ErrorKind::ApprovalRequired));
}

/// What is loaded, included or matched is carried out too; what a command examines, or only reads, is not.
#[tokio::test]
async fn files_that_a_command_loads_are_listed() {
    let world = World::new();
    for (name, text) in [
        ("parts/a.sh", "true\n"),
        ("parts/b.sh", "sh data.txt\n"),
        ("data.txt", "true\n"),
        ("rule.txt", "true\n"),
        ("all.sh", "for f in parts/*.sh; do sh \"$f\" || exit 1; done\n"),
        ("ev.sh", "grep -c . data.txt\neval \"$(cat rule.txt)\"\n"),
        (
            "Makefile",
            "include other.mk\n\nrun:\n\t@sh ev.sh\n\nlook:\n\tsh all.sh | grep x\n\tsh parts/a.sh > out\n",
        ),
        ("other.mk", "check:\n\t-sh parts/a.sh >/dev/null 2>&1\n"),
        ("run.py", "import json\njson.load(open(\"data.txt\"))\nexec(open('rule.txt').read())\n"),
        ("ast.py", "import ast\nast.literal_eval(open(\"data.txt\").read())\n"),
        ("pkg/__main__.py", "print(1)\n"),
    ] {
        world.file(name, text);
    }
    for (command, expected) in [
        ("sh all.sh", "all.sh parts/a.sh parts/b.sh data.txt"),
        ("sh ev.sh", "ev.sh rule.txt"),
        ("make check", "Makefile other.mk parts/a.sh ev.sh rule.txt"),
        ("python3 run.py", "run.py data.txt rule.txt"),
        ("python3 ast.py", "ast.py"),
        ("python3 -m pkg", "pkg/__main__.py"),
        ("grep -c -f rule.txt data.txt", "rule.txt"),
    ] {
        let need = world.need("shell", json!({"command": command})).await;
        let answer = world.run_under("shell", json!({"command": command}), Some(need.digest)).await;
        let root = format!("{}/", world.at("").to_str().unwrap().trim_end_matches('/'));
        let executed: Vec<_> =
            answer.executed_files.iter().filter_map(|file| file.path.strip_prefix(&root)).collect();
        assert_eq!(executed.join(" "), expected, "{command}");
    }
}

#[tokio::test]
async fn files_that_a_script_names_are_listed_with_it() {
    let world = World::new();
    world.file("a.csv", "v\n1\n");
    world.file("sub/b.csv", "v\n1\n");
    world.file("sub/total.sh", "# c.csv\nawk -F, '{ s += $1 } END { print s }' a.csv \"b.csv\" >sum.txt\n");
    let input = json!({"command": "sh sub/total.sh"});
    let need = world.need("shell", input.clone()).await;
    let answer = world.run_under("shell", input, Some(need.digest)).await;
    let [executed] = answer.executed_files.as_slice() else { panic!("{:?}", answer.executed_files) };
    let names = ["a.csv", "sub/b.csv"].map(|name| world.at(name).to_str().unwrap().to_owned());
    assert_eq!(executed.names, names);
}

#[tokio::test]
async fn a_program_planted_in_the_project_does_not_run_unasked() {
    let mut world = World::new();
    let planted = world.file("bin/wc", "#!/bin/sh\necho planted\n");
    std::fs::set_permissions(&planted, Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", world.at("bin").display());
    let host = setpoint_tools::Host::new("linux", [("PATH".into(), path.into())]);
    world.registry = setpoint_tools::Registry::built_in(&host);
    let answer = world.run("shell", json!({"command": "printf abc | wc -c"})).await;
    assert_eq!(answer.text.trim(), "exit code zero\n3");
}

/// An entry of `PATH` that is relative, or a link into the project, comes before the folder of the real Git.
#[tokio::test]
async fn a_git_planted_in_the_project_is_not_started_by_setpoint_itself() {
    let mut world = World::new();
    output(&world.at("."), "git init -q .");
    let marker = world.root().join("ran");
    let planted = world.file("bin/git", format!("#!/bin/sh\necho x >> {}\n", marker.display()));
    std::fs::set_permissions(&planted, Permissions::from_mode(0o755)).unwrap();
    // As many steps up as any folder has above it: the same place from the folders of the test and of the call.
    let relative = format!("{}{}", "../".repeat(40), world.at("bin").strip_prefix("/").unwrap().display());
    let link = world.root().join("home/bin");
    std::os::unix::fs::symlink(world.at("bin"), &link).unwrap();
    for first in [relative, link.display().to_string(), world.at("bin").display().to_string()] {
        let path = format!("{first}:/usr/bin:/bin");
        let host = setpoint_tools::Host::new("linux", [("PATH".into(), path.into())]);
        world.registry = setpoint_tools::Registry::built_in(&host);
        world.run("shell", json!({"command": "git status"})).await;
        let report = world.run("git_report", json!({"path": "."})).await;
        assert!(report.ok && !marker.exists(), "{first}: {}", report.text);
    }
}

/// A person allowed the file, not each command that would run it from then on.
#[tokio::test]
async fn a_program_that_a_task_wrote_does_not_run_unasked() {
    let mut world = World::new().keeping();
    let (bin, kept) = (world.root().join("outside/bin"), world.root().join("kept"));
    std::fs::create_dir_all(&bin).unwrap();
    for name in ["ls", "git"] {
        std::fs::copy("/bin/true", bin.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(bin.join("ls"), bin.join("tree")).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let host = setpoint_tools::Host::new("linux", [("PATH".into(), path.into())]);
    world.registry = setpoint_tools::Registry::built_in(&host).keeping_in(kept);
    assert!(world.run("shell", json!({"command": "ls"})).await.ok);
    for name in ["ls", "git"] {
        let input =
            json!({"path": bin.join(name), "content": "#!/bin/sh\necho planted\n", "overwrite": true});
        assert!(world.run_allowed("write_file", input).await.ok);
    }
    for task in ["a-task-00000000000000a1", "another-00000000000000a2"] {
        world.task = task.parse().unwrap();
        for command in ["ls", "cat x | sort; tree", "git log"] {
            let need = world.need("shell", json!({"command": command})).await;
            assert!(need.reason.contains("was written by a task"), "{command}: {}", need.reason);
        }
        assert!(world.run("shell", json!({"command": "wc -c /dev/null"})).await.ok);
        // The system's Git is found after the script.
        let report = world.run("git_report", json!({"path": "."})).await;
        assert_eq!(report.error_kind, Some(ErrorKind::InvalidData), "{}", report.text);
    }
}

/// What a script runs is not known, and may be of the working directory.
#[tokio::test]
async fn a_script_in_the_place_of_a_program_does_not_run_unasked() {
    let mut world = World::new();
    let bin = world.root().join("outside/bin");
    std::fs::create_dir_all(&bin).unwrap();
    world.file("tool.sh", "#!/bin/sh\necho planted\n");
    for name in ["ls", "git", "rg"] {
        std::fs::write(bin.join(name), format!("exec {} \"$@\"\n", world.at("tool.sh").display())).unwrap();
        std::fs::set_permissions(bin.join(name), Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let host = setpoint_tools::Host::new("linux", [("PATH".into(), path.into())]);
    world.registry = setpoint_tools::Registry::built_in(&host);
    for command in ["ls", "rg x | sort", "git status"] {
        let need = world.need("shell", json!({"command": command})).await;
        assert!(need.reason.contains("is a script"), "{command}: {}", need.reason);
    }
    let report = world.run("git_report", json!({"path": "."})).await;
    assert_eq!(report.error_kind, Some(ErrorKind::InvalidData), "{}", report.text);
    assert!(!report.text.contains("planted"), "{}", report.text);
}

/// Level L3 leaves these to a person, because they switch the other exceptions off.
#[tokio::test]
async fn what_acts_outside_the_sandbox_by_itself_is_named_in_the_facts() {
    let mut world = World::new();
    let root = world.root();
    std::fs::create_dir(root.join("bin")).unwrap();
    let path = format!("bin:{}:{}:/usr/bin", root.join("bin").display(), world.at("venv/bin").display());
    let host = setpoint_tools::Host::new("linux", [("PATH".into(), path.into())]);
    world.registry = setpoint_tools::Registry::built_in(&host);
    let [home, outside] = ["home", "outside"].map(|name| root.join(name));
    for (place, is_named) in [
        (root.join("bin/ls"), true),
        ("/usr/lib/setpoint-no-such-file.so".into(), true),
        ("/opt/setpoint-no-such-file".into(), true),
        ("/etc/setpoint-no-such-file".into(), true),
        (home.join(".bashrc"), true),
        (home.join(".config/fish/config.fish"), true),
        (home.join(".ssh/authorized_keys"), true),
        (root.join("bin/x/y"), false),
        (outside.join("x"), false),
        (home.join(".config/x"), false),
        (world.at("venv/bin/ls"), false),
        (world.at("bin/ls"), false),
    ] {
        let need = world.need("write_file", json!({"path": place, "content": "x"})).await;
        let named = need.facts.unwrap().acts_outside;
        assert_eq!(named.is_some(), is_named, "{}: {named:?}", place.display());
    }
    let files = ["outside/a", "bin/b"]
        .map(|name| format!("--- /dev/null\n+++ {}/{name}\n@@ -0,0 +1 @@\n+x\n", root.display()));
    let need = world.need("apply_patch", json!({"patch": files.concat()})).await;
    assert_eq!(need.facts.unwrap().acts_outside, Some(root.join("bin/b").display().to_string()));
}

/// Version managers put scripts in the place of programs, and those run what the working directory asks for.
#[tokio::test]
async fn a_script_in_the_persons_folders_does_not_run_unasked() {
    let mut world = World::new();
    let shims = world.root().join("home/.pyenv/shims");
    std::fs::create_dir_all(&shims).unwrap();
    std::fs::write(shims.join("python3"), "#!/bin/sh\necho ran\n").unwrap();
    std::fs::set_permissions(shims.join("python3"), Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", shims.display());
    world.registry = setpoint_tools::Registry::built_in(&setpoint_tools::Host::new(
        "linux",
        [("PATH".into(), path.into())],
    ));
    let need = world.need("shell", json!({"command": "python3 --version"})).await;
    assert!(need.reason.contains("is a script"), "{}", need.reason);
}

#[test]
fn readings_contain_programs_and_normal_form() {
    let world = World::new();
    let reading =
        world.read("shell", json!({"command": "  cat   'a b' |sort  2>/dev/null", "timeout_s": 60}));
    let tools: Vec<&str> = reading.tools.iter().map(|id| id.as_str()).collect();
    assert_eq!(tools, ["shell/cat", "shell/sort"]);
    assert_eq!(reading.target, "cat 'a b' | sort");
    let same = world.read("shell", json!({"command": "cat \"a b\"|sort"}));
    assert_eq!((same.tools, same.target), (reading.tools, reading.target.clone()));
    let longer = world.read("shell", json!({"command": "cat 'a b' | sort", "timeout_s": 90}));
    assert_ne!(longer.target, reading.target);
    let unread = world.read("shell", json!({"cmd": "ls"}));
    assert_eq!((unread.tools[0].as_str(), unread.effect), ("shell", Effect::Unsafe));
}

#[tokio::test]
async fn commands_about_other_places_are_marked() {
    let world = World::new();
    world.file("kept.txt", "kept");
    let outside = world.root().join("home/seen.txt");
    std::fs::write(&outside, "seen").unwrap();
    let here = world.at("kept.txt");
    let (outside, here) = (outside.to_str().unwrap(), here.to_str().unwrap());
    for (command, expected) in [
        ("cat kept.txt".to_owned(), false),
        (format!("cat {here}"), false),
        ("grep -c kept kept.txt /dev/null".to_owned(), false),
        ("grep -c /api/users kept.txt".to_owned(), false),
        (format!("cat {outside}"), true),
        (format!("for n in 1; do cat {outside}; done"), true),
        ("cat ~/seen.txt".to_owned(), true),
    ] {
        let answer = run_anyhow(&world, &command).await;
        let facts = answer.facts.unwrap();
        assert_eq!(facts.0.get("elsewhere").is_some(), expected, "{command}: {}", answer.text);
    }
    let input = json!({"command": "cat seen.txt", "cwd": "~"});
    assert_eq!(world.run("shell", input).await.facts.unwrap().0["elsewhere"], true);
}
