//! Parameters of an operation as data: one table says what is taken, and one pass finds every field at fault.
//!
//! The limits are those of the session coordination (§9.3 and §9.4): characters are Unicode scalar values,
//! null is no value of any type unless a parameter says so, unknown members are ignored.

mod rule;
mod schema;

pub use rule::Rule;
pub use schema::schema;
use serde_json::{Map, Value};

use crate::a2a::decode::Decoder;
use crate::a2a::{Chunk, Handover};
use crate::coordination::resource::ResourceId;
use crate::dispatch::artifact::WorkArtifact;
use crate::dispatch::inbound::is_http_url;
use crate::dispatch::verdict::Fault;
use crate::refusal::Violation;
use crate::text;

/// The longest id, in characters.
pub const ID_CHARS: usize = 64;

/// A parameter of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its member in the body.
    pub name: &'static str,
    /// Whether it must be there; a required text is also never blank, a required list never empty.
    pub required: bool,
    /// What it may be.
    pub shape: Shape,
    /// What it means, for people.
    pub about: &'static str,
}

impl Param {
    /// A parameter that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self {
            name,
            required: false,
            shape,
            about,
        }
    }

    /// A parameter that must be there.
    #[must_use]
    pub const fn required(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self {
            name,
            required: true,
            shape,
            about,
        }
    }
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// One line of at most this many characters.
    Line(usize),
    /// Text of at most this many characters, over any number of lines.
    Text(usize),
    /// As [`Shape::Text`], and never blank, required or not.
    Filled(usize),
    /// The id of a record.
    Id,
    /// One of these.
    Choice(&'static [&'static str]),
    /// One of these, or null.
    ChoiceOrNull(&'static [&'static str]),
    /// A whole number between these, both included.
    Integer(u32, u32),
    /// True or false.
    Flag,
    /// Up to this many entries of one shape; one at least where it is required.
    List(usize, &'static Shape),
    /// As a list, with no two entries alike.
    Set(usize, &'static Shape),
    /// An object with these members; others are ignored.
    Object(&'static [Param]),
    /// A resource id: a path, a glob or `scheme:id`.
    Resource,
    /// An absolute https URL of at most this many characters.
    HttpsUrl(usize),
    /// An A2A artifact; one of work/v1's kinds also keeps to that kind's rules.
    Artifact,
    /// An A2A artifact, or a chunk of one: an object with [`CHUNK`]'s members. One of work/v1's kinds is always whole.
    Handover,
}

/// The members of a chunk, as those of an A2A artifact update (session coordination, §9).
pub const CHUNK: &[Param] = &[
    Param::required(
        "artifact",
        Shape::Artifact,
        "The artifact, or what goes after its parts",
    ),
    Param::optional(
        "append",
        Shape::Flag,
        "Whether it goes after what came before under the same artifact id",
    ),
    Param::optional(
        "lastChunk",
        Shape::Flag,
        "Whether nothing more of the artifact follows",
    ),
];

/// Every field of `body` at fault: what the table says against them, in its order, then the rules that go across.
#[must_use]
pub fn violations(params: &[Param], rules: &[Rule], body: &Map<String, Value>) -> Vec<Violation> {
    let mut found = Vec::new();
    check_members(params, body, "", &mut found);
    for rule in rules {
        rule.apply(params, body, &mut found);
    }
    found
}

/// The members of an object whose own path is `within`, with the dot that ends it.
fn check_members(params: &[Param], object: &Map<String, Value>, within: &str, found: &mut Vec<Violation>) {
    for param in params {
        let path = format!("{within}{}", param.name);
        match object.get(param.name) {
            Some(value) => check(param.shape, param.required, value, &path, found),
            None if param.required => {
                let rule = rule(param.shape, true);
                fault(found, &path, format!("required: {rule}"));
            }
            None => {}
        }
    }
}

fn fault(found: &mut Vec<Violation>, field: &str, description: String) {
    found.push(Violation {
        field: field.to_owned(),
        description,
    });
}

/// The rule of a shape, as a fragment that says what was expected.
fn rule(shape: Shape, required: bool) -> String {
    match shape {
        Shape::Line(limit) => format!("expected one line of at most {limit} characters, not blank"),
        Shape::Text(limit) => {
            format!(
                "expected text of at most {limit} characters, without control characters but tab and line feed"
            )
        }
        Shape::Filled(limit) => format!(
            "expected text of at most {limit} characters, not blank, without control characters but tab and line feed"
        ),
        Shape::Id => format!("expected an id of 1 to {ID_CHARS} characters"),
        Shape::Choice(names) => format!("expected one of: {}", names.join(", ")),
        Shape::ChoiceOrNull(names) => format!("expected null or one of: {}", names.join(", ")),
        Shape::Integer(least, most) => format!("expected a whole number from {least} to {most}"),
        Shape::Flag => "expected true or false".to_owned(),
        Shape::List(limit, _) | Shape::Set(limit, _) if required => {
            format!("expected a list of 1 to {limit} entries")
        }
        Shape::List(limit, _) | Shape::Set(limit, _) => format!("expected a list of at most {limit} entries"),
        Shape::Object(_) => "expected an object".to_owned(),
        Shape::Resource => "expected a resource id: a path, a glob or scheme:id".to_owned(),
        Shape::HttpsUrl(limit) => format!("expected an absolute https URL of at most {limit} characters"),
        Shape::Artifact => "expected an A2A artifact".to_owned(),
        Shape::Handover => "expected an A2A artifact, or a chunk of one".to_owned(),
    }
}

fn check(shape: Shape, required: bool, value: &Value, path: &str, found: &mut Vec<Violation>) {
    let fits = match (shape, value) {
        (Shape::Line(limit), Value::String(line)) => {
            within(line, limit) && !text::is_blank(line) && !line.chars().any(breaks_a_line)
        }
        (Shape::Text(limit), Value::String(body)) => {
            within(body, limit) && !(required && text::is_blank(body)) && !body.chars().any(is_refused)
        }
        (Shape::Filled(limit), Value::String(body)) => {
            within(body, limit) && !text::is_blank(body) && !body.chars().any(is_refused)
        }
        (Shape::Id, Value::String(id)) => {
            within(id, ID_CHARS) && !text::is_blank(id) && !id.chars().any(breaks_a_line)
        }
        (Shape::Choice(names) | Shape::ChoiceOrNull(names), Value::String(name)) => {
            names.contains(&name.as_str())
        }
        (Shape::ChoiceOrNull(_), Value::Null) => true,
        (Shape::Integer(least, most), Value::Number(_)) => value
            .as_u64()
            .is_some_and(|number| (u64::from(least)..=u64::from(most)).contains(&number)),
        (Shape::Flag, Value::Bool(_)) => true,
        (Shape::List(limit, of) | Shape::Set(limit, of), Value::Array(items))
            if items.len() <= limit && !(required && items.is_empty()) =>
        {
            let distinct = matches!(shape, Shape::Set(..));
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}[{index}]");
                check(*of, true, item, &path, found);
                if distinct && items.iter().take(index).any(|before| before == item) {
                    fault(
                        found,
                        &path,
                        "expected an entry unlike those before it".to_owned(),
                    );
                }
            }
            true
        }
        (Shape::Object(members), Value::Object(object)) => {
            check_members(members, object, &format!("{path}."), found);
            true
        }
        (Shape::Resource, Value::String(id)) => {
            if let Err(broken) = ResourceId::parse(id) {
                fault(found, path, broken.to_string());
            }
            true
        }
        (Shape::HttpsUrl(limit), Value::String(url)) => {
            within(url, limit) && is_http_url(url) && !url.chars().any(breaks_a_line) && is_https(url)
        }
        (Shape::Handover, Value::Object(entry)) if entry.contains_key("artifact") => {
            let before = found.len();
            check_members(CHUNK, entry, &format!("{path}."), found);
            if found.len() == before && !chunk(Fields(entry)).is_some_and(|it| comes_whole(&it)) {
                let expected = "expected the whole of what work/v1 has a form for: it comes in one piece";
                fault(found, &format!("{path}.artifact.metadata"), expected.to_owned());
            }
            true
        }
        (Shape::Artifact | Shape::Handover, Value::Object(_)) => {
            found.extend(artifact_faults(value, path));
            true
        }
        _ => false,
    };
    if !fits {
        fault(found, path, rule(shape, required));
    }
}

