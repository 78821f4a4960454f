//! The attempts, as data: text files in this folder, one for each class.
//!
//! An attempt begins with a line `=== NAME SHELL ORACLE FLAG…` and continues with its script.

/// How it is seen from outside that an attempt got through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oracle {
    /// Something outside of what the policy lets it change is not as it was.
    Changed,
    /// The secret, which only files outside and other processes hold, is in what it printed.
    Printed,
    /// A listener outside was reached.
    Hit,
    /// A process outside does not answer any more, or runs under other limits.
    Victim,
    /// A process of it is alive after it returned.
    Survivor,
    /// A file of the working folder got the bit that lends its owner's or group's rights.
    SetId,
    /// It printed [`GOT_IN`] after a call that had to be refused.
    Marker,
}

/// What a script prints if a call went through whose effect cannot be seen from outside.
pub(crate) const GOT_IN: &str = "GOT-IN";

/// One try to get out.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) class: &'static str,
    pub(crate) name: &'static str,
    pub(crate) shell: &'static str,
    pub(crate) oracle: Oracle,
    /// It would harm the machine if it were tried without a sandbox.
    pub(crate) is_harmful: bool,
    /// It is about something that the partial tier does not offer.
    pub(crate) is_for_full: bool,
    /// It is known to get through in the partial tier.
    pub(crate) is_known_hole: bool,
    /// It names system calls by the numbers of one architecture.
    pub(crate) is_for_x86: bool,
    script: &'static str,
}

impl Attempt {
    /// Returns the arguments of its shell.
    pub(crate) fn args(&self) -> [String; 2] {
        let flag = if self.shell == "perl" { "-e" } else { "-c" };
        let before = if self.shell == "python3" { PRELUDE } else { "" };
        [flag.to_owned(), format!("{before}{}", self.script)]
    }
}

const PRELUDE: &str = include_str!("prelude.py");

const CLASSES: &[(&str, &str)] = &[
    ("writes", include_str!("writes.txt")),
    ("reads", include_str!("reads.txt")),
    ("privileges", include_str!("privileges.txt")),
    ("network", include_str!("network.txt")),
    ("processes", include_str!("processes.txt")),
    ("resources", include_str!("resources.txt")),
    ("devices", include_str!("devices.txt")),
    ("state", include_str!("state.txt")),
];

/// Returns all attempts.
pub(crate) fn all() -> Vec<Attempt> {
    let of_class = |(class, text): &(&'static str, &'static str)| {
        sections(text).map(|(head, script)| parse(class, head, script)).collect::<Vec<_>>()
    };
    CLASSES.iter().flat_map(of_class).collect()
}

/// Returns the head and the body of each section of a text.
pub(crate) fn sections(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.split("\n=== ").skip(1).map(|section| section.split_once('\n').expect("a section has a script"))
}

fn parse(class: &'static str, head: &'static str, script: &'static str) -> Attempt {
    let mut words = head.split_whitespace();
    let mut word = || words.next().unwrap_or_else(|| panic!("{class}: {head}: a word is missing"));
    let (name, shell) = (word(), word());
    let oracle = match word() {
        "changed" => Oracle::Changed,
        "printed" => Oracle::Printed,
        "hit" => Oracle::Hit,
        "victim" => Oracle::Victim,
        "survivor" => Oracle::Survivor,
        "setid" => Oracle::SetId,
        "marker" => Oracle::Marker,
        other => panic!("{class}: {head}: no oracle `{other}`"),
    };
    let flags: Vec<&str> = words.collect();
    let known = ["harmful", "full", "hole", "x86"];
    assert!(flags.iter().all(|flag| known.contains(flag)), "{class}: {head}: unknown flag");
    let has = |flag| flags.contains(&flag);
    Attempt {
        class,
        name,
        shell,
        oracle,
        is_harmful: has("harmful"),
        is_for_full: has("full"),
        is_known_hole: has("hole"),
        is_for_x86: has("x86"),
        script,
    }
}
