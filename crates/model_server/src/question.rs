//! Recognises an organisation's questions by their text: which role asks, and about what. For scripts that answer as
//! models would.

use crate::seen::SeenRequest;

/// The place in the organisation that asks a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Site {
    /// R1, for the intent.
    Perceive,
    /// R2, for a plan.
    Plan,
    /// R2, for the report of a task that is given up.
    Report,
    /// R3, for the next step.
    Execute,
    /// R4a, for verdicts on a sub-task.
    Judge,
    /// R4b, for verdicts on the whole.
    Merge,
}

impl Site {
    /// All sites, in the order of a task.
    pub const ALL: [Self; 6] =
        [Self::Perceive, Self::Plan, Self::Execute, Self::Judge, Self::Merge, Self::Report];

    /// Returns the site that asks; `None` if none does.
    #[must_use]
    pub fn of(seen: &SeenRequest) -> Option<Self> {
        let whole = format!("{}\n{}", seen.asked.system, seen.asked.last_user().unwrap_or_default());
        Self::ALL.into_iter().find(|site| whole.contains(site.standing_words()))
    }

    /// Returns words that only its questions contain.
    const fn standing_words(self) -> &'static str {
        match self {
            Self::Perceive => "You turn what a person typed into",
            Self::Plan => "You plan how a goal is reached",
            Self::Report => "A task is being given up.",
            Self::Execute => "You do one sub-task, for real, with tools.",
            Self::Judge => "You judge criteria of a piece of work",
            Self::Merge => "Several pieces of work are done",
        }
    }
}

/// Returns the first line that the person typed, from R1's question.
#[must_use]
pub fn goal(question: &str) -> Option<&str> {
    question.split_once("The person typed:\n").and_then(|(_, after)| after.lines().next())
}

/// Returns the task of R3's question.
#[must_use]
pub fn work(question: &str) -> Option<&str> {
    question.lines().find_map(|line| line.strip_prefix("The sub-task: "))
}

/// Returns the ids of the criteria that R4a or R4b asks about.
pub fn criteria(question: &str) -> impl Iterator<Item = &str> {
    let listed = question.split_once("Judge:\n").map_or("", |(_, listed)| listed);
    listed.lines().map_while(|line| line.split_once(' ')).map(|(id, _)| id)
}

/// Returns the ids of the successful calls that are listed or whose results are given.
pub fn calls(question: &str) -> impl Iterator<Item = &str> {
    question.lines().filter_map(|line| {
        if let Some((id, ending)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            return (ending == " ok" || ending.starts_with(" ok ")).then_some(id);
        }
        let mut words = line.split(' ');
        let (id, attempt, _, _, ok) =
            (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
        (attempt == "attempt" && ok == "ok").then_some(id)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_recognised_with_their_subject() {
        let question = "The person typed:\ncount\nall\n\nThe sub-task: look\n\nr3.1/1 attempt 1 find ok 3 ms {}\n  a\n\
                        r3.1/2 attempt 1 find exit 1 2 ms {}\n\nJudge:\ns1.c1 it is there\ns1.c2 it is good\n\nx y";
        assert_eq!((goal(question), work(question)), (Some("count"), Some("look")));
        assert_eq!(calls(question).collect::<Vec<_>>(), ["r3.1/1"]);
        let results = "[r3.1/2] ok exit 0\n[r3.1/3] exit 1\n[r3.1/4] ok\n[x] okay";
        assert_eq!(calls(results).collect::<Vec<_>>(), ["r3.1/2", "r3.1/4"]);
        assert_eq!(criteria(question).collect::<Vec<_>>(), ["s1.c1", "s1.c2"]);
        assert_eq!((goal(""), work(""), calls("").count(), criteria("").count()), (None, None, 0, 0));
    }
}
