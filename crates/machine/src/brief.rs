//! A question to a model as data, one variant per purpose.
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

/// A question to a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Brief {
    /// R1: what does the person want?
    Perceive(Box<PerceiveBrief>),
    /// R2: which plan reaches it?
    Plan(Box<PlanBrief>),
    /// R2: what was achieved before the task was abandoned?
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
    /// Returns the purpose of the question.
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

/// The unusable previous answer and its error. A repair is asked for once.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// What was wrong with the answer, without the model's own text.
    pub error: String,
    /// The unusable answer.
    pub previous: String,
}

/// The brief of R1. It contains no date: words of time are not resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct PerceiveBrief {
    /// The person's input.
    pub raw_input: String,
    /// Last exchanges of the session, used only to resolve references.
    pub history: Vec<Exchange>,
    /// Questions answered so far.
    pub clarifications: Vec<Clarification>,
    /// Whether only a title, the scope and the deadline are asked for: the goal is long and refers to nothing outside itself.
    pub title_only: bool,
    /// Whether a question may be asked.
    pub may_ask: bool,
    /// Whether small talk may be answered at once.
    pub may_answer: bool,
    /// Machine and working directory.
    pub surroundings: Arc<Surroundings>,
    /// Set on the repair call.
    pub repair: Option<Repair>,
}

/// The brief of R2's plan and replan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanBrief {
    /// Specification of the task.
    pub spec: TaskSpec,
    /// Round number, from 1.
    pub round: u32,
    /// Direction of the replan; `None` in the first round.
    pub directive: Option<PlanDirective>,
    /// Number of alternatives to weigh before choosing, from the urgency.
    pub alternatives: u32,
    /// Memory's reply, as lines under fixed headings.
    pub calibration: Vec<CalibrationLine>,
    /// Playbook approaches that memory prefers, strongest first.
    pub preferred: Vec<ApproachName>,
    /// What the plan must not do, from memory and the directive together.
    pub limits: Limits,
    /// Existing tools that are not blocked.
    pub tools: Vec<Arc<ToolSpec>>,
    /// Earlier plans of this task.
    pub previous: Vec<PreviousPlan>,
    /// Matched outcomes that are kept; the plan covers only what is missing.
    pub kept: Vec<SubTaskOutcome>,
    /// Task criteria frozen by the first manifest; more may be added.
    pub task_criteria: Vec<Criterion>,
    /// Why earlier plans of this round were refused.
    pub refusals: Vec<String>,
    /// Last refused plan, with each reason beside the part that it concerns.
    pub refused: Option<String>,
    /// Remaining budgets and rounds, in words.
    pub left: String,
    /// Survey of the place where the task works.
    pub survey: Option<Survey>,
    /// The person's note on a plan that was shown.
    pub note: Option<String>,
    /// Machine and working directory.
    pub surroundings: Arc<Surroundings>,
    /// Set on the repair call.
    pub repair: Option<Repair>,
}

/// A line of memory under its heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationLine {
    /// Heading that it is listed under.
    pub heading: Heading,
    /// Line of text, with its reason.
    pub text: String,
}

/// The fixed headings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heading {
    /// The plan must not do this.
    MustNot,
    /// The plan should prefer this.
    ShouldPrefer,
    /// The plan may do this with caution.
    Caution,
    /// An approach that worked elsewhere and might work here; used to break symmetry.
    MightTry,
    /// Lessons of other kinds of tasks: shown, never enforced.
    Related,
    /// A fact that the operator stated.
    UserFact,
}

/// An earlier dispatched plan of this task.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviousPlan {
    /// Round in which it was dispatched.
    pub round: u32,
    /// Fingerprint of the plan.
    pub fingerprint: String,
    /// Intents of its sub-tasks.
    pub intents: Vec<String>,
    /// Playbook approaches it came from, if any.
    pub approaches: Vec<Approach>,
    /// Whether R4b judged it as failed (a plan that ended with a fault may be tried again).
    pub judged_failed: bool,
    /// Tool calls that its executors made.
    pub tool_calls: u64,
}

