//! The catalogue drives what is said of it: the tables of the documentation, and the JSON Schemas of the parameters.
//!
//! With `A2A_EDGE_WRITE_REFERENCE=1` in the environment the tables are written instead of compared.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

#[allow(dead_code, reason = "where a fault is said to lie matters to the refusals")]
#[path = "support/fields.rs"]
mod fields_of;
#[path = "support/flow_fields.rs"]
mod flow_fields;
#[path = "support/flows_of.rs"]
mod flows_of;
#[path = "support/random.rs"]
mod random;
#[path = "support/refusals.rs"]
mod refusals;
#[path = "support/desk.rs"]
mod support;

use std::collections::BTreeMap;

use a2a_edge::coordination::{Operation, catalogue, idempotency_key, reference};
use a2a_edge::params::{CHUNK, Param, Shape, violations};
use a2a_edge::serve::handle;
use fields_of::{Limit, claim_limits, presence_limits, talk_limits};
use flow_fields::flow_limits;
use jsonschema::Validator;
use random::Random;
use refusals::create;
use serde_json::{Map, Value, json};
use support::Bench;

const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/docs/extensions/session-coordination.md"
);

/// A number with commas between the thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

fn most(limit: usize) -> String {
    format!("≤ {}", grouped(limit as u64))
}

/// A shape in the words of the documentation.
fn shape(shape: Shape) -> String {
    let choice = |names: &[&str]| names.join("·");
    match shape {
        Shape::Line(limit) => format!("one line {}", most(limit)),
        Shape::Text(limit) => format!("text {}", most(limit)),
        Shape::Filled(limit) => format!("text {}, not blank", most(limit)),
        Shape::Id => "id".to_owned(),
        Shape::Choice(names) => choice(names),
        Shape::ChoiceOrNull(names) => format!("{}·null", choice(names)),
        Shape::Integer(least, u32::MAX) => format!("≥ {least}"),
        Shape::Integer(least, most) => format!("{}–{}", grouped(least.into()), grouped(most.into())),
        Shape::Flag => "true·false".to_owned(),
        Shape::List(limit, of) => format!("{} × {}", most(limit), self::shape(*of)),
        Shape::Set(limit, of) => format!("{} × {}, no two alike", most(limit), self::shape(*of)),
        Shape::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|member| format!("{} {}", name(member), self::shape(member.shape)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        Shape::Resource => "[resource id](resources.md)".to_owned(),
        Shape::HttpsUrl(limit) => format!("https URL {}", most(limit)),
        Shape::Artifact => "A2A artifact".to_owned(),
        Shape::Handover => format!("A2A artifact, or {}", self::shape(Shape::Object(CHUNK))),
    }
}

fn name(param: &Param) -> String {
    let mark = if param.required { "" } else { "?" };
    format!("`{}{mark}`", param.name)
}

/// All operations in one table.
fn summary() -> String {
    let mut table = "| operation | scope | what it does | answer |\n|---|---|---|---|\n".to_owned();
    for operation in catalogue::OPERATIONS {
        table += &format!(
            "| [`{}`](#{}) | `{}` | {} | {} |\n",
            operation.name,
            operation.name.replace('.', ""),
            operation.scope.as_str(),
            operation.about,
            operation.answer,
        );
    }
    table
}

/// The parameters of each operation in a table of its own.
fn parameters() -> String {
    let mut tables = Vec::new();
    for operation in catalogue::OPERATIONS {
        let mut table = format!("### {}\n\n", operation.name);
        if operation.params.is_empty() {
            table += "No parameters.\n";
        } else {
            table += "| parameter | what it may be | meaning |\n|---|---|---|\n";
        }
        for param in operation.params {
            table += &format!("| {} | {} | {} |\n", name(param), shape(param.shape), param.about);
        }
        tables.push(table);
    }
    tables.join("\n")
}

/// The page with its generated parts made anew.
fn regenerated(page: &str) -> String {
    let mut page = page.to_owned();
    for (part, text) in [("operations", summary()), ("parameters", parameters())] {
        let (begin, end) = (
            format!("<!-- generated: {part} -->\n"),
            format!("<!-- end: {part} -->"),
        );
        let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
        let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
        page = format!("{before}{begin}\n{text}\n{end}{after}");
    }
    page
}

#[test]
fn the_tables_of_the_documentation_are_those_of_the_catalogue() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let expected = regenerated(&page);
    if std::env::var_os("A2A_EDGE_WRITE_REFERENCE").is_some() {
        std::fs::write(PAGE, expected).unwrap();
        return;
    }
    assert!(
        page == expected,
        "the tables are not those of the catalogue; write them with A2A_EDGE_WRITE_REFERENCE=1"
    );
}

