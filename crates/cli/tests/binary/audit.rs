//! The Auditor beside real runs: what it reports about them, how a later change shows, and what a full disk
//! costs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::task::{GOAL, Trial, pursue};
use crate::support::{Came, Home};

fn log(home: &Home) -> PathBuf {
    home.data().join("audit/log")
}

fn exported(home: &Home) -> PathBuf {
    home.data().join("exported")
}

/// Returns a home whose checkpoints are exported, with a task that needs three plans.
fn home() -> Home {
    let home = Home::new();
    Trial::new().counts("there.txt", "000").hashes("there.txt", "110").reads("there.txt", "111").write(&home);
    fs::write(home.config().join("setpoint.toml"), "[audit]\ncheckpoints = \"exported\"\n").unwrap();
    home
}

/// Returns such a home with a task that no plan meets.
fn hopeless() -> Home {
    let home = home();
    Trial::new().counts("there.txt", "0").hashes("there.txt", "0").reads("there.txt", "0").write(&home);
    home
}

fn report(home: &Home) -> Value {
    let came = home.run(&["audit", "report", "--json"]);
    assert_eq!(came.code, 0, "{came:#?}");
    came.json()
}

fn verify(home: &Home) -> Came {
    home.run(&["audit", "verify", "--json", "--checkpoints", exported(home).to_str().unwrap()])
}

#[track_caller]
fn assert_sound(home: &Home) {
    let came = verify(home);
    assert_eq!((came.code, &came.json()["is_sound"]), (0, &true.into()), "{came:#?}");
}