/// What is wrong with an artifact: first as A2A has it, then in what work/v1 says of it.
fn artifact_faults(value: &Value, path: &str) -> Vec<Violation> {
    let mut decoder = Decoder::new();
    let artifact = decoder.artifact(value, path);
    let fault = match decoder.finish(artifact) {
        Ok(artifact) => artifact.and_then(|artifact| WorkArtifact::of(&artifact, path).err()),
        Err(faults) => return faults,
    };
    let violation = |fault: Fault| Violation {
        field: fault.field,
        description: fault.message,
    };
    fault.into_iter().map(violation).collect()
}

/// A chunk of an artifact, once nothing is wrong with its members.
fn chunk(entry: Fields<'_>) -> Option<Handover> {
    Some(Handover {
        artifact: Decoder::new().artifact(entry.raw("artifact")?, "")?,
        chunk: Chunk {
            append: entry.flag("append").unwrap_or_default(),
            last: entry.flag("lastChunk").unwrap_or_default(),
        },
    })
}

/// Whether a chunk is all of its artifact, or may be less since work/v1 says nothing of it.
fn comes_whole(chunk: &Handover) -> bool {
    chunk.chunk == Chunk::WHOLE || matches!(WorkArtifact::of(&chunk.artifact, ""), Ok(None))
}

