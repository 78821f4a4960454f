//! Lists, pipelines and compound commands.

use brush_parser::ast;

use super::{Certainty, Outcome, Walk};
use crate::command_line::expand;
use crate::command_line::grammar::{Meaning, meaning};
use crate::command_line::insides;
use crate::command_line::lex::Script;
use crate::command_line::state::{Directories, State};
use crate::command_line::verdict::Reason;

impl Walk {
    pub(super) fn list(
        &mut self,
        script: &Script,
        list: &ast::CompoundList,
        state: &mut State,
        certainty: Certainty,
    ) -> Outcome {
        let mut outcome = Outcome::same(state);
        for ast::CompoundListItem(item, separator) in &list.0 {
            if matches!(separator, ast::SeparatorOperator::Async) {
                self.and_or(script, item, &mut state.clone(), certainty);
                outcome = Outcome::same(state);
            } else {
                outcome = self.and_or(script, item, state, certainty);
                state.directories = reachable(outcome.success.clone().or(outcome.failure.clone()));
            }
        }
        outcome
    }

    fn and_or(
        &mut self,
        script: &Script,
        list: &ast::AndOrList,
        state: &mut State,
        certainty: Certainty,
    ) -> Outcome {
        let mut all = self.pipeline(script, &list.first, state, certainty);
        for item in &list.additional {
            all = match item {
                ast::AndOr::And(pipeline) => {
                    state.directories = reachable(all.success);
                    let next = self.pipeline(script, pipeline, state, Certainty::Perhaps);
                    Outcome { success: next.success, failure: all.failure.or(next.failure) }
                }
                ast::AndOr::Or(pipeline) => {
                    state.directories = reachable(all.failure);
                    let next = self.pipeline(script, pipeline, state, Certainty::Perhaps);
                    Outcome { success: all.success.or(next.success), failure: next.failure }
                }
            };
        }
        all
    }

    fn pipeline(
        &mut self,
        script: &Script,
        pipeline: &ast::Pipeline,
        state: &mut State,
        certainty: Certainty,
    ) -> Outcome {
        let outcome = match pipeline.seq.as_slice() {
            [only] => self.command(script, only, state, certainty),
            several => {
                let before = Outcome::same(state);
                for (at, command) in several.iter().enumerate() {
                    if at > 0 {
                        self.joint = " | ";
                    }
                    self.command(script, command, &mut state.clone(), certainty);
                }
                before
            }
        };
        if pipeline.bang {
            return Outcome { success: outcome.failure, failure: outcome.success };
        }
        outcome
    }

    fn command(
        &mut self,
        script: &Script,
        command: &ast::Command,
        state: &mut State,
        certainty: Certainty,
    ) -> Outcome {
        match command {
            ast::Command::Simple(simple) => self.simple(script, simple, state, certainty),
            ast::Command::Compound(compound, redirections) => {
                self.redirections(script, redirections.as_ref(), state);
                self.compound(script, compound, state, certainty)
            }
            ast::Command::ExtendedTest(test, redirections) => {
                self.redirections(script, redirections.as_ref(), state);
                self.condition(script, &test.expr, state);
                Outcome::same(state)
            }
            ast::Command::Function(function) => {
                self.refuse(Reason::Function);
                let ast::FunctionBody(body, redirections) = &function.body;
                let mut inner = state.clone();
                inner.directories = Directories::Unknown;
                self.redirections(script, redirections.as_ref(), &inner);
                self.compound(script, body, &mut inner, Certainty::Perhaps);
                Outcome::same(state)
            }
        }
    }