/// The brief of R2's partial report.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportBrief {
    /// Specification of the task.
    pub spec: TaskSpec,
    /// Rule that ended the task.
    pub ended_by: EndedBy,
    /// Reason, with the numbers.
    pub reason: String,
    /// Last verdicts on the task's own criteria.
    pub verdicts: Vec<Verdict>,
    /// Last verdicts on the sub-tasks' criteria.
    pub subtask_verdicts: Vec<Verdict>,
    /// Names of the criteria that were not met.
    pub unmet_criteria: Vec<String>,
    /// Output achieved so far.
    pub partial_output: Any,
}

/// The brief of R3.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteBrief {
    /// The person's request, verbatim.
    pub words: String,
    /// Sub-task to execute.
    pub subtask: Arc<SubTask>,
    /// Attempt number, from 1.
    pub attempt: u32,
    /// Conversation so far, over all attempts.
    pub turns: Vec<Turn>,
    /// Tools it may use, as offered.
    pub tools: Vec<Arc<ToolSpec>>,
    /// Names of tools that it may use after loading them; the same in every turn.
    pub loadable: Vec<String>,
    /// Calls of all attempts so far, with results.
    pub calls: Vec<Arc<ToolRecord>>,
    /// Why calls of the last step were not run (refused, repeated).
    pub notices: Vec<String>,
    /// Model–tool rounds left in this attempt.
    pub rounds_left: u32,
    /// Machine and working directory.
    pub surroundings: Arc<Surroundings>,
}

/// The brief of R4a: only criteria that code cannot judge.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeBrief {
    /// The person's request, verbatim.
    pub words: String,
    /// Intent of the sub-task.
    pub intent: String,
    /// Criteria to judge, each on its own.
    pub criteria: Vec<Criterion>,
    /// The executor's claims that criteria to judge cannot hold here.
    pub claims: Vec<Unmet>,
    /// Criteria that failed without a class: only the class is asked for.
    pub classify: Vec<CriterionId>,
    /// Claimed output.
    pub output: Any,
    /// The executor's doubt about its output, if any.
    pub uncertainty: Option<String>,
    /// Tool calls that serve as evidence.
    pub calls: Vec<Arc<ToolRecord>>,
    /// Machine and working directory.
    pub surroundings: Arc<Surroundings>,
    /// Set on the repair call.
    pub repair: Option<Repair>,
}

/// The brief of R4b: only criteria that code cannot judge, and the merge if there are several outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeBrief {
    /// The person's request, verbatim.
    pub words: String,
    /// Criteria to judge.
    pub criteria: Vec<Criterion>,
    /// Outcomes in sequence order.
    pub outcomes: Vec<SubTaskOutcome>,
    /// Intents of the sub-tasks, in the same order.
    pub intents: Vec<String>,
    /// Playbook approaches of the sub-tasks, if a playbook planned them.
    pub approaches: Vec<Option<Approach>>,
    /// Machine and working directory.
    pub surroundings: Arc<Surroundings>,
    /// Set on the repair call.
    pub repair: Option<Repair>,
}

/// The brief of R5's Dreamer for the words of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct DistilBrief {
    /// Kind of the rule: best practice or constraint.
    pub kind: SopKind,
    /// Space of the pair that the rule is for.
    pub space: String,
    /// Entity of the pair.
    pub entity: String,
    /// Lessons of the pair's newest records, newest first.
    pub lessons: Vec<String>,
}

/// The brief of R5's Dreamer for what a task taught: typed facts, and nothing that a tool read or printed.
#[derive(Clone, Debug, PartialEq)]
pub struct ReflectBrief {
    /// Intent of the task.
    pub intent: String,
    /// Rule that ended it.
    pub ended_by: EndedBy,
    /// Number of replans.
    pub replans: u32,
    /// Sentences of the criteria.
    pub criteria: Vec<String>,
    /// Criteria that were not met.
    pub unmet: Vec<String>,
    /// Lessons about single calls during the task.
    pub on_the_way: Vec<String>,
    /// Insight worded by the template.
    pub known: Insight,
}
