//! What a model is asked, as data: one variant a purpose.
//!
//! A role's `prompt.rs` renders the text from the same brief, so text and data cannot disagree.

use std::sync::Arc;

use setpoint_protocol::message::{
    Approach, ApproachName, Clarification, Criterion, EndedBy, Insight, Limits, PlanDirective, SopKind,
    SubTask, SubTaskOutcome, TaskSpec, Unmet, Verdict,
};
use setpoint_protocol::record::{Exchange, Purpose, Surroundings, Survey};
use setpoint_protocol::tool::{ToolRecord, ToolSpec};
use setpoint_protocol::{Any, CriterionId};

use crate::conversation::Turn;

/// One question to a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Brief {
    /// R1: what is wanted?
    Perceive(Box<PerceiveBrief>),
    /// R2: how is it reached?
    Plan(Box<PlanBrief>),
    /// R2: what was achieved before it was given up?
    Report(Box<ReportBrief>),
    /// R3: what is the next step?
    Execute(Box<ExecuteBrief>),
    /// R4a: do these criteria hold?
    Judge(Box<JudgeBrief>),
    /// R4b: what is the whole, and does it hold?
    Merge(Box<MergeBrief>),
    /// R5: how is a rule put into words?
    Distil(Box<DistilBrief>),
    /// R5: what did a task teach?
    Reflect(Box<ReflectBrief>),
}

impl Brief {
    /// What it is for.
    #[must_use]
    pub const fn purpose(&self) -> Purpose {
        match self {
            Brief::Perceive(_) => Purpose::Perceive,
            Brief::Plan(_) => Purpose::Plan,
            Brief::Report(_) => Purpose::Report,
            Brief::Execute(_) => Purpose::Execute,
            Brief::Judge(_) => Purpose::Judge,
            Brief::Merge(_) => Purpose::Merge,
            Brief::Distil(_) => Purpose::Distil,
            Brief::Reflect(_) => Purpose::Reflect,
        }
    }
}

/// The answer before was not usable; here is why. Asked once.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// What was wrong with it, without the model's own text.
    pub error: String,
    /// The answer that could not be used.
    pub previous: String,
}

/// For R1. It holds no date: time words stay as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct PerceiveBrief {
    /// The person's input.
    pub raw_input: String,
    /// The session's last exchanges, to resolve references only.
    pub history: Vec<Exchange>,
    /// What was asked and answered so far.
    pub clarifications: Vec<Clarification>,
    /// Whether only a title is wanted, with scope and deadline: the text stands on its own and is long.
    pub title_only: bool,
    /// Whether a question may be asked.
    pub may_ask: bool,
    /// Whether small talk may be answered at once.
    pub may_answer: bool,
    /// Machine and place.
    pub surroundings: Arc<Surroundings>,
    /// Set on the repair call.
    pub repair: Option<Repair>,
}

/// For R2's plan and replan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanBrief {
    /// What is wanted.
    pub spec: TaskSpec,
    /// The round, from 1.
    pub round: u32,
    /// The direction; none in the first round.
    pub directive: Option<PlanDirective>,
    /// How many alternatives to weigh before choosing, from the urgency.
    pub alternatives: u32,
    /// What memory says, as lines under fixed headings.
    pub calibration: Vec<CalibrationLine>,
    /// Playbooks' approaches that memory prefers, the strongest first.
    pub preferred: Vec<ApproachName>,
    /// Everything the plan must not do: memory's and the directive's.
    pub limits: Limits,
    /// Tools that exist and are not blocked.
    pub tools: Vec<Arc<ToolSpec>>,
    /// Plans of this task so far.
    pub previous: Vec<PreviousPlan>,
    /// Outcomes that matched and are kept; the plan covers only what is missing.
    pub kept: Vec<SubTaskOutcome>,
    /// Task criteria frozen by the first manifest; more may be added.
    pub task_criteria: Vec<Criterion>,
    /// Why the plans before this one in this round were refused.
    pub refusals: Vec<String>,
    /// The last refused plan, with each reason beside what it concerns.
    pub refused: Option<String>,
    /// What is left of the budgets and rounds, in words.
    pub left: String,
    /// What there is where the task works.
    pub survey: Option<Survey>,
    /// What the person said to a plan that was shown.
    pub note: Option<String>,
    /// Machine and place.
    pub surroundings: Arc<Surroundings>,
    /// Set on the repair call.
    pub repair: Option<Repair>,
}

/// One line of memory, under its heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationLine {
    /// The heading.
    pub heading: Heading,
    /// The line, with its reason.
    pub text: String,
}