/// An operation beside the compiled schema of its parameters.
struct Subject {
    operation: &'static Operation,
    schema: Validator,
}

impl Subject {
    fn all() -> BTreeMap<&'static str, Self> {
        let subject = |operation: &'static Operation| {
            let document = reference::document(operation, "https://edge.example");
            assert!(jsonschema::meta::is_valid(&document), "{document}");
            let schema = jsonschema::draft202012::new(&document).unwrap();
            (operation.name, Self { operation, schema })
        };
        catalogue::OPERATIONS.iter().map(subject).collect()
    }

    /// Holds schema and table to one judgement of a body, but for fields of which a schema can't say all.
    fn judge(&self, body: &Value) {
        let fields = body.as_object().unwrap();
        let mut found = violations(self.operation.params, self.operation.rules, fields);
        if !self.operation.read_only {
            idempotency_key(fields, &mut found);
        }
        let valid = self.schema.is_valid(body);
        let name = self.operation.name;
        if found.is_empty() {
            assert!(valid, "{name}: the schema refuses what is taken: {body}");
        } else if found.iter().any(|violation| !is_beyond(&violation.field)) {
            assert!(
                !valid,
                "{name}: the schema takes what is refused: {body}: {found:?}"
            );
        }
    }
}

/// Whether a field may be at fault by what no schema says: how resource ids, URLs and artifacts are written, and that
/// two ids differ.
fn is_beyond(field: &str) -> bool {
    let inner = ["resources[", "artifacts[", "addEvidence["];
    field == "resourceId"
        || field == "from.workstreamId"
        || inner.iter().any(|start| field.starts_with(start))
}

fn limits() -> Vec<Limit> {
    let bench = Bench::new();
    let request = create(&bench, &json!({}));
    let mut limits = presence_limits();
    limits.extend(claim_limits(&bench, &request));
    limits.extend(talk_limits(&bench, &request));
    limits.extend(flow_limits(&bench));
    limits
}

#[test]
fn the_schemas_end_where_the_tables_do() {
    let subjects = Subject::all();
    let mut judged = 0;
    for limit in limits() {
        let subject = &subjects[limit.operation.replace(':', ".").as_str()];
        for value in [limit.good, limit.bad] {
            let mut body = limit.with.clone().unwrap_or_else(|| json!({}));
            body[limit.field] = value;
            subject.judge(&body);
            judged += 1;
        }
    }
    assert!(judged > 200, "{judged}");
}

#[test]
fn schemas_and_tables_judge_random_bodies_alike() {
    let subjects = Subject::all();
    let mut random = Random(7);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..400 {
        for subject in subjects.values() {
            let body = Value::Object(object(subject.operation.params, &mut random, 12));
            subject.judge(&body);
            let valid = subject.schema.is_valid(&body);
            *(if valid { &mut taken } else { &mut refused }) += 1;
        }
    }
    assert!(
        taken > 1_000 && refused > 1_000,
        "{taken} taken, {refused} refused"
    );
}

/// An object that is mostly right: one member in `odds` is wrong.
fn object(params: &[Param], random: &mut Random, odds: usize) -> Map<String, Value> {
    let mut body = Map::new();
    for param in params {
        if (param.required && !random.one_in(20)) || random.one_in(2) {
            let value = if random.one_in(odds) {
                wrong(random)
            } else {
                right(param.shape, random, odds)
            };
            body.insert(param.name.to_owned(), value);
        }
    }
    body
}

fn wrong(random: &mut Random) -> Value {
    let values = [
        json!(null),
        json!(""),
        json!(" \u{feff}\u{2003}"),
        json!("\u{85}"),
        json!("a\u{2028}b"),
        json!("a\rb"),
        json!("a\tb\nc"),
        json!("\u{7f}"),
        json!("x".repeat(70_000)),
        json!(-1),
        json!(1.5),
        json!(4_294_967_296_u64),
        json!([]),
        json!([null]),
        json!({}),
        json!(true),
    ];
    random.pick(&values).clone()
}