#[test]
fn a_run_is_audited_to_its_end_and_the_report_says_what_it_was() {
    let home = home();
    pursue(&home, &[]);
    // The run itself has audited all of it.
    let noted = fs::read_to_string(log(&home)).unwrap();
    let first = report(&home);
    assert_eq!(fs::read_to_string(log(&home)).unwrap(), noted, "asking writes nothing");
    let totals = &first["lifetime"];
    assert_eq!(
        (&totals["tasks"], &totals["accepted"], &totals["replans"]),
        (&1.into(), &1.into(), &2.into())
    );
    let trend = &first["gap_trends"][0];
    let directives: Vec<&str> = trend["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|round| round["directive"].as_str().unwrap())
        .collect();
    assert_eq!(directives, ["break_symmetry", "change_approach", "accept"]);
    assert_eq!(report(&home)["lifetime"], *totals, "asking resets nothing");
    pursue(&home, &[]);
    assert_eq!(report(&home)["lifetime"]["tasks"], 2, "totals survive the process");
    assert_sound(&home);
    let shown = home.run(&["audit", "report"]);
    assert!(shown.out.starts_with("# Audit report query-"), "{shown:#?}");
    assert!(shown.out.contains("| count_lines |"), "{shown:#?}");
}

#[test]
fn a_changed_journal_is_reported_although_the_log_is_whole() {
    let home = home();
    let ended = pursue(&home, &[]);
    let conn = rusqlite::Connection::open(home.data().join("journal/journal.db")).unwrap();
    let changed = conn.execute("UPDATE record SET at_us = at_us + 1 WHERE pos = 7", []).unwrap();
    assert_eq!(changed, 1);
    drop(conn);
    let came = verify(&home);
    let value = came.json();
    assert_eq!((came.code, &value["is_sound"]), (1, &false.into()), "{came:#?}");
    let wrong = value["journal"][0].as_str().unwrap();
    assert!(wrong.contains("pos 7,") && wrong.contains("does not match its chain"), "{wrong}");
    assert_eq!(value["log"], Value::Array(vec![]), "the log itself is whole");
    assert_eq!(home.run(&["audit", "verify", "--log-only"]).code, 0);
    // Whatever needs the record is refused with its place.
    let task = ended.result["task_id"].as_str().unwrap();
    for arguments in
        [&["replay", task][..], &["tasks", "export", task], &["tasks", "fork", task, "--at", "5"]]
    {
        let came = home.run(arguments);
        assert!(came.code == 1 && came.out.is_empty() && came.err.contains("seq 7"), "{came:#?}");
    }
}

/// The disk is full only for the log, which has exceeded the file size limit; the journal has not.
#[test]
fn a_full_log_disk_delays_no_task_and_the_log_catches_up() {
    let home = home();
    let place = home.data().join("audit");
    let filling = format!("\"{}\"", "x".repeat(30_000));
    let (mut filled, _) =
        setpoint_audit::log::AuditLog::open(&place, &setpoint_audit::log::Options::default()).unwrap();
    for _ in 0..80 {
        drop(filled.append(&[&filling], 1).unwrap());
    }
    drop(filled);
    let before = fs::metadata(log(&home)).unwrap().len();
    let direct = home.command(&["run", "--json", GOAL]);
    let mut command = Command::new("bash");
    command
        .args(["-c", "ulimit -f 2048; exec \"$@\"", "bash"])
        .arg(direct.get_program())
        .args(direct.get_args());
    command.env_clear().envs(direct.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let came = Came::from(command.current_dir(home.work()).stdin(Stdio::null()).output().unwrap());
    assert_eq!((came.code, &came.json()["directive"]), (0, &"accept".into()), "{came:#?}");
    assert_eq!(fs::metadata(log(&home)).unwrap().len(), before);
    let told = fs::read_to_string(home.data().join("setpoint.log")).unwrap();
    assert!(told.contains("the Auditor cannot work"), "{told}");
    let warned = came.err.lines().filter(|line| line.starts_with("warning: the Auditor cannot work"));
    assert_eq!(warned.count(), 1, "{came:#?}");
    assert_eq!(report(&home)["lifetime"]["tasks"], 1);
    assert!(fs::metadata(log(&home)).unwrap().len() > before);
    assert_eq!(home.run(&["audit", "verify"]).code, 0);
}

#[test]
fn process_following_reports_findings_of_other_processes() {
    let home = hopeless();
    let mut follow = home
        .command(&["audit", "follow", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(follow.stderr.take().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "auditing in this process");
    let ended = pursue(&home, &[]);
    let mut found = BufReader::new(follow.stdout.take().unwrap()).lines();
    let finding: Value = serde_json::from_str(&found.next().unwrap().unwrap()).unwrap();
    assert_eq!(finding["finding"]["task_id"], ended.result["task_id"]);
    assert_eq!(report(&home)["is_elsewhere"], true);
    kill_process(Pid::from_child(&follow), Signal::INT).unwrap();
    assert!(follow.wait().unwrap().success());
    assert_sound(&home);
    let came = home.run(&["audit", "report", "--json"]);
    assert_eq!(came.json()["is_elsewhere"], false);
}

#[test]
fn process_totals_can_be_read_while_it_follows() {
    let home = home();
    pursue(&home, &[]);
    let mut follow = home
        .command(&["audit", "follow", "--metrics", "127.0.0.1:0"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(follow.stderr.take().unwrap()).lines();
    let line = said.next().unwrap().unwrap();
    let address =
        line.strip_prefix("metrics at http://").unwrap().strip_suffix("/metrics").unwrap().to_owned();
    // The first page is available when it begins to audit.
    assert_eq!(said.next().unwrap().unwrap(), "auditing in this process");
    let read = || {
        let mut connection = std::net::TcpStream::connect(&address).unwrap();
        let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        std::io::Write::write_all(&mut connection, request.as_bytes()).unwrap();
        std::io::read_to_string(connection).unwrap()
    };
    let page = std::iter::repeat_with(read).find(|page| page.contains("setpoint_tasks_total")).unwrap();
    assert!(page.contains("setpoint_tasks_total{end=\"accept\"} 1"), "{page}");
    assert!(
        page.contains("setpoint_findings_total{kind=\"false_claim\",severity=\"violation\"} 0"),
        "{page}"
    );
    kill_process(Pid::from_child(&follow), Signal::INT).unwrap();
    assert!(follow.wait().unwrap().success());

    let came = home.run(&["audit", "follow", "--metrics", "0.0.0.0:0"]);
    assert_eq!((came.code, came.out.as_str()), (2, ""), "{came:#?}");
    assert!(came.err.contains("--metrics-public"), "{came:#?}");
    let came = home.run(&["audit", "follow", "--metrics", "nowhere"]);
    assert_eq!(came.code, 2, "{came:#?}");
}