fn within(text: &str, limit: usize) -> bool {
    // A character takes at most four bytes, so that most texts need no counting.
    text.len() <= limit || (text.len() / 4 <= limit && text.chars().count() <= limit)
}

fn is_https(url: &str) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"))
}

const fn is_refused(c: char) -> bool {
    matches!(c, '\0'..='\u{1F}' | '\u{7F}') && !matches!(c, '\t' | '\n')
}

const fn breaks_a_line(c: char) -> bool {
    text::is_line_break(c) || matches!(c, '\0'..='\u{1F}' | '\u{7F}')
}

/// Reads the parameters of a body that [`violations`] found nothing wrong with.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// A text, a line, an id or a choice.
    #[must_use]
    pub fn text(self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// The same, owned.
    #[must_use]
    pub fn owned(self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// A whole number.
    #[must_use]
    pub fn number(self, name: &str) -> Option<u32> {
        self.0
            .get(name)
            .and_then(Value::as_u64)
            .and_then(|number| u32::try_from(number).ok())
    }

    /// True or false.
    #[must_use]
    pub fn flag(self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// A list of texts; absent is empty.
    #[must_use]
    pub fn texts(self, name: &str) -> Vec<String> {
        let items = self.0.get(name).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// An object.
    #[must_use]
    pub fn object(self, name: &str) -> Option<Self> {
        self.0.get(name).and_then(Value::as_object).map(Fields)
    }

    /// A list of objects; absent is empty.
    pub fn objects(self, name: &str) -> impl Iterator<Item = Self> {
        let items = self.0.get(name).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_object).map(Fields)
    }

    /// A resource id.
    #[must_use]
    pub fn resource(self, name: &str) -> Option<ResourceId> {
        self.text(name).and_then(|id| ResourceId::parse(id).ok())
    }

    /// A list of artifacts and chunks; absent is empty.
    #[must_use]
    pub fn handovers(self, name: &str) -> Vec<Handover> {
        let items = self.0.get(name).and_then(Value::as_array).into_iter().flatten();
        let handover = |item: &Value| match item.get("artifact").and(item.as_object()) {
            Some(entry) => chunk(Fields(entry)),
            None => Some(Handover {
                artifact: Decoder::new().artifact(item, name)?,
                chunk: Chunk::WHOLE,
            }),
        };
        items.filter_map(handover).collect()
    }

    /// The value as it came, to tell null from absence.
    #[must_use]
    pub fn raw(self, name: &str) -> Option<&'a Value> {
        self.0.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::WORK_URI;
    use proptest::prelude::*;
    use serde_json::json;

    const TABLE: &[Param] = &[
        Param::required("title", Shape::Line(3), ""),
        Param::optional("body", Shape::Text(3), ""),
        Param::required("note", Shape::Text(3), ""),
        Param::optional("intent", Shape::Filled(3), ""),
        Param::optional("id", Shape::Id, ""),
        Param::optional("stage", Shape::ChoiceOrNull(&["review"]), ""),
        Param::optional("kind", Shape::Choice(&["a", "b"]), ""),
        Param::optional("count", Shape::Integer(1, 50), ""),
        Param::optional("flag", Shape::Flag, ""),
        Param::optional("list", Shape::List(2, &Shape::Line(2)), ""),
        Param::optional("set", Shape::Set(2, &Shape::Line(2)), ""),
        Param::optional("artifacts", Shape::List(1, &Shape::Artifact), ""),
        Param::optional("chunks", Shape::List(2, &Shape::Handover), ""),
        Param::optional("on", Shape::Resource, ""),
        Param::optional("url", Shape::HttpsUrl(20), ""),
        Param::optional("client", CLIENT, ""),
        Param::optional("clients", Shape::List(2, &CLIENT), ""),
    ];

    const CLIENT: Shape = Shape::Object(&[
        Param::required("name", Shape::Line(3), ""),
        Param::required("uses", Shape::List(2, &Shape::Resource), ""),
    ]);

    /// The fields at fault when one member is changed in a body that is otherwise right.
    fn faults(name: &str, value: Value) -> Vec<String> {
        let mut body = json!({"title": "t", "note": "n", "unknown": [null]});
        body[name] = value;
        let found = violations(TABLE, &[], body.as_object().unwrap());
        found.into_iter().map(|violation| violation.field).collect()
    }

    #[test]
    fn limits_count_characters_and_take_the_last_value() {
        for (name, good, bad) in [
            ("title", json!("é€😀"), json!("é€😀x")),
            ("title", json!("a b"), json!("a\tb")),
            ("title", json!("a"), json!("a\u{2028}")),
            ("title", json!(" a"), json!(" ")),
            ("body", json!("é\t\n"), json!("é\t\nx")),
            ("body", json!(""), json!("\r")),
            ("note", json!(" a"), json!(" \n")),
            ("intent", json!("é\t\n"), json!("é\t\nx")),
            ("intent", json!(" a"), json!(" \n")),
            ("id", json!("x".repeat(64)), json!("x".repeat(65))),
            ("id", json!("x"), json!("")),
            ("stage", Value::Null, json!("working")),
            ("kind", json!("b"), Value::Null),
            ("count", json!(1), json!(0)),
            ("count", json!(50), json!(51)),
            ("count", json!(2), json!(2.5)),
            ("flag", json!(false), json!("false")),
            ("list", json!(["a", "b"]), json!(["a", "b", "c"])),
            ("list", json!([]), json!({})),
            ("list", json!(["a", "a"]), json!("a")),
            ("set", json!(["a", "b"]), json!(["a", "b", "c"])),
            ("set", json!([]), json!({})),
            ("on", json!("src/**"), json!("src/../x")),
            ("on", json!("é".repeat(512)), json!("é".repeat(513))),
            (
                "url",
                json!("https://é.example/€a"),
                json!("https://é.example/€ab"),
            ),
            ("url", json!("HTTPS://a"), json!("http://a")),
            ("url", json!("https://a?b"), json!("https://")),
            ("url", json!("https://a#b"), json!("https://a b")),
            ("url", json!("https://a/"), json!("ftps://a")),
            (
                "client",
                json!({"name": "n", "uses": ["a"], "more": 1}),
                json!([]),
            ),
        ] {
            assert_eq!(faults(name, good.clone()), Vec::<String>::new(), "{name} {good}");
            assert_eq!(faults(name, bad.clone()), [name], "{name} {bad}");
        }
    }

    #[test]
    fn entries_and_their_members_are_named() {
        assert_eq!(faults("list", json!(["a", "abc"])), ["list[1]"]);
        assert_eq!(faults("set", json!(["a", "a"])), ["set[1]"]);
        assert_eq!(
            faults("set", json!(["abc", "abc"])),
            ["set[0]", "set[1]", "set[1]"]
        );
        assert_eq!(faults("artifacts", json!([{"parts": [{}]}])).len(), 2);
        assert_eq!(faults("artifacts", json!(["x"])), ["artifacts[0]"]);
        assert_eq!(faults("client", json!({})), ["client.name", "client.uses"]);
        let client = |uses| json!({"name": "n", "uses": uses});
        assert_eq!(faults("client", client(json!([]))), ["client.uses"]);
        assert_eq!(faults("client", client(json!(["a", "b", "c"]))), ["client.uses"]);
        assert_eq!(
            faults(
                "clients",
                json!([client(json!(["a"])), client(json!(["a", "/b"]))])
            ),
            ["clients[1].uses[1]"]
        );
    }

    #[test]
    fn an_artifact_comes_whole_or_in_chunks_and_one_of_work_v1_is_whole() {
        let artifact = json!({"artifactId": "a", "parts": [{"text": "t"}]});
        let answer = json!({
            "artifactId": "answer",
            "parts": [{"text": "t"}],
            "metadata": {WORK_URI: {"kind": "answer", "messageId": "m"}},
        });
        for good in [
            artifact.clone(),
            json!({"artifact": artifact}),
            json!({"artifact": artifact, "append": true, "lastChunk": false}),
            json!({"artifact": answer, "append": false, "lastChunk": true}),
        ] {
            assert_eq!(faults("chunks", json!([good])), Vec::<String>::new(), "{good}");
        }
        let metadata = "chunks[0].artifact.metadata";
        for (bad, field) in [
            (json!({"artifact": null}), "chunks[0].artifact"),
            (
                json!({"artifact": {"artifactId": "a"}}),
                "chunks[0].artifact.parts",
            ),
            (json!({"artifact": artifact, "append": "yes"}), "chunks[0].append"),
            (
                json!({"artifact": artifact, "lastChunk": 1}),
                "chunks[0].lastChunk",
            ),
            (
                json!({"artifact": answer, "append": true, "lastChunk": true}),
                metadata,
            ),
            (json!({"artifact": answer}), metadata),
        ] {
            assert_eq!(faults("chunks", json!([bad])), [field], "{bad}");
        }
    }

    #[test]
    fn all_faults_are_found_at_once_in_the_order_of_the_table() {
        let body = json!({"body": 1, "count": "1"});
        let fields: Vec<_> = violations(TABLE, &[], body.as_object().unwrap())
            .into_iter()
            .map(|it| it.field)
            .collect();
        assert_eq!(fields, ["title", "body", "note", "count"]);
    }

    proptest! {
        #[test]
        fn never_panics(name in "title|body|id|stage|count|list|set|artifacts|chunks|on|client|clients", text in ".{0,12}", n in any::<f64>()) {
            let _ = faults(&name, json!([text.clone(), n, {"parts": text.clone()}, {"artifact": text.clone()}]));
            let _ = faults(&name, json!(n));
            let _ = faults(&name, json!(text));
        }
    }
}
