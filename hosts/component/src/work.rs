//! Interface `work`.

use a2a_edge::dispatch::{draft, work};

use crate::Core;
use crate::bindings::exports::a2a_edge::core::work::{
    Draft, Fault, Guest, Handoff, Handoffs, Priority, Request, Risk,
};
use crate::fault::parse;

impl Guest for Core {
    fn validate_json(request: String, handoffs: Handoffs) -> String {
        work::validate_json(&request, handoffs.into())
    }

    fn validate(request: String, handoffs: Handoffs) -> Result<Option<Request>, Fault> {
        let request = parse("work", &request)?;
        Ok(work::validate(Some(&request), handoffs.into())?.map(Request::from))
    }

    fn shape_draft_json(request: String) -> String {
        draft::shape_json(&request)
    }

    fn shape_draft(handoff: Handoff) -> Draft {
        let borrowed = work::Handoff {
            title: &handoff.title,
            acceptance: handoff.acceptance.iter().map(String::as_str).collect(),
            writes: handoff.writes.iter().map(String::as_str).collect(),
            priority: handoff.priority.map(work::Priority::from),
            labels: handoff.labels.iter().map(String::as_str).collect(),
        };
        draft::Draft::of(&borrowed).into()
    }
}

impl From<Handoffs> for work::Handoffs {
    fn from(handoffs: Handoffs) -> Self {
        match handoffs {
            Handoffs::Taken => Self::Taken,
            Handoffs::Refused => Self::Refused,
        }
    }
}

impl From<work::WorkRequest<'_>> for Request {
    fn from(request: work::WorkRequest<'_>) -> Self {
        match request {
            work::WorkRequest::Handoff(handoff) => Self::Handoff(handoff.into()),
            work::WorkRequest::Status { task } => Self::Status(task.map(str::to_owned)),
        }
    }
}

impl From<work::Handoff<'_>> for Handoff {
    fn from(handoff: work::Handoff<'_>) -> Self {
        Self {
            title: handoff.title.to_owned(),
            acceptance: owned(handoff.acceptance),
            writes: owned(handoff.writes),
            priority: handoff.priority.map(Priority::from),
            labels: owned(handoff.labels),
        }
    }
}

impl From<draft::Draft> for Draft {
    fn from(draft: draft::Draft) -> Self {
        Self {
            title: draft.title,
            acceptance: draft.acceptance,
            writes: draft.writes,
            priority: draft.priority.into(),
            labels: draft.labels,
            risk: match draft.risk {
                draft::Risk::Highest => Risk::Highest,
            },
        }
    }
}

impl From<Priority> for work::Priority {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Urgent => Self::Urgent,
            Priority::High => Self::High,
            Priority::Medium => Self::Medium,
            Priority::Low => Self::Low,
            Priority::None => Self::None,
        }
    }
}

impl From<work::Priority> for Priority {
    fn from(priority: work::Priority) -> Self {
        match priority {
            work::Priority::Urgent => Self::Urgent,
            work::Priority::High => Self::High,
            work::Priority::Medium => Self::Medium,
            work::Priority::Low => Self::Low,
            work::Priority::None => Self::None,
        }
    }
}

/// Texts that outlive the request they were read from.
pub(crate) fn owned(texts: Vec<&str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}
