//! Judges criteria on evidence: by code if a criterion has a check, by a model's answer otherwise.
//!
//! Shared by R4a (one sub-task) and R4b (the whole). What is judged is a [`Case`]; [`by_check`] judges one criterion
//! by its check, and a [`Hearing`] takes a model's verdicts and compares them with the evidence. There is no overall
//! verdict here, and nothing here asks a model or runs a call: the roles do.
//!
//! # What a model's pass must cite
//!
//! A pass must cite at least one call that was made by the work or measured after it, and every call it cites must
//! exist and have run: an exit code is a result, a non-zero one too. `output` alone is enough only if no call could
//! show more:
//!
//! * the criterion is `plausible`, that is, a matter of judgement; or
//! * it is `verifiable`, its sentence is about the text itself and names no place outside it, and the work made no
//!   call at all.
//!
//! Any other pass that cites `output` alone lacks evidence and fails. The rule rejects in doubt: a plan that wants a
//! statement about wording judged after calls were made gives it a check on the output, or calls it plausible.
//!
//! # What looks at the whole
//!
//! A check holds what the plan thought of. If all checks pass and no criterion is a judge's anyway, a model judges one of them
//! with the addition that the work did all of what it was to do, and that the answer says what the calls show. What a
//! check proves stays proven by it; the judge may find a flaw. Playbooks are left out: their checks compare the answer
//! with the calls.
//!
//! # Where a failure's class comes from
//!
//! From the typed error of the cited call; for a check, of the probe or call it looks at, else of the last call of
//! the work. An exit code alone says nothing: what the program printed does, if it is among the known messages
//! (`messages`). A check that ran, with no such error, failed logically; a probe that could not run failed
//! environmentally. Only then does a model's word count. A refusal by a person has no class, nor has a check that
//! could have come out otherwise on the part that was cut from a record.

/// First version of the logic in which evidence falls only with what it rests on: a failed call that a judge cites beside
/// others, a new file beside a look at others, and the error text of a red command no longer decide.
pub(crate) const WEIGHED_SINCE: u32 = 23;
/// First version of the logic in which a judge is also asked about what only a look at the work's own files showed, and in which
/// words that a command only prints name no file that it is about.
pub(crate) const OWN_JUDGED_SINCE: u32 = 24;

mod answer;
mod bearing;
mod cannot_fail;
mod case;
mod check;
mod cut;
mod deeds;
mod executed;
mod figures;
mod hearing;
mod left_out;
mod looks;
mod messages;
mod named;
mod overlooked;
mod own_exit;
mod programs;
mod refused;
mod runner;
mod self_made;
mod settle;
mod strength;
mod subject;
mod undone;

pub(crate) use self::answer::{Share, WHOLE_JUDGED_SINCE, beside, in_its_words, look_at_the_whole};
pub use self::case::{Case, Run};
pub(crate) use self::case::{is_elsewhere, is_measured};
pub use self::check::by_check;
pub(crate) use self::check::class_of_the_work;
pub(crate) use self::deeds::{made_by, touched};
pub(crate) use self::figures::names_unseen_figure;
pub use self::hearing::{Hearing, NoClass};
pub(crate) use self::messages::printed;
pub(crate) use self::named::runs_alone;
pub(crate) use self::overlooked::overlooked;
pub(crate) use self::settle::EVIDENCE_CHARS_MAX;
pub use self::settle::{SettledVerdict, unjudged};
pub(crate) use self::strength::is_a_look;
pub(crate) use self::subject::speaks_of_the_answer;
pub use self::undone::{MatchedSubTask, UndonePass, undone};