fn right(shape: Shape, random: &mut Random, odds: usize) -> Value {
    let texts = ["a", "é\u{1f600}", " b ", "me", "hold", "reassign"];
    match shape {
        Shape::Line(_) | Shape::Text(_) | Shape::Filled(_) | Shape::Id => json!(random.pick(&texts)),
        Shape::Resource => json!(random.pick(&["src/**", "pr:12", "/etc", "a"])),
        Shape::HttpsUrl(_) => json!(random.pick(&["https://a", "http://a", "https://é/€"])),
        Shape::Choice(names) | Shape::ChoiceOrNull(names) => json!(random.pick(names)),
        Shape::Integer(least, most) => json!(random.pick(&[least, most])),
        Shape::Flag => json!(random.one_in(2)),
        Shape::List(limit, of) | Shape::Set(limit, of) => {
            let length = random.below(3.min(limit + 1));
            (0..length).map(|_| right(*of, random, odds)).collect()
        }
        Shape::Object(members) => Value::Object(object(members, random, odds)),
        Shape::Handover if random.one_in(2) => right(Shape::Object(CHUNK), random, odds),
        Shape::Artifact | Shape::Handover => json!({"artifactId": "a", "parts": [{"text": "t"}]}),
    }
}

fn get(bench: &Bench, path: &str, if_none_match: Option<&str>) -> (u16, BTreeMap<String, String>, String) {
    let mut request = http::Request::get(path);
    if let Some(tag) = if_none_match {
        request = request.header("if-none-match", tag);
    }
    let answer = pollster::block_on(handle(
        &bench.host,
        &bench.desk,
        request.body(Vec::new()).unwrap(),
    ));
    let headers = answer
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    let status = answer.status().as_u16();
    let body = answer.into_body().into_whole().unwrap();
    (status, headers, String::from_utf8(body).unwrap())
}

#[test]
fn everybody_reads_the_page_and_the_schemas_that_the_card_points_to() {
    let bench = Bench::new();
    let card: Value = serde_json::from_str(&get(&bench, "/.well-known/agent-card.json", None).2).unwrap();
    let extensions = card["capabilities"]["extensions"].as_array().unwrap();
    let ours = extensions
        .iter()
        .find(|it| it["uri"] == support::COORDINATION)
        .unwrap();
    let base = card["supportedInterfaces"][0]["url"].as_str().unwrap();
    let path = |url: &Value| url.as_str().unwrap().strip_prefix(base).unwrap().to_owned();
    let (specification, schemas) = (
        path(&ours["params"]["specification"]),
        path(&ours["params"]["schemas"]),
    );
    let (status, headers, page) = get(&bench, &specification, None);
    assert_eq!(
        (status, headers["content-type"].as_str()),
        (200, "text/markdown; charset=utf-8")
    );
    assert!(page.starts_with("# session-coordination/v1\n"), "{page:.99}");
    for (_, link) in page.match_indices("](").map(|(at, _)| page.split_at(at + 2)) {
        let target = link.split(')').next().unwrap();
        let beside = specification.replace("specification.md", target);
        let there = target.starts_with('#') || get(&bench, &beside, None).0 == 200;
        assert!(there, "{target}");
    }
    let kept = get(
        &bench,
        &format!("/{}{specification}", bench.session),
        Some(&headers["etag"]),
    );
    assert_eq!((kept.0, kept.2.as_str()), (304, ""));
    let (_, headers, all) = get(&bench, &schemas, None);
    assert_eq!(headers["content-type"], "application/schema+json");
    let all: Value = serde_json::from_str(&all).unwrap();
    assert!(jsonschema::meta::is_valid(&all));
    assert_eq!(all["$id"], ours["params"]["schemas"]);
    for operation in catalogue::OPERATIONS {
        let one = schemas.replace(".json", &format!("/{}.json", operation.name));
        let one: Value = serde_json::from_str(&get(&bench, &one, None).2).unwrap();
        assert_eq!(one, reference::document(operation, base));
        assert_eq!(one["properties"], all["$defs"][operation.name]["properties"]);
    }
    let wrong = bench.request("POST", &schemas, &bench.member, support::COORDINATION, b"{}");
    assert_eq!(
        (wrong.status, wrong.headers["allow"].as_str()),
        (405, "GET, HEAD, OPTIONS")
    );
}
