//! Interface `envelope`.

use a2a_edge::dispatch::{ENVELOPE_URI, WORK_URI, address, delivery, envelope, work};
use serde_json::Value;

use crate::Core;
use crate::bindings::exports::a2a_edge::core::envelope::{
    Address, Agent, Envelope, Fault, Guest, Handoffs, Kind, Opens, Reference, ReferenceType, Written,
};
use crate::fault::{invalid, parse};
use crate::work::owned;

impl Guest for Core {
    fn validate_json(request: String) -> String {
        envelope::validate_json(&request)
    }

    fn validate(request: String) -> Result<Option<Envelope>, Fault> {
        let request = parse("envelope", &request)?;
        Ok(envelope::validate(Some(&request))?.map(Envelope::from))
    }

    fn opening_json(metadata: String, handoffs: Handoffs) -> String {
        envelope::opening_json(&metadata, handoffs.into())
    }

    fn opening(metadata: String, handoffs: Handoffs) -> Result<Opens, Fault> {
        let metadata = parse("message.metadata", &metadata)?;
        let members = metadata
            .as_object()
            .ok_or_else(|| invalid("message.metadata", "expected an object"))?;
        let work = work::validate(members.get(WORK_URI), handoffs.into())?;
        let envelope = envelope::validate(members.get(ENVELOPE_URI))?;
        Ok(envelope::opening(work.as_ref(), envelope.as_ref())?.into())
    }

    fn write_back(message: Written) -> String {
        let choices: Vec<&str> = message.choices.iter().map(String::as_str).collect();
        let refs: Vec<envelope::Reference<&str>> = message.refs.iter().map(Reference::borrowed).collect();
        let written = envelope::Written {
            id: &message.id,
            thread: &message.thread,
            from: &message.from,
            kind: &message.kind,
            reply_to: message.reply_to.as_deref(),
            blocking: message.blocking,
            choices: &choices,
            choice: message.choice.as_deref(),
            refs: &refs,
        };
        serde_json::to_value(written).unwrap_or(Value::Null).to_string()
    }

    fn parse_address_json(address: String) -> String {
        address::parse_json(&address)
    }

    fn parse_address(address: String) -> Result<Address, Fault> {
        match address::Address::parse(&address) {
            Ok(address) => Ok(address.into()),
            Err(expected) => Err(invalid("address", expected)),
        }
    }

    fn recipients_json(message: String) -> String {
        address::recipients_json(&message)
    }

    fn recipients(message: String) -> Result<Vec<Address>, Fault> {
        let message = parse("message", &message)?;
        let recipients = address::recipients(&message)?;
        Ok(recipients.into_iter().map(Address::from).collect())
    }

    fn deliver_json(sender: String, message: String, directory: String) -> String {
        delivery::deliver_json(&sender, &message, &directory)
    }
}

impl From<envelope::Envelope<'_>> for Envelope {
    fn from(envelope: envelope::Envelope<'_>) -> Self {
        Self {
            to: owned(envelope.to),
            kind: envelope.kind.map(Kind::from),
            reply_to: envelope.reply_to.map(str::to_owned),
            blocking: envelope.blocking,
            choices: owned(envelope.choices),
            choice: envelope.choice.map(str::to_owned),
            refs: envelope.refs.into_iter().map(Reference::from).collect(),
        }
    }
}

impl From<envelope::Kind> for Kind {
    fn from(kind: envelope::Kind) -> Self {
        match kind {
            envelope::Kind::Message => Self::Message,
            envelope::Kind::Question => Self::Question,
            envelope::Kind::Answer => Self::Answer,
            envelope::Kind::Handoff => Self::Handoff,
            envelope::Kind::Notice => Self::Notice,
        }
    }
}

impl From<envelope::Opening> for Opens {
    fn from(opening: envelope::Opening) -> Self {
        match opening {
            envelope::Opening::Handoff => Self::Handoff,
            envelope::Opening::Status => Self::Status,
            envelope::Opening::Ask => Self::Ask,
            envelope::Opening::Note => Self::Note,
        }
    }
}

impl From<envelope::Reference<&str>> for Reference {
    fn from(reference: envelope::Reference<&str>) -> Self {
        let type_ = match reference.r#type {
            envelope::RefType::Task => ReferenceType::Task,
            envelope::RefType::Message => ReferenceType::Message,
        };
        Self {
            type_,
            id: reference.id.to_owned(),
        }
    }
}

impl Reference {
    fn borrowed(&self) -> envelope::Reference<&str> {
        let r#type = match self.type_ {
            ReferenceType::Task => envelope::RefType::Task,
            ReferenceType::Message => envelope::RefType::Message,
        };
        envelope::Reference { r#type, id: &self.id }
    }
}

impl From<address::Address<'_>> for Address {
    fn from(address: address::Address<'_>) -> Self {
        match address {
            address::Address::Human(handle) => Self::Human(handle.to_owned()),
            address::Address::Agent { owner, handle } => Self::Agent(Agent {
                owner: owner.map(str::to_owned),
                handle: handle.to_owned(),
            }),
            address::Address::Task(id) => Self::Task(id.to_owned()),
            address::Address::Run(id) => Self::Run(id.to_owned()),
            address::Address::Channel(name) => Self::Channel(name.to_owned()),
            address::Address::Peer(alias) => Self::Peer(alias.to_owned()),
        }
    }
}
