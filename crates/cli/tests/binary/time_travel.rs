//! Going through tasks again with the built binary: replay, other settings, exported files, damage, forks.

use std::path::{Path, PathBuf};

use serde_json::Value;
use setpoint_protocol::Timestamp;

use crate::support::task::{Ended, Trial, pursue};
use crate::support::{Came, Home};

/// A task of four rounds: another path, another approach, finer, accepted.
fn four_rounds(home: &Home) -> Ended {
    Trial::new()
        .reads("gone-1.txt", "00")
        .counts("there.txt", "00")
        .reads("gone-2.txt", "10")
        .hashes("there.txt", "11")
        .write(home);
    let ended = pursue(home, &["--set", "controller.w2=0"]);
    assert_eq!(ended.course(), "init→change_path→change_approach→refine→accept");
    ended
}

fn id(ended: &Ended) -> &str {
    ended.result["task_id"].as_str().unwrap()
}

fn lines(came: &Came) -> Vec<Value> {
    came.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{came:#?}"))).collect()
}

fn good(came: Came) -> Came {
    assert_eq!(came.code, 0, "{came:#?}");
    came
}

/// Ids of tasks, the newest first.
fn tasks(home: &Home) -> Vec<String> {
    let listed = good(home.run(&["tasks", "list", "--json"])).json();
    listed.as_array().unwrap().iter().map(|task| task["task_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_task_of_several_rounds_replays_exactly_and_is_shown_step_by_step() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let count = ended.records.len();
    let shown = good(home.run(&["replay", id(&ended)]));
    assert!(
        shown.out.ends_with(" asks\n") && shown.out.contains(&format!("replayed exactly: {count} records, "))
    );
    for told in [
        "PlanDirective  init → change_path  L .68",
        "PlanDirective  change_approach → refine",
        "r2/2 model, to plan: ",
        "tool read_file (reads)",
        "✗E s1.c1 mark 0 of the answer is one",
        "blocked: count_lines",
        "FinalResult  L ",
    ] {
        assert!(shown.out.contains(told), "{told}: {}", shown.out);
    }
    // Each record once, in order; the last line sums up.
    let json = lines(&good(home.run(&["replay", "--json", id(&ended)])));
    let seqs: Vec<u64> = json.iter().filter_map(|line| line["record"].as_u64()).collect();
    assert_eq!(seqs, (1..=count as u64).collect::<Vec<_>>());
    let summary = &json.last().unwrap()["summary"];
    assert_eq!((&summary["replayed"], &summary["is_exact"]), (&count.into(), &true.into()));
    // Bounds, and what the models were asked in full.
    let part = good(home.run(&["replay", id(&ended), "--from", "8", "--to", "8", "--prompts"]));
    assert!(part.out.contains("── piece 1 of ") && part.out.contains("try the trial"), "{}", part.out);
    assert!(!part.out.contains("step 1 ") && !part.out.contains("step 9 "), "{}", part.out);
    let asked =
        lines(&good(home.run(&["replay", "--json", "--prompts", "--from", "8", "--to", "8", id(&ended)])));
    let pieces = asked[0]["prompt"].as_array().unwrap();
    assert_eq!(pieces.len(), asked[0]["body"]["ask"]["model"]["fragments"].as_array().unwrap().len());
    assert!(pieces.iter().all(Value::is_string), "{pieces:?}");
}

#[test]
fn other_settings_show_the_first_decision_that_parts() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let tried = |set: &[&str]| {
        let mut arguments = vec!["replay", id(&ended), "--json"];
        arguments.extend(set.iter().flat_map(|set| ["--set", set]));
        good(home.run(&arguments)).json()
    };
    // What was recorded is what the records say.
    let same = tried(&["delta=0.31"]);
    let decided: Vec<&Value> = ended
        .records
        .iter()
        .filter(|line| {
            ["setpoint.PlanDirective", "setpoint.FinalResult"].contains(&line["type"].as_str().unwrap())
        })
        .map(|line| &line["data"])
        .collect();
    assert_eq!(same["rounds"].as_array().unwrap().len(), decided.len());
    for (round, decided) in same["rounds"].as_array().unwrap().iter().zip(&decided) {
        assert_eq!(
            (&round["recorded"]["loss"], &round["recorded"]["grad_l"]),
            (&decided["loss"], &decided["grad_l"])
        );
        assert_eq!(round["recorded"]["decision"], decided["directive"]);
        assert_eq!(round["tried"], round["recorded"]);
    }
    assert_eq!((&same["parting"], &same["words"]), (&Value::Null, &"the decisions are the same".into()));
    let parting = |set: &[&str]| {
        let tried = tried(set);
        let round = tried["parting"]["round"].as_u64().unwrap();
        let at = &tried["rounds"][usize::try_from(round - 1).unwrap()];
        let after = tried["rounds"].as_array().unwrap().iter().skip(usize::try_from(round).unwrap());
        assert!(after.clone().all(|round| round["tried"].is_null() && round["recorded"].is_object()));
        let would = (&at["tried"]["decision"], &at["tried"]["ended_by"]);
        format!("{round} {} {} {}", tried["parting"]["kind"], would.0, would.1)
    };
    assert_eq!(parting(&["controller.delta=0.5"]), r#"3 "ends" "success" "distance""#);
    assert_eq!(parting(&["theta=0.3"]), r#"2 "ends" "abandon" "omega""#);
    assert_eq!(parting(&["law2_rounds=1", "theta=1"]), r#"2 "ends" "abandon" "law2""#);
    assert_eq!(parting(&["epsilon=1"]), r#"2 "direction" "break_symmetry" null"#);
    assert_eq!(parting(&["urgency=sets"]), r#"2 "manner" "change_approach" null"#);
    // Before the command it means the same, and the table says it in words.
    let before = good(home.run(&["--set", "delta=0.5", "replay", id(&ended)]));
    assert!(before.out.contains("parts here") && before.out.contains("unknown"), "{}", before.out);
    assert!(
        before.out.contains("round 3 parts: the task would end there (success (distance))"),
        "{}",
        before.out
    );
}

/// One that ended although it would have gone on.
#[test]
fn a_controller_that_would_have_gone_on_is_told() {
    let home = Home::new();
    Trial::new().reads("gone.txt", "10").reads("there.txt", "1").write(&home);
    let ended = pursue(&home, &["--set", "controller.delta=0.6"]);
    assert_eq!(ended.result["ended_by"], "distance");
    let tried = good(home.run(&["replay", id(&ended), "--set", "delta=0.1", "--json"])).json();
    assert_eq!((&tried["parting"]["kind"], &tried["parting"]["round"]), (&"goes_on".into(), &1.into()));
    assert!(tried["words"].as_str().unwrap().contains("nobody did it"), "{tried}");
}

/// And one that gave up, where another rule would have given it up as well.
#[test]
fn another_end_of_a_task_that_gave_up_is_told() {
    let home = Home::new();
    Trial::new().reads("gone-1.txt", "0").reads("gone-2.txt", "0").write(&home);
    let ended = pursue(&home, &["--set", "controller.max_replans=1", "--set", "controller.w2=0"]);
    assert_eq!(ended.result["ended_by"], "omega");
    let tried = |set: &str| good(home.run(&["replay", id(&ended), "--set", set, "--json"])).json();
    assert_eq!(tried("delta=0.1")["parting"], Value::Null);
    let goes_on = tried("max_replans=5");
    assert_eq!(goes_on["parting"]["kind"], "goes_on", "{goes_on}");
    let last = goes_on["rounds"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["recorded"]["ended_by"], &last["tried"]["ended_by"]), (&"omega".into(), &Value::Null));
}

#[test]
fn settings_that_the_controller_does_not_take_are_usage_errors() {
    let home = Home::new();
    let ended = four_rounds(&home);
    for (set, told) in [
        ("foo=1", "the controller's settings are law, alpha, beta"),
        ("models.brain=x", "the controller's settings are law, alpha, beta"),
        ("delta=2", "it must be from 0 to 0.999"),
        ("delta=nan", "it must be a finite number"),
        ("max_replans=-1", "it must be a whole number"),
        ("law=naive", "it must be one of reference"),
        ("law2_gradient=up", "it must be one of full, net"),
        ("urgency=", "it must be one of words, sets"),
    ] {
        let came = home.run(&["replay", id(&ended), "--set", set]);
        assert!(came.code == 2 && came.err.contains(told), "{set}: {came:#?}");
    }
    let came = home.run(&["replay", id(&ended), "--set", "delta"]);
    assert!(came.code == 2 && came.err.contains("expected KEY=VALUE"), "{came:#?}");
    for unknown in ["nope", "", "tr\u{f6}"] {
        let came = home.run(&["replay", unknown]);
        assert_eq!(came.code, 2, "{came:#?}");
    }
}

#[test]
fn an_exported_file_replays_where_nothing_else_is() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let file = home.work().join("task.jsonl");
    good(home.run(&["tasks", "export", id(&ended), "--output", file.to_str().unwrap()]));
    let elsewhere = Home::new();
    let name = file.to_str().unwrap();
    for arguments in [
        vec!["replay"],
        vec!["replay", "--json"],
        vec!["replay", "--prompts"],
        vec!["replay", "--set", "delta=0.5"],
        vec!["tasks", "show"],
        vec!["tasks", "show", "--json"],
        vec!["tasks", "cost"],
    ] {
        let there: Vec<&str> = arguments.iter().copied().chain([name]).collect();
        let here: Vec<&str> = arguments.iter().copied().chain([id(&ended)]).collect();
        assert_eq!(good(elsewhere.run(&there)).out, good(home.run(&here)).out, "{arguments:?}");
    }
    assert!(!elsewhere.data().exists(), "nothing is written to read a file");
    // A file without the ending is one where no task is called so, and a folder is none.
    std::fs::copy(&file, elsewhere.work().join("exported")).unwrap();
    assert!(good(elsewhere.run(&["replay", "exported"])).out.contains("replayed exactly"));
    // What begins several tasks is not one file, and neither is what cannot be looked for.
    let second = pursue(&home, &[]);
    let common: String =
        id(&ended).chars().zip(id(&second).chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    std::fs::copy(&file, home.work().join(&common)).unwrap();
    let came = home.run(&["replay", &common]);
    assert!(came.code == 2 && came.out.is_empty() && came.err.contains("give more of the id"), "{came:#?}");
    std::fs::create_dir_all(elsewhere.data()).unwrap();
    std::fs::write(elsewhere.data().join("journal"), "no journal").unwrap();
    let came = elsewhere.run(&["replay", "exported"]);
    assert!(came.code == 2 && came.out.is_empty(), "{came:#?}");
    let diff = good(home.run(&["replay", id(&ended), "--diff", name]));
    assert!(diff.out.ends_with("every record is the same, ids and times aside\n"), "{}", diff.out);
    for (nothing, told) in
        [("gone.jsonl", "No such file"), ("./", "it is a directory, and only regular files are used")]
    {
        let came = elsewhere.run(&["replay", nothing]);
        assert!(came.code == 2 && came.err.contains(told) && came.err.contains("hint: "), "{came:#?}");
    }
}

/// Every kind of change is refused with the line and the record.
#[test]
fn a_changed_exported_file_is_refused_with_its_place() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let text = good(home.run(&["tasks", "export", id(&ended)])).out;
    let (line, directive) =
        (1..).zip(text.lines()).find(|(_, line)| line.contains("setpoint.PlanDirective")).unwrap();
    let seq = serde_json::from_str::<Value>(directive).unwrap()["seq"].as_u64().unwrap();
    let file = home.work().join("changed.jsonl");
    let refused = |changed: &str| {
        assert_ne!(changed, text);
        std::fs::write(&file, changed).unwrap();
        let came = home.run(&["replay", file.to_str().unwrap()]);
        assert!(came.code == 2 && came.out.is_empty() && came.err.contains("hint: "), "{came:#?}");
        came.err
    };
    let in_directive =
        |from: &str, to: &str| refused(&text.replacen(directive, &directive.replacen(from, to, 1), 1));
    let place = format!("read line {line}, record {seq}: ");
    for (from, to) in [
        ("change_path", "change_patH"),
        ("\"cause\":", "\"cause\":1"),
        ("\"clockms\":\"", "\"clockms\":\"1"),
        ("\"slug\":\"t", "\"slug\":\"T"),
    ] {
        let told = in_directive(from, to);
        assert!(told.contains(&place) && told.contains("changed after it was written"), "{from}: {told}");
    }
    let last = text.lines().count();
    let cut: String = text.lines().take(last - 1).map(|line| format!("{line}\n")).collect();
    assert!(refused(&cut).contains("read the file to its end: its first line says "), "cut");
    assert!(refused(text.trim_end()).contains("it is cut off"));
    assert!(
        refused(&text.replacen("\"version\":1", "\"version\":9", 1)).contains("written by a newer setpoint")
    );
    assert!(refused("{}\n").contains("no exported task begins like this"));
}

/// The byte is changed where it lies, in the database.
#[test]
fn a_changed_byte_in_the_journal_is_refused_with_its_place() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let seq = ended.records.iter().position(|line| line["type"] == "setpoint.PlanDirective").unwrap() + 1;
    change_body(&home.data(), seq);
    let came = home.run(&["replay", id(&ended)]);
    assert!(came.code == 1 && came.out.is_empty(), "{came:#?}");
    assert!(
        came.err.contains(&format!("record {seq}")) || came.err.contains(&format!("seq {seq}")),
        "{came:#?}"
    );
    for arguments in [vec!["tasks", "export", id(&ended)], vec!["tasks", "fork", id(&ended), "--at", "5"]] {
        assert_eq!(home.run(&arguments).code, 1, "{arguments:?}");
    }
}

fn change_body(data: &Path, seq: usize) {
    let database = rusqlite::Connection::open(data.join("journal/journal.db")).unwrap();
    let find = "SELECT body FROM record WHERE seq = ?1";
    let mut body: Vec<u8> = database.query_row(find, [seq as i64], |row| row.get(0)).unwrap();
    let last = body.len() / 2;
    body[last] ^= 1;
    let changed = database.execute("UPDATE record SET body = ?1 WHERE seq = ?2", (body, seq as i64)).unwrap();
    assert_eq!(changed, 1);
}

#[test]
fn a_fork_goes_on_from_its_point_and_is_a_task_of_its_own() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let at = |seq: usize| seq.to_string();
    let second = ended.records.iter().filter(|line| line["type"] == "setpoint.PlanDirective").nth(1).unwrap();
    let second = usize::try_from(second["seq"].as_u64().unwrap()).unwrap();
    let came = good(home.run(&["tasks", "fork", id(&ended), "--at", &at(second), "--json"]));
    assert!(came.err.contains("the files are as they are now"), "{came:#?}");
    let fork = came.json()["task_id"].as_str().unwrap().to_owned();
    assert_ne!(fork, id(&ended));
    assert_eq!(tasks(&home)[0], fork);
    // Up to there it is the same task, and no call of it was made again: their results are those that were recorded.
    let records = home.records(&fork);
    let bodies = |records: &[Value], kind: &str| -> Vec<Value> {
        let of_kind =
            records.iter().filter(|line| line["type"] == kind && line["seq"].as_u64() <= Some(second as u64));
        of_kind.map(|line| line["data"].clone()).collect()
    };
    for kind in ["setpoint.Answered", "setpoint.UserInput"] {
        assert_eq!(bodies(&records, kind), bodies(&ended.records, kind), "{kind}");
    }
    let from = &records[0]["data"]["forked_from"];
    assert_eq!(from["task"], id(&ended));
    assert_eq!(from["models"], ended.records[0]["data"]["models"]);
    assert!(from["seq"].as_u64().unwrap() >= second as u64);
    assert!(
        good(home.run(&["tasks", "show", &fork]))
            .out
            .contains(&format!("forked  from {} at record", id(&ended)))
    );
    let usage = |records: &[Value]| records.last().unwrap()["data"]["usage"]["calls"].as_u64().unwrap();
    assert!(usage(&records) >= usage(&ended.records), "what the recorded part used counts");
    assert!(good(home.run(&["replay", &fork])).out.contains("replayed exactly"));
    // Memory does not learn twice from what happened once.
    let learnt = |task: &str| -> Vec<String> {
        let listed = good(home.run(&["memory", "list", "--json", "--limit", "1000"])).json();
        let of_task = listed.as_array().unwrap().iter().filter(|one| one["task"] == task);
        of_task.map(|one| one["state"].as_str().unwrap_or("none").to_owned()).collect()
    };
    assert!(learnt(id(&ended)).contains(&"change_approach".to_owned()), "{:?}", learnt(id(&ended)));
    assert!(!learnt(&fork).contains(&"change_approach".to_owned()), "{:?}", learnt(&fork));
    assert!(learnt(&fork).contains(&"accept".to_owned()), "{:?}", learnt(&fork));
    // A fork of the fork, with another setting for what follows.
    let again = home.run(&["tasks", "fork", &fork, "--at", &at(second), "--set", "delta=0.5", "--json"]);
    assert_eq!((again.code, &again.json()["ended_by"]), (3, &"distance".into()), "{again:#?}");
    let again = again.json()["task_id"].as_str().unwrap().to_owned();
    let from = &home.records(&again)[0]["data"]["forked_from"];
    assert_eq!(
        (&from["task"], &from["earlier"][0]["task"]),
        (&fork.as_str().into(), &id(&ended).into()),
        "{from}"
    );
    assert!(good(home.run(&["replay", &again])).out.contains("replayed exactly"));
    let diff = good(home.run(&["replay", &fork, "--diff", &again, "--json"])).json();
    let differs: Vec<&str> = diff["aspects"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|aspect| aspect["is_same"] == false)
        .map(|aspect| aspect["name"].as_str().unwrap())
        .collect();
    assert!(differs.contains(&"settings") && differs.contains(&"end"), "{differs:?}");
    assert!(!differs.contains(&"round 1, plan") && !differs.contains(&"models"), "{differs:?}");
    assert_eq!(diff["first_record"]["seq"], 1, "its settings are another one's");
}

#[test]
fn a_point_that_cannot_be_gone_on_from_is_refused() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let last = ended.records.len();
    let before = tasks(&home);
    for (at, told) in [
        (0, format!("its records are 1 to {last}")),
        (1, "it has no goal before record 2".to_owned()),
        (last, "it ends there, and nothing would follow".to_owned()),
        (last + 1, format!("its records are 1 to {last}")),
    ] {
        let came = home.run(&["tasks", "fork", id(&ended), "--at", &at.to_string()]);
        assert!(came.code == 2 && came.err.contains(&told), "{at}: {came:#?}");
    }
    // Under this setting the recorded rounds would never have come.
    let third = ended.records.iter().filter(|line| line["type"] == "setpoint.PlanDirective").nth(2).unwrap();
    let third = third["seq"].as_u64().unwrap().to_string();
    let came = home.run(&["tasks", "fork", id(&ended), "--at", &third, "--set", "theta=0.3"]);
    assert!(came.code == 2 && came.err.contains("the two part: there it was PlanDirective"), "{came:#?}");
    let came = home.run(&["tasks", "fork", id(&ended), "--at", &third, "--set", "epsilon=1"]);
    assert!(came.code == 2 && came.err.contains(" the two part: "), "{came:#?}");
    assert_eq!(tasks(&home), before, "what is refused leaves nothing behind");
}

/// A task whose first way makes a file and replaces it twice, and the record of its first call's answer.
fn writes_thrice(home: &Home, path: &str) -> (Ended, String) {
    let input = format!("{{ path = \"{path}\", content = \"made\", overwrite = true }}");
    let way = format!("tool = \"write_file\"\ninput = {input}");
    Trial::new().way(&way, "0").counts("there.txt", "1").write(home);
    let ended = pursue(home, &[]);
    assert_eq!(ended.course(), "init→break_symmetry→accept");
    let is_made = |line: &&Value| line["data"]["answer"]["tool"]["created"].is_array();
    let at = ended.records.iter().find(is_made).unwrap()["seq"].to_string();
    (ended, at)
}

fn workspace(home: &Home, task: &str) -> PathBuf {
    let recorded = home.records(task)[0]["data"]["surroundings"]["workspace"].as_str().unwrap().to_owned();
    PathBuf::from(recorded)
}

#[test]
fn a_fork_has_a_workspace_of_its_own() {
    let home = Home::new();
    let (ended, at) = writes_thrice(&home, "report.md");
    let old = workspace(&home, id(&ended));
    assert_eq!(old, home.data().join("workspaces").join(id(&ended)));
    assert_eq!(std::fs::read_to_string(old.join("report.md")).unwrap(), "made");
    // Files are as they are now, not as they were then.
    std::fs::write(old.join("report.md"), "now").unwrap();
    std::fs::write(old.join("notes.md"), "kept").unwrap();
    std::os::unix::fs::symlink("/etc", old.join("etc")).unwrap();
    let fork = |of: &str| {
        let came = good(home.run(&["tasks", "fork", of, "--at", &at, "--json"]));
        (came.json()["task_id"].as_str().unwrap().to_owned(), came.err)
    };
    let (first, told) = fork(id(&ended));
    let own = workspace(&home, &first);
    assert_eq!(own, old.with_file_name(&first));
    assert!(told.contains(&format!("its workspace is its own, {}", own.display())), "{told}");
    assert!(told.contains("not copied") && told.contains("\"etc\""), "{told}");
    let read = |folder: &Path, name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    // It replaced its copy of what the other task had made, which is its own, and asked nobody.
    assert_eq!((read(&own, "report.md"), read(&own, "notes.md")), ("made".to_owned(), "kept".to_owned()));
    assert_eq!((read(&old, "report.md"), own.join("etc").exists()), ("now".to_owned(), false));
    let records = home.records(&first);
    assert!(!records.iter().any(|line| line["type"] == "setpoint.ApprovalRequest"));
    assert!(good(home.run(&["replay", &first])).out.contains("replayed exactly"));
    // Side by side the two workspaces are the same place.
    let diff = good(home.run(&["replay", id(&ended), "--diff", &first, "--json"])).json();
    let parting = diff["first_record"]["seq"].as_u64();
    assert!(
        parting.is_none_or(|seq| seq > records[0]["data"]["forked_from"]["seq"].as_u64().unwrap()),
        "{diff}"
    );
    // And so is a third, of the fork.
    let (second, _) = fork(&first);
    let third = workspace(&home, &second);
    assert_eq!(third, old.with_file_name(&second));
    assert_eq!((read(&third, "notes.md"), read(&old, "report.md")), ("kept".to_owned(), "now".to_owned()));
}

/// What the other task made elsewhere is not the fork's: it is not replaced without asking.
#[test]
fn a_fork_asks_before_it_changes_what_the_other_task_created() {
    let home = Home::new();
    let (ended, at) = writes_thrice(&home, "made/report.md");
    let file = home.work().join("made/report.md");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "made", "it was the task's own");
    std::fs::write(&file, "now").unwrap();
    let came = home.run(&["tasks", "fork", id(&ended), "--at", &at, "--json"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "now", "{came:#?}");
    assert_eq!(came.json()["ended_by"], "consent", "{came:#?}");
}

#[test]
fn a_workspace_that_is_too_large_is_not_copied() {
    let home = Home::new();
    let (ended, at) = writes_thrice(&home, "report.md");
    let old = workspace(&home, id(&ended));
    // It takes no room: nothing was ever written to it.
    let large = std::fs::File::create(old.join("large")).unwrap();
    large.set_len(1024 * 1024 * 1024 + 1).unwrap();
    let before = tasks(&home);
    let came = home.run(&["tasks", "fork", id(&ended), "--at", &at]);
    assert!(came.code == 2 && came.err.contains("its files have more than 1073741824 bytes"), "{came:#?}");
    assert!(came.err.contains("hint: ") && came.err.contains(old.to_str().unwrap()), "{came:#?}");
    assert_eq!(tasks(&home), before);
    assert_eq!(std::fs::read_dir(old.parent().unwrap()).unwrap().count(), 1, "nothing is left behind");
}

/// The recorded budgets hold, but for those that the command line names.
#[test]
fn a_fork_has_the_budgets_that_the_command_line_names() {
    let home = Home::new();
    Trial::new().reads("gone.txt", "0").counts("there.txt", "1").write(&home);
    let ended = pursue(&home, &["--max-calls", "30", "--max-tokens", "1000000"]);
    let at = ended.records.iter().find(|line| line["type"] == "setpoint.PlanDirective").unwrap()["seq"]
        .to_string();
    let budgets = |options: &[&str]| {
        let fork = ["tasks", "fork", id(&ended), "--at", &at, "--json"];
        let came = home.run(&[&fork[..], options].concat());
        let task = came.json()["task_id"].as_str().unwrap().to_owned();
        let budgets = home.records(&task)[0]["data"]["budgets"].clone();
        (came.json()["ended_by"].as_str().unwrap().to_owned(), budgets)
    };
    let recorded = ended.records[0]["data"]["budgets"].clone();
    assert_eq!((&recorded["calls"], &recorded["tokens"]), (&30.into(), &1_000_000.into()));
    home.file("setpoint.toml", "[budgets]\ncalls = 3\n");
    assert_eq!(budgets(&[]), ("criteria_met".to_owned(), recorded.clone()), "a file changes none");
    let mut named = recorded.clone();
    (named["calls"], named["money"]) = (50.into(), serde_json::json!(0.5));
    let set = ["--set", "budgets.calls=50", "--set", "budgets.money=0.5"];
    assert_eq!(budgets(&set), ("criteria_met".to_owned(), named));
    let mut none = recorded;
    none["tokens"] = Value::Null;
    assert_eq!(budgets(&["--set", "budgets.tokens="]).1, none);
    // What was taken over has used them up: it ends with what was achieved.
    let used = ended.records.iter().filter(|line| line["data"]["ask"]["model"].is_object());
    let used = used.filter(|line| line["seq"].as_u64() <= at.parse().ok()).count();
    let few = budgets(&["--set", &format!("budgets.calls={}", used + 1)]);
    assert_eq!((few.0.as_str(), &few.1["calls"]), ("budget", &(used + 1).into()));
}

#[test]
fn a_fork_is_opened_when_it_is_made() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let at = ended.records.iter().find(|line| line["type"] == "setpoint.PlanDirective").unwrap()["seq"]
        .to_string();
    let fork = good(home.run(&["tasks", "fork", id(&ended), "--at", &at, "--json"])).json();
    let listed = good(home.run(&["tasks", "list", "--json"])).json();
    let time = |place: usize, name: &str| listed[place][name].as_str().unwrap().parse::<Timestamp>().unwrap();
    assert_eq!((&listed[0]["task_id"], &listed[1]["task_id"]), (&fork["task_id"], &id(&ended).into()));
    assert!(
        time(1, "opened_at") < time(1, "closed_at") && time(1, "closed_at") < time(0, "opened_at"),
        "{listed}"
    );
    let shown = good(home.run(&["tasks", "show", "--json", fork["task_id"].as_str().unwrap()])).json();
    let shown = shown["opened_at"].as_str().unwrap().parse::<Timestamp>().unwrap();
    assert!(shown >= time(0, "opened_at"), "{listed}");
    // Its ids are derived from the times of its records, which are the other task's.
    let records = home.records(fork["task_id"].as_str().unwrap());
    assert!(records.iter().all(|line| line["correlationid"] == records[0]["id"]), "{}", records[0]);
}

/// In the middle of a step, and while an ask is open: it is asked again.
#[test]
fn an_ask_that_is_open_at_the_point_is_asked_again() {
    let home = Home::new();
    let ended = four_rounds(&home);
    let plan = ended.records.iter().find(|line| line["data"]["ask"]["model"]["purpose"] == "plan").unwrap();
    let at = plan["seq"].as_u64().unwrap().to_string();
    let came = good(home.run(&["tasks", "fork", id(&ended), "--at", &at, "--json"]));
    let fork = came.json()["task_id"].as_str().unwrap().to_owned();
    let records = home.records(&fork);
    let reasked: Vec<&Value> = records.iter().filter(|line| line["type"] == "setpoint.Reasked").collect();
    assert_eq!(reasked.len(), 1);
    assert_eq!(reasked[0]["data"]["reason"], "the task was forked here");
    assert_eq!(
        (&reasked[0]["data"]["call"], &reasked[0]["data"]["spent"]),
        (&plan["data"]["call"], &Value::Null)
    );
    assert!(good(home.run(&["replay", &fork])).out.contains("replayed exactly"));
}

/// Without memory the second run knows no more than the first; its time counts in Ω.
#[test]
fn the_same_run_a_second_later_is_the_same() {
    let home = Home::new();
    Trial::new().reads("gone-1.txt", "00").counts("there.txt", "00").hashes("there.txt", "11").write(&home);
    let set = ["--set", "memory.recall=false", "--set", "controller.time_budget_ms=100000"];
    let (ended, again) = (pursue(&home, &set), pursue(&home, &set));
    assert_ne!(id(&ended), id(&again));
    let compared = good(home.run(&["replay", id(&ended), "--diff", id(&again), "--json"])).json();
    let aspects = compared["aspects"].as_array().unwrap();
    let differs: Vec<&Value> = aspects.iter().filter(|aspect| aspect["is_same"] == false).collect();
    assert!(
        differs.is_empty() && compared["first_record"].is_null(),
        "{differs:#?} {}",
        compared["first_record"]
    );
    let other = pursue(&home, &["--set", "memory.recall=false", "--set", "controller.time_budget_ms=100001"]);
    let compared = good(home.run(&["replay", id(&ended), "--diff", id(&other), "--json"])).json();
    assert_eq!(compared["first_record"]["seq"], 1, "{compared}");
}