/// The fixed headings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heading {
    /// Must not.
    MustNot,
    /// Should prefer.
    ShouldPrefer,
    /// Caution.
    Caution,
    /// What worked elsewhere and might work here; when symmetry is to be broken.
    MightTry,
    /// What other kinds of tasks taught: to look at, never to be held to.
    Related,
    /// What the operator stated.
    UserFact,
}

/// A plan of this task that was dispatched before.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviousPlan {
    /// The round.
    pub round: u32,
    /// Its fingerprint.
    pub fingerprint: String,
    /// The intents of its sub-tasks.
    pub intents: Vec<String>,
    /// Where a playbook's plan came from.
    pub approaches: Vec<Approach>,
    /// Whether R4b judged it and it failed (a plan that died of a fault may be tried again).
    pub judged_failed: bool,
    /// Tool calls that its executors made.
    pub tool_calls: u64,
}

/// For R2's partial report.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportBrief {
    /// What was wanted.
    pub spec: TaskSpec,
    /// Which rule ended it.
    pub ended_by: EndedBy,
    /// Why, with the numbers.
    pub reason: String,
    /// The last verdicts on the task's own criteria.
    pub verdicts: Vec<Verdict>,
    /// The last verdicts on the sub-tasks' criteria.
    pub subtask_verdicts: Vec<Verdict>,
    /// What was not met, by name.
    pub unmet_criteria: Vec<String>,
    /// What was achieved.
    pub partial_output: Any,
}

/// For R3.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteBrief {
    /// What the person asked, verbatim.
    pub words: String,
    /// The work.
    pub subtask: Arc<SubTask>,
    /// The attempt, from 1.
    pub attempt: u32,
    /// What was said and found so far, over all attempts.
    pub turns: Vec<Turn>,
    /// Tools it may use, as they are offered.
    pub tools: Vec<Arc<ToolSpec>>,
    /// The names of tools that it may use once it has loaded them; the same in every turn.
    pub loadable: Vec<String>,
    /// All calls so far, of all attempts, with results.
    pub calls: Vec<Arc<ToolRecord>>,
    /// Why calls of the last step were not run (refused, repeated).
    pub notices: Vec<String>,
    /// Model–tool rounds left in this attempt.
    pub rounds_left: u32,
    /// Machine and place.
    pub surroundings: Arc<Surroundings>,
}

/// For R4a: only criteria that code cannot judge.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeBrief {
    /// What the person asked, verbatim.
    pub words: String,
    /// What the sub-task was for.
    pub intent: String,
    /// The criteria to judge, each on its own.
    pub criteria: Vec<Criterion>,
    /// What the executor says cannot hold here, of the criteria to judge.
    pub claims: Vec<Unmet>,
    /// Criteria that failed without a class: only the class is asked for.
    pub classify: Vec<CriterionId>,
    /// The claim.
    pub output: Any,
    /// What R3 doubts.
    pub uncertainty: Option<String>,
    /// The evidence.
    pub calls: Vec<Arc<ToolRecord>>,
    /// Machine and place.
    pub surroundings: Arc<Surroundings>,
    /// Set on the repair call.
    pub repair: Option<Repair>,
}

/// For R4b: only criteria that code cannot judge, and the merge where more than one output needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeBrief {
    /// What the person asked, verbatim.
    pub words: String,
    /// The criteria to judge.
    pub criteria: Vec<Criterion>,
    /// The outcomes in sequence order; intents stand beside them.
    pub outcomes: Vec<SubTaskOutcome>,
    /// The sub-tasks' intents, in the same order.
    pub intents: Vec<String>,
    /// Where the sub-tasks come from, when a playbook planned them.
    pub approaches: Vec<Option<Approach>>,
    /// Machine and place.
    pub surroundings: Arc<Surroundings>,
    /// Set on the repair call.
    pub repair: Option<Repair>,
}

/// For R5's Dreamer: the words of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct DistilBrief {
    /// Which way it points.
    pub kind: SopKind,
    /// The space of the pair that it is made for.
    pub space: String,
    /// The entity.
    pub entity: String,
    /// What the newest records of the pair say, newest first.
    pub lessons: Vec<String>,
}

/// For R5's Dreamer: what a task taught. Typed facts, and nothing that a tool read or printed.
#[derive(Clone, Debug, PartialEq)]
pub struct ReflectBrief {
    /// What was wanted.
    pub intent: String,
    /// Which rule ended it.
    pub ended_by: EndedBy,
    /// Replans that there were.
    pub replans: u32,
    /// The criteria, in words.
    pub criteria: Vec<String>,
    /// Those that were not met.
    pub unmet: Vec<String>,
    /// What was learnt about single calls on the way.
    pub on_the_way: Vec<String>,
    /// What is known by template.
    pub known: Insight,
}
