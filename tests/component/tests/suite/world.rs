//! What the component asks of its host: nothing, and no more memory than its work takes.

use crate::doors::DOORS;
use crate::support::{FILES, vectors};
use crate::{COMPONENT, instance};

#[test]
fn it_imports_nothing() {
    assert_eq!(COMPONENT.imports(), 0);
}

#[test]
fn an_instance_that_is_used_10_000_times_keeps_its_size() {
    const PAGE: usize = 65_536;
    let mut instance = instance();
    let texts: Vec<String> = FILES
        .iter()
        .flat_map(|(_, file)| vectors(file))
        .flat_map(|vector| vector["when"].as_array().cloned().unwrap_or_default())
        .filter_map(|step| {
            step.get("raw")
                .or_else(|| step.get("facts"))
                .map(ToString::to_string)
        })
        .collect();
    let mut calls = texts
        .iter()
        .cycle()
        .flat_map(|text| DOORS.iter().map(move |door| (door, text)));
    let mut after = |calls_more: usize| {
        for (door, text) in calls.by_ref().take(calls_more) {
            door.component(&mut instance, text);
        }
        instance.store.data().bytes
    };
    // Everything has been called with everything once, so that the allocator has what it needs.
    let settled = after(DOORS.len() * texts.len());
    assert!(settled <= 32 * PAGE, "{settled} bytes");
    let later = after(10_000);
    assert!(later <= settled + PAGE, "grew from {settled} to {later} bytes");
}
