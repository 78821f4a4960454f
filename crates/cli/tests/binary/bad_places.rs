//! A machine's problems: data directories, journals, outputs, names that are not UTF-8. Each is reported with
//! what to do about it, and nothing is lost or half-written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::task::{GOAL, Trial, pursue};
use crate::support::tree::tree;
use crate::support::{Came, Home, shell};

/// Asserts an error without a `FinalResult`, reported with a hint.
fn assert_failed(came: &Came, code: i32, said: &[&str]) {
    assert_eq!((came.code, came.out.as_str()), (code, ""), "{came:#?}");
    assert!(came.err.contains("error: ") && came.err.contains("\nhint: "), "{came:#?}");
    // Each cause continues one sentence, so "failed to" occurs only once.
    assert!(came.err.matches("failed to").count() <= 1, "{came:#?}");
    for part in said {
        assert!(came.err.contains(part), "{part:?} is not in {came:#?}");
    }
}

fn home() -> Home {
    let home = Home::new();
    Trial::new().reads("there.txt", "1").write(&home);
    home
}

fn journal(home: &Home) -> PathBuf {
    home.data().join("journal/journal.db")
}

/// Runs the binary from a bash script, in which it is `"$@"`.
fn scripted(home: &Home, script: &str, arguments: &[&str]) -> Came {
    let direct = home.command(arguments);
    let mut command = Command::new("bash");
    command.args(["-c", script, "bash"]).arg(direct.get_program()).args(direct.get_args());
    command.env_clear().envs(direct.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(home.work()).stdin(Stdio::null());
    Came::from(command.output().unwrap())
}

#[test]
fn an_impossible_data_directory() {
    let home = home();
    let before = tree(&home.work());
    let below_a_file = home.work().join("there.txt/data");
    // The kernel's own file systems accept no directory from any user. If they are not mounted, the paths are
    // ordinary.
    let is_mounted = |place: &&str| {
        Path::new(place).parent().is_none_or(|top| top.join("kernel").exists() || top.join("self").exists())
    };
    let kernels = ["/proc/setpoint", "/sys/setpoint"];
    for place in std::iter::once(below_a_file.to_str().unwrap()).chain(kernels.into_iter().filter(is_mounted))
    {
        for line in [&["run", GOAL][..], &["tasks", "list"]] {
            let mut line = line.to_vec();
            line.extend(["--data-dir", place]);
            assert_failed(&home.run(&line), 2, &[place, "--data-dir"]);
        }
        let doctor = home.run(&["doctor", "--data-dir", place]);
        assert!(doctor.out.contains(place), "{doctor:#?}");
        assert_eq!(doctor.code, 1, "{doctor:#?}");
    }
    assert_eq!(tree(&home.work()), before);
}

#[test]
fn reading_creates_nothing_and_reports_a_mistyped_directory() {
    let home = home();
    let root = home.work().parent().unwrap().to_owned();
    let before = tree(&root);
    let came = home.run(&["tasks", "list"]);
    assert_eq!((came.code, came.out.as_str(), came.err.as_str()), (0, "", "there are no tasks yet\n"));
    let mistyped = root.join("mistyped");
    for command in
        [&["tasks", "list"][..], &["tasks", "show", "x"], &["tasks", "cost", "x"], &["tasks", "cancel", "x"]]
    {
        assert_eq!(home.run(command).code, if command.len() == 2 { 0 } else { 2 });
        let mut line = command.to_vec();
        line.extend(["--data-dir", mistyped.to_str().unwrap()]);
        assert_failed(&home.run(&line), 2, &["there is no such directory", "mistyped", "--data-dir"]);
    }
    // Nor does the Auditor make anything where nothing was done.
    let report = home.run(&["audit", "report", "--json"]);
    assert_eq!((report.code, &report.json()["lifetime"]["tasks"]), (0, &0.into()), "{report:#?}");
    assert_eq!(home.run(&["audit", "query", "--json"]).json(), serde_json::Value::Array(vec![]));
    let verify = home.run(&["audit", "verify"]);
    assert_eq!((verify.code, verify.out.as_str()), (2, ""), "{verify:#?}");
    assert!(verify.err.contains("\nhint: "), "{verify:#?}");
    assert_eq!(tree(&root), before);
    for command in [&["show", "0123abcd"][..], &["forget", "0123abcd", "--yes"], &["approve", "0123abcd"]] {
        let came = home.run(&[&["memory"], command].concat());
        assert!(came.code == 2 && came.err.contains("0123abcd"), "{came:#?}");
    }
    assert!(!home.data().join("journal").exists(), "looking makes nothing");
}

#[test]
fn a_working_directory_that_is_gone() {
    let home = home();
    let came = scripted(&home, "mkdir gone; cd gone; rmdir ../gone; exec \"$@\"", &["run", GOAL]);
    assert_failed(&came, 2, &["failed to find the working directory"]);
    assert!(!home.data().exists());
}

/// Of a newer version, cut to half, another file: each is reported, and not a byte of it is changed.
#[test]
fn an_unusable_journal_is_reported_and_not_overwritten() {
    let home = home();
    let task = pursue(&home, &[]).result["task_id"].as_str().unwrap().to_owned();
    let whole = fs::read(journal(&home)).unwrap();
    let mut newer = whole.clone();
    // SQLite stores `user_version` in bytes 60 to 63 of the file.
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    let half = whole[..whole.len() / 2].to_vec();
    let other = &["it is not a journal", "--data-dir"][..];
    for (content, code, said) in [
        (newer, 2, &["format 99", "newer setpoint", "--data-dir"][..]),
        (half, 1, &["keep a copy", "journal"]),
        (b"my diary, of which there is no copy\n".to_vec(), 2, other),
        (vec![0xa5; 8192], 2, other),
        (b"SQLite format 3\0 not quite".to_vec(), 2, other),
    ] {
        if said == other {
            // Beside a head file it would be a damaged journal.
            fs::remove_dir_all(home.data().join("journal")).unwrap();
            fs::create_dir(home.data().join("journal")).unwrap();
        }
        fs::write(journal(&home), &content).unwrap();
        for line in [&["run", GOAL][..], &["tasks", "show", &task], &["tasks", "resume"]] {
            assert_failed(&home.run(line), code, said);
        }
        let doctor = home.run(&["doctor"]);
        assert!(doctor.code == 1 && doctor.out.contains(said[0]), "{doctor:#?}");
        assert_eq!(fs::read(journal(&home)).unwrap(), content);
    }
    // A directory in place of the database, and a file in place of its directory.
    fs::remove_dir_all(home.data().join("journal")).unwrap();
    fs::create_dir_all(journal(&home)).unwrap();
    assert_failed(&home.run(&["run", GOAL]), 2, &["journal.db: it is a directory", "--data-dir"]);
    fs::remove_dir_all(home.data().join("journal")).unwrap();
    fs::write(home.data().join("journal"), "mine").unwrap();
    assert_failed(&home.run(&["run", GOAL]), 2, &["journal", "--data-dir"]);
    assert_eq!(fs::read(home.data().join("journal")).unwrap(), b"mine");
}

/// A limit on file sizes replaces a full disk.
#[test]
fn process_a_full_disk_ends_in_an_error_and_not_in_a_signal() {
    // The limit in kilobytes: nothing; enough for a journal, but not for a task; enough for a part of one.
    for limit in [0, 4, 64, 160] {
        let home = home();
        let before = tree(&home.work());
        let came = scripted(&home, &format!("ulimit -f {limit}; exec \"$@\""), &["run", GOAL]);
        assert_eq!(came.signal, None, "{limit}: {came:#?}");
        assert_failed(&came, 1, &["journal", "room"]);
        assert!(!came.err.contains("tracing"), "{came:#?}");
        assert_eq!(tree(&home.work()), before);
        // With room again, the task continues.
        let resumed = home.run(&["tasks", "resume"]);
        assert_eq!(resumed.code, 0, "{limit}: {resumed:#?}");
        assert_eq!(home.run(&["run", GOAL]).code, 0);
        assert_eq!(home.run(&["doctor"]).code, 0);
    }
}

#[test]
fn process_too_many_open_files_are_reported() {
    let home = home();
    let came = scripted(&home, "ulimit -n 5; exec \"$@\"", &["run", GOAL]);
    assert_failed(&came, 1, &["Too many open files", "ulimit -a"]);
    assert!(!home.data().exists());
}

#[test]
fn process_an_output_that_fails_loses_no_result() {
    let home = home();
    let only = |home: &Home| {
        let listed = home.run(&["tasks", "list", "--json"]).json();
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed:#}");
        assert_eq!(listed[0]["result"]["directive"], "accept");
        fs::remove_dir_all(home.data()).unwrap();
    };
    for line in [&["run", GOAL][..], &["run", "--json", GOAL], &["run", "--stream", GOAL]] {
        // Without a reader, the exit code still says how the task ended.
        for script in ["\"$@\" >&-", "\"$@\" | head -c 0; exit ${PIPESTATUS[0]}"] {
            let came = scripted(&home, script, line);
            assert_eq!((came.code, came.signal), (0, None), "{script}: {came:#?}");
            only(&home);
        }
    }
    for line in [&["run", GOAL][..], &["run", "--json", GOAL]] {
        let came = scripted(&home, "exec \"$@\" >/dev/full", line);
        assert_failed(&came, 1, &["failed to write the output", "`setpoint tasks show "]);
        only(&home);
    }
    for line in
        [&["schema"][..], &["config"], &["doctor"], &["completions", "bash"], &["--help"], &["playbooks"]]
    {
        let came = scripted(&home, "exec \"$@\" >/dev/full", line);
        assert_failed(&came, 1, &["failed to write the output"]);
        let came = scripted(&home, "\"$@\" | head -c 0; exit ${PIPESTATUS[0]}", line);
        assert_eq!((came.code, came.signal, came.err.as_str()), (0, None, ""), "{came:#?}");
    }
    // The progress has no reader either.
    let came = scripted(&home, "exec \"$@\" 2>&-", &["run", GOAL]);
    assert_eq!(came.code, 0, "{came:#?}");
    let came = scripted(&home, "exec \"$@\" 2>/dev/full", &["run", GOAL]);
    assert_eq!(came.code, 0, "{came:#?}");
}

/// An endless file, a pipe without a writer, and a file from a repository.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_is_not_a_time_zone_is_not_opened() {
    let home = Home::new();
    shell(&home.work(), "mkfifo pipe");
    let pipe = home.work().join("pipe");
    for zone in ["/dev/zero", ":/dev/zero", "pipe", pipe.to_str().unwrap(), "../../../../../../../dev/zero"] {
        let came = Came::of(home.command(&["config"]).env("TZ", zone));
        assert_eq!(came.code, 0, "{zone}: {came:#?}");
        assert!(came.err.contains("is not a time zone; times are shown in UTC"), "{zone}: {came:#?}");
    }
    let came = Came::of(home.command(&["config"]).env("TZ", "UTC").env("TZDIR", home.work()));
    assert!(came.code == 0 && came.err.contains("TZDIR="), "{came:#?}");
    let came = Came::of(home.command(&["config"]).env("TZ", "EST5EDT"));
    assert_eq!((came.code, came.err.as_str()), (0, ""));
}
