//! Goals that no playbook may misread: they end at once, and the answer names the closest playbook, with the
//! goal's own path.

use super::{Want, case, hold};
use crate::support::Home;

#[test]
fn goals_that_are_not_read() {
    let home = Home::new();
    home.file("src/a.rs", "fn main() {}\n");
    home.file("data.csv", "a,b\n1,2\n");
    let cases = [
        ("find the three largest files under src and delete them", "largest-files is close, for example: "),
        ("find the smallest files in src", "largest-files is close, for example: "),
        ("which files in src have not changed for a year", "src"),
        ("count the words in data.csv", "is close"),
        ("sum up column b of data.csv", "is close"),
        ("sort data.csv by b", "`setpoint playbooks` lists"),
        ("find duplicate rows in data.csv", "is close"),
        ("compare src with data.csv and mail me the result", "is close"),
        ("find broken links in src and mend them", "broken-symlinks is close, for example: "),
        ("how many functions are in src", "is close"),
        ("archive src every night", "archive"),
        ("largest files in src bigger than 1 MB", "largest-files is close, for example: "),
        ("disk usage of src in percent", "disk-usage is close, for example: "),
        ("verify that src is fine", "is close"),
        ("summarise the meeting", "is close"),
        ("make me a sandwich", "`setpoint playbooks` lists"),
        ("find main or exit in src", "is close"),
        ("grep for fn main in src", "is close"),
        ("list all lines with errors in src", "log-summary is close, for example: "),
        ("which files contain numbers in src", "find-text is close, for example: "),
        ("which files have duplicates", "is close"),
        ("which files use tabs in src", "is close"),
        ("list all files including hidden", "is close"),
        ("find uses of recursion in src", "is close"),
        ("grep for ^fn in src", "find-text is close, for example: "),
        ("grep for 'fn.*main' in src", "find-text is close, for example: "),
        ("grep [fF]n in src", "find-text is close, for example: "),
        ("grep 'fn\\b' in src", "find-text is close, for example: "),
        ("grep 'fn|main' in src", "find-text is close, for example: "),
        ("grep -i fn", "find-text is close, for example: "),
        ("find \"fn\"/\"main\" in src", "find-text is close, for example: "),
        ("find 'fn'|'main' in src", "find-text is close, for example: "),
        ("list the lines in data.csv", "count-lines is close, for example: count the lines in data.csv"),
        ("what are the lines of data.csv", "is close, for example: "),
        ("find \"\" in src", "it is empty"),
        ("replace a b with c in the file names in src", "is close"),
        ("report on the weather in src", "is close"),
    ];
    let cases: Vec<_> = cases.into_iter().map(|(goal, said)| case(goal, Want::Refused(said))).collect();
    hold(&home, &cases);
}
