//! A Dreamer that is killed between any two of its writes makes the rule exactly once.

use std::fs;
use std::path::Path;

use crate::support::task::{Trial, pursue};
use crate::support::{Came, Home};

/// Returns six accepted tasks of one kind, before the Dreamer has processed the last of them.
fn six_accepts() -> Home {
    let home = Home::in_memory();
    Trial::new().reads("there.txt", "1").write(&home);
    for _ in 0..6 {
        assert_eq!(pursue(&home, &[]).course(), "init→accept");
    }
    home
}

/// Copies the data to another place.
fn copy(home: &Home, place: &Path) {
    for folder in ["journal", "memory"] {
        let to = place.join(folder);
        fs::create_dir_all(&to).unwrap();
        for file in fs::read_dir(home.data().join(folder)).unwrap().map(|file| file.unwrap().path()) {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    }
}

fn dream(home: &Home, place: &Path, failpoint: Option<(&str, &str)>) -> Came {
    let mut command = home.command(&["memory", "dream", "--json"]);
    command.env("SETPOINT_DATA_DIR", place);
    if let Some((variable, value)) = failpoint {
        command.env(variable, value);
    }
    Came::of(&mut command)
}

#[test]
fn a_rule_is_made_once_wherever_the_dreamer_is_killed() {
    let home = six_accepts();
    let mut killed = 0;
    for (variable, point) in [
        ("SETPOINT_FAILPOINT", "before"),
        ("SETPOINT_FAILPOINT", "torn"),
        ("SETPOINT_FAILPOINT", "after_write"),
        ("SETPOINT_FAILPOINT", "after_sync"),
        ("SETPOINT_MEMORY_FAILPOINT", "before"),
        ("SETPOINT_MEMORY_FAILPOINT", "after"),
    ] {
        for n in 1.. {
            let place = tempfile::tempdir_in(home.work()).unwrap();
            copy(&home, place.path());
            let came = dream(&home, place.path(), Some((variable, &format!("{point}:{n}"))));
            if came.signal.is_none() {
                // There are no more writes, so the pass completed.
                assert_eq!(
                    (came.code, came.json()["promoted"].as_array().unwrap().len()),
                    (0, 1),
                    "{came:#?}"
                );
                assert!(n > 1, "no kill at {point}");
                break;
            }
            killed += 1;
            let came = dream(&home, place.path(), None);
            assert_eq!(came.code, 0, "{came:#?}");
            let mut command = home.command(&["memory", "rules", "--json"]);
            let rules = Came::of(command.env("SETPOINT_DATA_DIR", place.path())).json();
            let [rule] = rules.as_array().unwrap().as_slice() else { panic!("{point}:{n}: {rules:#}") };
            assert_eq!(
                (&rule["kind"], &rule["sources"]),
                (&"best_practice".into(), &6.into()),
                "{point}:{n}"
            );
            let again = dream(&home, place.path(), None).json();
            assert_eq!(again["promoted"].as_array().unwrap().len(), 0, "{point}:{n}");
        }
    }
    println!("killed {killed} times");
    assert!(killed > 6, "{killed}");
}
