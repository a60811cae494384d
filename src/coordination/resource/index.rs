//! Many resource ids, and which of them may overlap one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::{Kind, ResourceId};

/// Resource ids under keys, such as the live claims of a session by their ids.
///
/// Opaque ids are found by themselves. Paths and globs are kept by the literal segments they start with, so
/// that only those that start alike are looked at: 10,000 claims on `src/mod-<n>/**` cost one that is on
/// `src/mod-7/x.rs` one decision. A glob that starts with a wildcard may meet anything: each distinct one
/// costs every query a decision. The same resource under many keys costs one decision. It is made from the
/// claims and never stored.
#[derive(Clone, Debug)]
pub struct ResourceIndex<K> {
    opaque: BTreeMap<String, Candidate<K>>,
    /// By prefix, then by text.
    paths: BTreeMap<String, BTreeMap<String, Candidate<K>>>,
}

/// A resource id of an index and its keys, of which there is one at least.
#[derive(Clone, Debug)]
pub struct Candidate<K> {
    /// The resource.
    pub resource: ResourceId,
    /// The keys.
    pub keys: BTreeSet<K>,
}

impl<K> Default for ResourceIndex<K> {
    fn default() -> Self {
        Self {
            opaque: BTreeMap::new(),
            paths: BTreeMap::new(),
        }
    }
}

impl<K: Ord> ResourceIndex<K> {
    /// Adds a resource under a key; whether it was not yet.
    pub fn insert(&mut self, resource: ResourceId, key: K) -> bool {
        let entries = match &resource.kind {
            Kind::Opaque => &mut self.opaque,
            Kind::Paths(paths) => self.paths.entry(paths.prefix.clone()).or_default(),
        };
        let entry = entries.entry(resource.text.clone()).or_insert_with(|| Candidate {
            resource,
            keys: BTreeSet::new(),
        });
        entry.keys.insert(key)
    }

    /// Removes a resource from under a key; whether it was there.
    pub fn remove(&mut self, resource: &ResourceId, key: &K) -> bool {
        match &resource.kind {
            Kind::Opaque => remove_from(&mut self.opaque, resource, key),
            Kind::Paths(paths) => {
                let Some(entries) = self.paths.get_mut(&paths.prefix) else {
                    return false;
                };
                let removed = remove_from(entries, resource, key);
                if entries.is_empty() {
                    self.paths.remove(&paths.prefix);
                }
                removed
            }
        }
    }

    /// The keys that this very resource is under, as it is written.
    pub fn under(&self, resource: &ResourceId) -> impl Iterator<Item = &K> {
        let candidate = match &resource.kind {
            Kind::Opaque => self.opaque.get(&resource.text),
            Kind::Paths(paths) => {
                let entries = self.paths.get(&paths.prefix);
                entries.and_then(|entries| entries.get(&resource.text))
            }
        };
        candidate.into_iter().flat_map(|candidate| &candidate.keys)
    }

    /// The resources that may overlap this one, each once: all that do are among them.
    ///
    /// In the order of their prefixes. What is left to do is to ask each.
    pub fn candidates(&self, resource: &ResourceId) -> impl Iterator<Item = &Candidate<K>> {
        let (opaque, prefix) = match &resource.kind {
            Kind::Opaque => (self.opaque.get(&resource.text), None),
            Kind::Paths(paths) => (None, Some(paths.prefix.as_str())),
        };
        opaque
            .into_iter()
            .chain(prefix.into_iter().flat_map(|prefix| self.starting_alike(prefix)))
    }

    /// What is kept under the prefixes of a prefix, and under what starts with it.
    fn starting_alike<'a>(&'a self, prefix: &str) -> impl Iterator<Item = &'a Candidate<K>> + use<'a, K> {
        let prefix = prefix.to_owned();
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        let below = self.paths.range::<str, _>(from);
        let above: Vec<_> = segments(&prefix)
            .filter_map(|above| self.paths.get(above))
            .collect();
        let below = below.take_while(move |(start, _)| start.starts_with(&prefix));
        above
            .into_iter()
            .chain(below.map(|(_, entries)| entries))
            .flat_map(BTreeMap::values)
    }

    /// The keys of all resources that overlap this one, in their order.
    #[must_use]
    pub fn overlapping(&self, resource: &ResourceId) -> BTreeSet<&K> {
        let candidates = self.candidates(resource);
        let overlapping = candidates.filter(|candidate| candidate.resource.overlaps(resource));
        overlapping.flat_map(|candidate| &candidate.keys).collect()
    }
}