    fn compound(
        &mut self,
        script: &Script,
        compound: &ast::CompoundCommand,
        state: &mut State,
        certainty: Certainty,
    ) -> Outcome {
        use ast::CompoundCommand as Compound;
        match compound {
            Compound::BraceGroup(group) => return self.list(script, &group.list, state, certainty),
            Compound::Subshell(subshell) => {
                self.list(script, &subshell.list, &mut state.clone(), certainty);
            }
            Compound::Arithmetic(command) => self.arithmetic_command(script, &command.expr.value, state),
            Compound::ArithmeticForClause(clause) => {
                for part in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.arithmetic_command(script, &part.value, state);
                }
                self.looped(state, |walk, state| {
                    walk.list(script, &clause.body.list, state, Certainty::Perhaps);
                });
            }
            Compound::ForClause(clause) => self.for_loop(script, clause, state),
            Compound::CaseClause(clause) => self.case(script, clause, state),
            Compound::IfClause(clause) => self.branches(script, clause, state, certainty),
            Compound::WhileClause(ast::WhileOrUntilClauseCommand(condition, body, _))
            | Compound::UntilClause(ast::WhileOrUntilClauseCommand(condition, body, _)) => {
                self.looped(state, |walk, state| {
                    walk.list(script, condition, state, Certainty::Perhaps);
                    walk.list(script, &body.list, state, Certainty::Perhaps);
                });
            }
            Compound::Coprocess(coprocess) => {
                self.refuse(Reason::syntax("a coprocess"));
                self.command(script, &coprocess.body, &mut state.clone(), certainty);
            }
        }
        Outcome::same(state)
    }

    /// What a loop repeats may start where its end left off.
    fn looped(&mut self, state: &mut State, mut body: impl FnMut(&mut Self, &mut State)) {
        if !self.loops_move {
            let before = state.directories.clone();
            let found = self.findings.clone();
            let joint = self.joint;
            body(self, state);
            if state.directories == before {
                return;
            }
            self.loops_move = true;
            self.findings = found;
            self.joint = joint;
        }
        state.directories = Directories::Unknown;
        body(self, state);
        state.directories = Directories::Unknown;
    }

    fn for_loop(&mut self, script: &Script, clause: &ast::ForClauseCommand, state: &mut State) {
        for word in clause.values.iter().flatten() {
            self.word_substitutions(script, &word.value, state);
            let Meaning::Lexeme(index) = meaning(&word.value) else { continue };
            let values = script.word(index).map(|word| expand::arguments(word, state)).unwrap_or_default();
            if values.iter().any(|value| insides::are_named_by(value, state)) {
                self.refuse(Reason::Insides);
            }
        }
        let name = match meaning(&clause.variable_name) {
            Meaning::Text(text) => text.to_owned(),
            Meaning::Lexeme(index) => script
                .word(index)
                .and_then(|word| crate::command_line::lex::plain_text(&word.units))
                .unwrap_or_default(),
        };
        let assignable = self.assignable(&name, state);
        self.check(assignable);
        let outside = state.value(&name);
        state.set(&name, self.assigned.loop_value(&name));
        self.looped(state, |walk, state| {
            walk.list(script, &clause.body.list, state, Certainty::Perhaps);
        });
        state.set(&name, outside);
    }

    fn case(&mut self, script: &Script, clause: &ast::CaseClauseCommand, state: &mut State) {
        self.word_substitutions(script, &clause.value.value, state);
        let mut after = state.directories.clone();
        for item in &clause.cases {
            for pattern in &item.patterns {
                self.word_substitutions(script, &pattern.value, state);
            }
            if let Some(list) = &item.cmd {
                // An item may also be reached from the one before it.
                state.directories = after.clone();
                self.list(script, list, state, Certainty::Perhaps);
                after = after.or(state.directories.clone());
            }
        }
        state.directories = after;
    }

    fn branches(
        &mut self,
        script: &Script,
        clause: &ast::IfClauseCommand,
        state: &mut State,
        certainty: Certainty,
    ) {
        let condition = self.list(script, &clause.condition, state, certainty);
        state.directories = reachable(condition.success);
        self.list(script, &clause.then, state, Certainty::Perhaps);
        let mut after = state.directories.clone();
        let mut failed = reachable(condition.failure);
        for branch in clause.elses.iter().flatten() {
            state.directories = failed.clone();
            if let Some(condition) = &branch.condition {
                let outcome = self.list(script, condition, state, Certainty::Perhaps);
                state.directories = reachable(outcome.success);
                failed = reachable(outcome.failure);
            }
            self.list(script, &branch.body, state, Certainty::Perhaps);
            after = after.or(state.directories.clone());
        }
        state.directories = after.or(failed);
    }
}

/// Code that is never reached has no directory; it is safer to say that it is not known.
fn reachable(directories: Directories) -> Directories {
    if directories == Directories::none() { Directories::Unknown } else { directories }
}
