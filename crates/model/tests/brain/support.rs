//! Briefs as roles would make them, and a catalogue with the tools that playbooks call.

use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_extract::draft::{CriterionDraft, ExecuteDraft, PlanDraft, SubTaskDraft};
use setpoint_extract::extract;
use setpoint_machine::Brief;
use setpoint_machine::brief::{ExecuteBrief, PlanBrief, PreviousPlan};
use setpoint_model::playbook::{Library, Playbook};
use setpoint_protocol::Any;
use setpoint_protocol::limits::TOOL_ROUNDS_MAX;
use setpoint_protocol::message::{
    ActionState, Constraints, DirectiveClass, Limits, Loss, MacroState, PlanDirective, RoundStanding,
    SubTask, TaskSpec, Urgency,
};
use setpoint_protocol::record::{ModelFailure, Surroundings};
use setpoint_protocol::tool::{CapabilityClass, ErrorKind, Phase, ToolCall, ToolRecord, ToolSpec};

/// Every tool that a shipped playbook calls: required and other parameters.
const TOOLS: &[(&str, CapabilityClass, &[&str], &[&str])] = &[
    ("shell", CapabilityClass::Run, &["command"], &["timeout_s", "cwd"]),
    ("read_file", CapabilityClass::Read, &["path"], &["offset", "limit"]),
    ("write_file", CapabilityClass::Write, &["path", "content"], &["overwrite"]),
    ("list_dir", CapabilityClass::Read, &["path"], &["hidden"]),
    (
        "grep",
        CapabilityClass::Search,
        &["pattern", "path"],
        &["glob", "fixed", "ignore_case", "limit", "hidden"],
    ),
    ("glob", CapabilityClass::Search, &["pattern"], &["root", "limit", "hidden"]),
    ("find_files", CapabilityClass::Search, &["name"], &["root", "limit"]),
    ("disk_usage", CapabilityClass::Read, &["path"], &["depth", "limit", "files"]),
    ("hash_files", CapabilityClass::Read, &[], &["paths", "root", "algorithm", "only_duplicates", "limit"]),
    ("count_lines", CapabilityClass::Read, &["path"], &["by"]),
    ("table_summary", CapabilityClass::Read, &["path"], &["kind", "delimiter"]),
    ("file_facts", CapabilityClass::Read, &["path"], &[]),
    ("compare_dirs", CapabilityClass::Read, &["left", "right"], &["limit"]),
    ("broken_links", CapabilityClass::Search, &["path"], &["limit"]),
    ("git_report", CapabilityClass::Read, &["path"], &[]),
    ("rename_preview", CapabilityClass::Read, &["dir", "find", "replace"], &["anywhere"]),
    ("rename_files", CapabilityClass::Write, &["dir", "find", "replace"], &["anywhere"]),
    ("archive_create", CapabilityClass::Write, &["source", "archive"], &[]),
    ("archive_list", CapabilityClass::Read, &["archive"], &[]),
    ("manifest_create", CapabilityClass::Write, &["root", "manifest"], &["algorithm"]),
    ("manifest_verify", CapabilityClass::Read, &["manifest"], &["root"]),
];

pub(crate) fn catalogue() -> Vec<ToolSpec> {
    let spec = |(name, class, required, optional): &(&str, CapabilityClass, &[&str], &[&str])| {
        let properties: serde_json::Map<String, Value> =
            required.iter().chain(*optional).map(|key| ((*key).to_owned(), json!({}))).collect();
        ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            gives: String::new(),
            input_schema: Any(json!({"type": "object", "properties": properties, "required": required})),
            class: *class,
            volatile: false,
            core: false,
        }
    };
    TOOLS.iter().map(spec).collect()
}