/// The prefixes of a prefix that end between two segments, the empty one first, without itself.
fn segments(prefix: &str) -> impl Iterator<Item = &str> {
    let ends = prefix
        .match_indices('/')
        .filter_map(|(slash, _)| prefix.get(..=slash));
    let all = std::iter::once("").chain(ends);
    all.filter(move |above| above.len() < prefix.len())
}

fn remove_from<K: Ord>(entries: &mut BTreeMap<String, Candidate<K>>, resource: &ResourceId, key: &K) -> bool {
    let Some(entry) = entries.get_mut(&resource.text) else {
        return false;
    };
    let removed = entry.keys.remove(key);
    if entry.keys.is_empty() {
        entries.remove(&resource.text);
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> ResourceId {
        ResourceId::parse(text).unwrap()
    }

    fn index_of(texts: impl Iterator<Item = String>) -> ResourceIndex<usize> {
        let mut index = ResourceIndex::default();
        for (key, text) in texts.enumerate() {
            assert!(index.insert(id(&text), key));
        }
        index
    }

    /// How many resources are decided for a query, and how many of their keys overlap it.
    fn cost(index: &ResourceIndex<usize>, text: &str) -> (usize, usize) {
        let query = id(text);
        (index.candidates(&query).count(), index.overlapping(&query).len())
    }

    #[test]
    fn of_10000_claims_apart_only_those_that_start_alike_are_decided() {
        let index = index_of(
            (0..10_000)
                .map(|n| format!("src/mod-{n}/**"))
                .chain(["**/*.md", "src/*/a.rs", "pr:7"].map(str::to_owned)),
        );
        for (query, decided) in [
            ("src/mod-77/x.rs", (3, 1)),
            ("src/mod-77/a.rs", (3, 2)),
            ("src/mod-77/**/*.rs", (3, 2)),
            ("src/mod-77", (3, 3)),
            ("src/mod-7", (3, 3)),
            ("docs/**", (1, 1)),
            ("docs/x.rs", (1, 0)),
            ("pr:7", (1, 1)),
            ("pr:8", (0, 0)),
        ] {
            assert_eq!(cost(&index, query), decided, "{query}");
        }
    }

    #[test]
    fn what_may_be_anywhere_is_decided_once_a_resource() {
        let index = index_of((0..10_000).map(|n| format!("**/*.r{n}")));
        assert_eq!(cost(&index, "src/x.r77"), (10_000, 1));
        let mut same = ResourceIndex::default();
        for key in 0..10_000 {
            assert!(same.insert(id("**/*.rs"), key));
        }
        assert_eq!(cost(&same, "src/x.rs"), (1, 10_000));
        assert_eq!(cost(&same, "src/x.c"), (1, 0));
    }

    #[test]
    fn what_is_removed_is_found_no_more_and_leaves_nothing_behind() {
        let mut index = ResourceIndex::default();
        for text in ["pr:7", "src/**", "src/*.rs", "src"] {
            assert!(index.insert(id(text), 1) && index.insert(id(text), 2));
            assert!(!index.insert(id(text), 1), "{text}");
            assert!(index.under(&id(text)).eq(&[1, 2]), "{text}");
            assert!(
                index.remove(&id(text), &1) && !index.remove(&id(text), &1),
                "{text}"
            );
            assert_eq!(index.overlapping(&id(text)), BTreeSet::from([&2]), "{text}");
            assert!(
                index.remove(&id(text), &2) && !index.remove(&id(text), &2),
                "{text}"
            );
            assert!(!index.remove(&id("docs/**"), &2));
            assert_eq!(index.under(&id(text)).count(), 0, "{text}");
            assert_eq!(index.candidates(&id(text)).count(), 0, "{text}");
        }
        assert!(index.opaque.is_empty() && index.paths.is_empty());
    }
}
