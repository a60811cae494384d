//! Interface `projection`.

use a2a_edge::a2a::TaskState as CoreState;
use a2a_edge::dispatch::facts::{Facts, Stage as CoreStage};
use a2a_edge::dispatch::gate::OpenGate;
use a2a_edge::dispatch::{SYSTEM_ADDRESS, projection};

use crate::Core;
use crate::bindings::exports::a2a_edge::core::projection::{
    Fault, Gate, Guest, Projected, Stage, TaskState, WorkState,
};
use crate::fault::parse;

impl Guest for Core {
    fn project_json(facts: String, system: Option<String>) -> String {
        projection::project_json(&facts, &system.unwrap_or_default())
    }

    fn project(facts: String, system: Option<String>) -> Result<Projected, Fault> {
        let facts = parse("facts", &facts)?;
        let facts = Facts::read(&facts)?;
        let system = system.filter(|system| !system.is_empty());
        Ok(projection::project(&facts, system.as_deref().unwrap_or(SYSTEM_ADDRESS)).into())
    }
}

impl From<projection::Projection<'_>> for Projected {
    fn from(projection: projection::Projection<'_>) -> Self {
        Self {
            row: projection.row,
            state: projection.state.into(),
            text: projection.text.clone().into_owned(),
            message_id: projection.source.and_then(|note| note.id).map(str::to_owned),
            stage: projection.stage.map(Stage::from),
            gates: projection.gates.iter().map(Gate::from).collect(),
            work: projection.work_state().map(WorkState::from),
        }
    }
}

impl From<CoreState> for TaskState {
    fn from(state: CoreState) -> Self {
        match state {
            CoreState::Submitted => Self::Submitted,
            CoreState::Working => Self::Working,
            CoreState::Completed => Self::Completed,
            CoreState::Failed => Self::Failed,
            CoreState::Canceled => Self::Canceled,
            CoreState::InputRequired => Self::InputRequired,
            CoreState::Rejected => Self::Rejected,
            CoreState::AuthRequired => Self::AuthRequired,
        }
    }
}

impl From<CoreStage> for Stage {
    fn from(stage: CoreStage) -> Self {
        match stage {
            CoreStage::Review => Self::Review,
            CoreStage::Landing => Self::Landing,
        }
    }
}

impl From<&OpenGate<'_>> for Gate {
    fn from(gate: &OpenGate<'_>) -> Self {
        Self {
            id: gate.id.to_owned(),
            type_: gate.r#type.to_owned(),
            opened_at: gate.opened_at.to_string(),
        }
    }
}

impl From<projection::WorkState<'_>> for WorkState {
    fn from(state: projection::WorkState<'_>) -> Self {
        Self {
            task: state.task.to_owned(),
            title: state.title.to_owned(),
            status: state.status.to_owned(),
            stage: state.stage.map(Stage::from),
        }
    }
}