/// Playbooks with two approaches that check each other, in the place of shipped ones that have one.
pub(crate) fn brain_of_two() -> Playbook {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("largest-files.toml", include_str!("playbooks/largest-files.toml")),
        ("file-checksum.toml", include_str!("playbooks/file-checksum.toml")),
        ("manifest-create.toml", include_str!("playbooks/manifest-create.toml")),
    ] {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let library = Library::load(Some(dir.path()));
    assert_eq!(library.broken().iter().map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
    Playbook::new(Arc::new(library))
}

pub(crate) fn brain() -> Playbook {
    Playbook::new(Arc::new(Library::load(None)))
}

pub(crate) fn surroundings() -> Arc<Surroundings> {
    Arc::new(Surroundings {
        cwd: "/home/user/project".to_owned(),
        home: "/home/user".to_owned(),
        workspace: "/home/user/project/.setpoint".to_owned(),
        os: "linux".to_owned(),
        ..Surroundings::default()
    })
}

pub(crate) fn plan_brief(goal: &str) -> PlanBrief {
    PlanBrief {
        spec: TaskSpec {
            title: String::new(),
            intent: goal.to_owned(),
            constraints: Constraints::default(),
            raw_input: goal.to_owned(),
            clarifications: Vec::new(),
        },
        round: 1,
        directive: None,
        alternatives: 1,
        calibration: Vec::new(),
        preferred: Vec::new(),
        limits: Limits::default(),
        tools: catalogue().into_iter().map(Arc::new).collect(),
        previous: Vec::new(),
        kept: Vec::new(),
        task_criteria: Vec::new(),
        refusals: Vec::new(),
        refused: None,
        survey: None,
        left: String::new(),
        note: None,
        surroundings: surroundings(),
        repair: None,
    }
}

pub(crate) fn plan(brain: &Playbook, brief: &PlanBrief) -> Result<PlanDraft, ModelFailure> {
    let reply = brain.reply(&Brief::Plan(Box::new(brief.clone())))?;
    Ok(extract(&reply.text()).unwrap())
}

/// The brief of the round after `draft` failed, as R2 makes it.
pub(crate) fn after_failure(
    before: &PlanBrief,
    draft: &PlanDraft,
    directive: ActionState,
    blocked_tools: &[&str],
    blocked_targets: &[&str],
) -> PlanBrief {
    let limits = Limits {
        blocked_tools: blocked_tools.iter().map(|id| id.parse().unwrap()).collect(),
        blocked_targets: blocked_targets.iter().map(|&target| target.to_owned()).collect(),
        caution_tools: Vec::new(),
    };
    let mut brief = before.clone();
    brief.round += 1;
    brief.previous.push(PreviousPlan {
        round: before.round,
        fingerprint: format!("plan {}", before.round),
        intents: draft.subtasks.iter().map(|subtask| subtask.intent.clone()).collect(),
        approaches: draft.subtasks.iter().filter_map(|subtask| subtask.approach.clone()).collect(),
        judged_failed: true,
        tool_calls: 1,
    });
    brief.directive = Some(PlanDirective {
        loss: Loss::default(),
        prev_directive: MacroState::Init,
        directive,
        blocked_tools: limits.blocked_tools.clone(),
        blocked_targets: limits.blocked_targets.clone(),
        failed_criterion: String::new(),
        failure_class: DirectiveClass::Logical,
        findings: Vec::new(),
        budget_pressure: 0.0,
        matched: Vec::new(),
        standing: RoundStanding::default(),
        failed_subtasks: Vec::new(),
        grad_l: 0.0,
        grad_l_budget: 0.0,
        urgency: Urgency::Normal,
        rationale: String::new(),
    });
    brief.tools.retain(|tool| !limits.blocked_tools.iter().any(|blocked| blocked.as_str() == tool.name));
    brief.limits = limits;
    brief
}

pub(crate) fn execute_brief(draft: &SubTaskDraft) -> ExecuteBrief {
    ExecuteBrief {
        words: String::new(),
        subtask: Arc::new(SubTask {
            subtask_id: "00000000-0000-7000-8000-000000000001".parse().unwrap(),
            intent: draft.intent.clone(),
            success_criteria: Vec::new(),
            context: String::new(),
            outputs: String::new(),
            inputs: Vec::new(),
            deadline: None,
            is_only: false,
            sequence: 1,
            tools: draft.tools.iter().map(|tool| tool.parse().unwrap()).collect(),
            limits: Limits::default(),
            fingerprint: String::new(),
            approach: draft.approach.clone(),
            baseline: Vec::new(),
        }),
        attempt: 1,
        turns: vec![],
        loadable: vec![],
        tools: catalogue().into_iter().map(Arc::new).collect(),
        calls: Vec::new(),
        notices: Vec::new(),
        rounds_left: TOOL_ROUNDS_MAX,
        surroundings: surroundings(),
    }
}

/// What R3 does next: a call, or the answer.
pub(crate) enum Next {
    Call(ToolCall),
    Answer(ExecuteDraft),
}

pub(crate) fn execute(brain: &Playbook, brief: &ExecuteBrief) -> Result<Next, ModelFailure> {
    let reply = brain.reply(&Brief::Execute(Box::new(brief.clone())))?;
    Ok(match reply.tool_calls().next() {
        Some(call) => Next::Call(call),
        None => Next::Answer(extract(&reply.text()).unwrap()),
    })
}

/// The record of a call that came back with these facts, or failed with this error.
pub(crate) fn record(
    brief: &ExecuteBrief,
    call: &ToolCall,
    result: Result<Value, ErrorKind>,
) -> Arc<ToolRecord> {
    let n = u32::try_from(brief.calls.len() + 1).unwrap();
    let id = format!("r3.1/{n}");
    let tool = match call.input.get("command").and_then(Value::as_str) {
        Some(command) => format!("shell/{}", command.split_whitespace().next().unwrap()),
        None => call.tool.clone(),
    };
    let (ok, error_kind, facts) = match result {
        Ok(facts) => (true, None, Some(Any(facts))),
        Err(kind) => (false, Some(kind), None),
    };
    Arc::new(ToolRecord {
        call_id: id.parse().unwrap(),
        attempt: brief.attempt,
        phase: Phase::Work,
        tool: tool.parse().unwrap(),
        tools: Vec::new(),
        input: call.input.clone(),
        target: String::new(),
        ok,
        error_kind,
        exit_code: None,
        evidence: "what it printed".to_owned(),
        facts,
        duration_ms: 1,
        executed_files: Vec::new(),
        side_effect: Default::default(),
        tier: None,
    })
}

pub(crate) fn criterion_text(criterion: &CriterionDraft) -> &str {
    match criterion {
        CriterionDraft::Plain(text) | CriterionDraft::Structured { criterion: text, .. } => text,
    }
}

pub(crate) fn check_of(criterion: &CriterionDraft) -> Option<&Any> {
    match criterion {
        CriterionDraft::Plain(_) => None,
        CriterionDraft::Structured { check, .. } => check.as_ref(),
    }
}
