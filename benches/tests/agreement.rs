//! The contenders do the same work, or their times mean nothing.

use a2a_edge_benches::contenders::{Component, Schema, native_projects, native_takes};
use a2a_edge_benches::corpus::{beyond_schema, full_size, minimal, requests, rows};

#[test]
fn all_contenders_agree_on_the_corpus() {
    let (mut component, schema) = (Component::new().unwrap(), Schema::new().unwrap());
    let (mut taken, mut refused) = (0, 0);
    for request in requests() {
        let text = String::from_utf8_lossy(&request);
        let takes = native_takes(&request);
        assert_eq!(
            component.takes(&request).unwrap(),
            takes,
            "component: {text:.300}"
        );
        assert_eq!(schema.takes(&request), takes, "schema: {text:.300}");
        *(if takes { &mut taken } else { &mut refused }) += 1;
    }
    assert!(taken > 50 && refused > 50, "{taken} taken and {refused} refused");
}

#[test]
fn where_the_schema_differs_is_known() {
    let (mut component, schema) = (Component::new().unwrap(), Schema::new().unwrap());
    for (request, takes, rule) in beyond_schema() {
        assert_eq!(native_takes(&request), takes, "{rule}");
        assert_eq!(component.takes(&request).unwrap(), takes, "{rule}");
        assert_eq!(schema.takes(&request), !takes, "{rule}");
    }
}

#[test]
fn the_handoffs_are_of_the_sizes_they_are_named_for() {
    assert!(native_takes(&minimal()) && native_takes(&full_size()));
    assert!(minimal().len() < 64);
    assert!(
        (36_000..38_000).contains(&full_size().len()),
        "{}",
        full_size().len()
    );
}

#[test]
fn the_facts_reach_every_row() {
    let mut component = Component::new().unwrap();
    let reached: Vec<u8> = rows().iter().map(|(row, _)| *row).collect();
    assert_eq!(reached, (1..=12).collect::<Vec<u8>>());
    for (row, facts) in rows() {
        let projection = native_projects(&facts);
        assert!(
            projection.starts_with(&format!(r#"{{"ok":true,"result":{{"row":{row},"#)),
            "{projection}"
        );
        assert_eq!(component.projects(&facts).unwrap(), projection);
    }
}
