//! The approvals of all runs in memory, with the indexes that an inbox needs: each listing begins at the one that leaves least.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use crate::store::{ApprovalFilter, ApprovalRow, ApprovalState, RunKey, RunRow};

/// What a listing can be narrowed by.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Facet {
    All,
    Run(RunKey),
    Approver(String),
    Owner(String),
    Agent(String),
    Tool(String),
}

#[derive(Clone, Default)]
pub(super) struct Approvals {
    last_position: i64,
    by_position: BTreeMap<i64, Stored>,
    positions: BTreeMap<(RunKey, u64), i64>,
    ids: HashMap<String, i64>,
    index: HashMap<(Facet, ApprovalState), BTreeSet<i64>>,
    approvers: HashMap<RunKey, BTreeSet<String>>,
}

#[derive(Clone)]
pub(super) struct Stored {
    pub(super) run: RunKey,
    pub(super) row: ApprovalRow,
    pub(super) arguments: Option<String>,
}

impl Approvals {
    pub(super) fn insert(&mut self, run: &RunRow, row: &ApprovalRow, arguments: Option<&String>) {
        self.last_position += 1;
        let position = self.last_position;
        self.ids.insert(row.approval_id.clone(), position);
        self.positions.insert((run.id, row.number), position);
        self.approvers.entry(run.id).or_default().extend(row.approvers.iter().cloned());
        self.put(run, row, position, true);
        self.by_position.insert(position, Stored { run: run.id, row: row.clone(), arguments: arguments.cloned() });
    }

    pub(super) fn update(&mut self, run: &RunRow, row: &ApprovalRow) {
        let Some(position) = self.positions.get(&(run.id, row.number)).copied() else { return };
        if let Some(stored) = self.by_position.get_mut(&position) {
            let before = std::mem::replace(&mut stored.row, row.clone());
            self.put(run, &before, position, false);
            self.put(run, row, position, true);
        }
    }

    pub(super) fn remove_run(&mut self, run: &RunRow) {
        let positions: Vec<i64> = self.of_run(run.id, 0..=u64::MAX).map(|(position, _)| position).collect();
        for position in positions {
            if let Some(stored) = self.by_position.remove(&position) {
                self.put(run, &stored.row, position, false);
                self.ids.remove(&stored.row.approval_id);
                self.positions.remove(&(run.id, stored.row.number));
            }
        }
        self.approvers.remove(&run.id);
    }

    /// The approvals of a run with these numbers, rising.
    pub(super) fn of_run(&self, run: RunKey, numbers: RangeInclusive<u64>) -> impl Iterator<Item = (i64, &Stored)> {
        let places =
            if numbers.is_empty() { None } else { Some(self.positions.range((run, *numbers.start())..=(run, *numbers.end()))) };
        places.into_iter().flatten().filter_map(|(_, position)| Some((*position, self.by_position.get(position)?)))
    }

    pub(super) fn of_id(&self, approval_id: &str) -> Option<&Stored> {
        self.by_position.get(self.ids.get(approval_id)?)
    }

    pub(super) fn is_approver(&self, run: RunKey, principal: &str) -> bool {
        self.approvers.get(&run).is_some_and(|approvers| approvers.contains(principal))
    }

    /// What the index holds that leaves least of `filter`, behind a position, in the order of creation. `run` is the filter's run.
    pub(super) fn candidates(
        &self,
        filter: &ApprovalFilter,
        run: Option<RunKey>,
        after: i64,
    ) -> impl Iterator<Item = (i64, &Stored)> {
        let facet = match (run, &filter.approver, &filter.owner, &filter.tool_name, &filter.agent_id) {
            (Some(run), ..) => Facet::Run(run),
            (_, Some(approver), ..) => Facet::Approver(approver.clone()),
            (_, _, Some(owner), ..) => Facet::Owner(owner.clone()),
            (_, _, _, Some(tool), _) => Facet::Tool(tool.clone()),
            (_, _, _, _, Some(agent)) => Facet::Agent(agent.clone()),
            _ => Facet::All,
        };
        let mut ranges: Vec<_> = ApprovalState::ALL
            .into_iter()
            .filter(|state| filter.state.is_none_or(|wanted| wanted == *state))
            .filter_map(|state| self.index.get(&(facet.clone(), state)))
            .map(|positions| positions.range(after.saturating_add(1)..).copied().peekable())
            .collect();
        // Of the states' lists, each in order, always the earliest.
        std::iter::from_fn(move || {
            let next = ranges.iter_mut().filter_map(|range| range.peek().copied()).min()?;
            ranges.iter_mut().find_map(|range| range.next_if_eq(&next))
        })
        .filter_map(|position| Some((position, self.by_position.get(&position)?)))
    }

    /// Puts a row into the index, or takes it out.
    fn put(&mut self, run: &RunRow, row: &ApprovalRow, position: i64, present: bool) {
        let facets = [
            Facet::All,
            Facet::Run(run.id),
            Facet::Owner(run.owner.clone()),
            Facet::Agent(run.agent_id.clone()),
            Facet::Tool(row.tool_name.clone()),
        ];
        for facet in facets.into_iter().chain(row.approvers.iter().cloned().map(Facet::Approver)) {
            let key = (facet, row.state());
            if present {
                self.index.entry(key).or_default().insert(position);
            } else if let Some(positions) = self.index.get_mut(&key) {
                positions.remove(&position);
                if positions.is_empty() {
                    self.index.remove(&key);
                }
            }
        }
    }
}
