//! Overlap of resource ids against an oracle that writes braces out, tries every split, and enumerates paths.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test stops at what it does not expect"
)]

use std::collections::BTreeSet;

use a2a_edge::coordination::resource::{ResourceFault, ResourceId, ResourceIndex};
use proptest::prelude::*;

/// One piece of a pattern, as both the oracle and its text see it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    Char(char),
    Slash,
    Star,
    One,
    Class(bool, Vec<char>),
    Braces(Vec<Vec<Piece>>),
}

fn text(pieces: &[Piece]) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Char(c) => c.to_string(),
            Piece::Slash => "/".to_owned(),
            Piece::Star => "*".to_owned(),
            Piece::One => "?".to_owned(),
            Piece::Class(negated, chars) => {
                let chars: String = chars.iter().collect();
                format!("[{}{chars}]", if *negated { "!" } else { "" })
            }
            Piece::Braces(alternatives) => {
                let alternatives: Vec<_> = alternatives.iter().map(|pieces| text(pieces)).collect();
                format!("{{{}}}", alternatives.join(","))
            }
        })
        .collect()
}

/// Every expansion, without braces.
fn expansions(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut all = vec![Vec::new()];
    for piece in pieces {
        let next: Vec<Vec<Piece>> = match piece {
            Piece::Braces(alternatives) => alternatives
                .iter()
                .flat_map(|pieces| expansions(pieces))
                .collect(),
            piece => vec![vec![piece.clone()]],
        };
        all = all
            .iter()
            .flat_map(|head| next.iter().map(|tail| [head.clone(), tail.clone()].concat()))
            .collect();
    }
    all
}

/// What a pattern is to the oracle: its expansions, each a list of segments and whether what is below is
/// named too.
struct Oracle(Vec<(Vec<Vec<Piece>>, bool)>);

impl Oracle {
    /// Nothing where an expansion is none of a pattern.
    fn new(pieces: &[Piece]) -> Option<Self> {
        let expansions = expansions(pieces).into_iter().map(|mut pieces| {
            let ends = pieces.last() == Some(&Piece::Slash);
            if ends {
                pieces.pop();
            }
            let segments: Vec<Vec<Piece>> = pieces
                .split(|it| *it == Piece::Slash)
                .map(<[_]>::to_vec)
                .collect();
            let bad = |segment: &Vec<Piece>| {
                let stars = segment.iter().take_while(|it| **it == Piece::Star).count();
                segment.is_empty() || stars > 2 || matches!(text(segment).as_str(), "." | "..")
            };
            let last = segments.last()?;
            let fixed = last.iter().all(|it| matches!(it, Piece::Char(_)));
            let file = last.iter().skip(1).any(|it| *it == Piece::Char('.'));
            (!segments.iter().any(bad)).then_some((segments.clone(), ends || (fixed && !file)))
        });
        expansions.collect::<Option<_>>().map(Self)
    }

    fn names(&self, path: &str) -> bool {
        let path: Vec<&str> = path.split('/').collect();
        self.0.iter().any(|(segments, below)| {
            let least = if *below { 1 } else { path.len() };
            (least..=path.len()).any(|length| segments_match(segments, &path[..length]))
        })
    }
}

fn segments_match(segments: &[Vec<Piece>], path: &[&str]) -> bool {
    let Some((first, rest)) = segments.split_first() else {
        return path.is_empty();
    };
    if *first == [Piece::Star, Piece::Star] {
        return (0..=path.len()).any(|taken| segments_match(rest, &path[taken..]));
    }
    path.split_first().is_some_and(|(name, below)| {
        let name: Vec<char> = name.chars().collect();
        name_matches(first, &name) && segments_match(rest, below)
    })
}

fn name_matches(pieces: &[Piece], name: &[char]) -> bool {
    match pieces.split_first() {
        None => name.is_empty(),
        Some((Piece::Star, rest)) => (0..=name.len()).any(|taken| name_matches(rest, &name[taken..])),
        Some((piece, rest)) => name.split_first().is_some_and(|(c, after)| {
            let takes = match piece {
                Piece::Char(only) => only == c,
                Piece::Class(negated, chars) => chars.contains(c) != *negated,
                _ => true,
            };
            takes && name_matches(rest, after)
        }),
    }
}

/// Whether `pieces` are a path that the leading segments of `other` go through: a directory, whatever its
/// name.
fn leads_below(pieces: &[Piece], other: &[Piece]) -> bool {
    let literal = |piece: &&Piece| matches!(piece, Piece::Char(_) | Piece::Slash);
    let is_path = pieces.iter().all(|piece| literal(&piece));
    let leading: Vec<Piece> = other.iter().take_while(literal).cloned().collect();
    let path = text(pieces);
    let path = format!("{}/", path.trim_end_matches('/'));
    let whole = if leading.len() == other.len() { "/" } else { "" };
    is_path && format!("{}{whole}", text(&leading)).starts_with(&path)
}

/// Every path of at most `length` characters over an alphabet, `z` being none that a pattern names.
fn paths(length: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..length {
        last = last
            .iter()
            .flat_map(|path| ["a", "b", "z", ".", "/"].map(|c| format!("{path}{c}")))
            .collect();
        all.extend(last.iter().cloned());
    }
    all.retain(|path| is_path(path));
    all
}

fn is_path(text: &str) -> bool {
    text.split('/').all(|segment| !matches!(segment, "" | "." | ".."))
}

fn bits(oracle: &Oracle, paths: &[String]) -> Vec<u64> {
    let word = |paths: &[String]| {
        let named = paths.iter().enumerate().filter(|(_, path)| oracle.names(path));
        named.fold(0_u64, |word, (bit, _)| word | 1 << bit)
    };
    paths.chunks(64).map(word).collect()
}

fn meet(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}

/// All patterns of one to three pieces, and what the oracle knows of each.
fn small_patterns() -> Vec<Vec<Piece>> {
    let pieces = [
        Piece::Char('a'),
        Piece::Char('.'),
        Piece::Slash,
        Piece::Star,
        Piece::One,
        Piece::Class(false, vec!['a', '.']),
        Piece::Class(true, vec!['a']),
    ];
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..3 {
        last = last
            .iter()
            .flat_map(|head: &Vec<Piece>| {
                pieces
                    .iter()
                    .map(|piece| [&head[..], std::slice::from_ref(piece)].concat())
            })
            .collect();
        all.extend(last.iter().cloned());
    }
    all.remove(0);
    all.retain(|pieces| !text(pieces).starts_with("./"));
    all
}

/// The shortest path that two patterns have in common is no longer than both together: a character that a
/// star of both takes can go, but for one in a segment that would be empty, `.` or `..` without it, and
/// then the segment takes two pieces of one pattern at least, or one of each. Six characters are enough for
/// three pieces each.
#[test]
fn every_two_of_the_small_patterns_overlap_if_and_only_if_some_path_is_named_by_both() {
    let paths = paths(6);
    let mut known = Vec::new();
    for pieces in small_patterns() {
        let oracle = Oracle::new(&pieces);
        let parsed = ResourceId::parse(&text(&pieces));
        assert_eq!(parsed.is_ok(), oracle.is_some(), "{} {parsed:?}", text(&pieces));
        if let (Ok(resource), Some(oracle)) = (parsed, oracle) {
            known.push((bits(&oracle, &paths), pieces, resource));
        }
    }
    assert!(known.len() > 250, "{}", known.len());
    for (index, (bits, pieces, resource)) in known.iter().enumerate() {
        for (other_bits, other_pieces, other) in &known[index..] {
            let below = leads_below(pieces, other_pieces) || leads_below(other_pieces, pieces);
            let expected = meet(bits, other_bits) || below;
            let pair = (resource.as_str(), other.as_str());
            assert_eq!(resource.overlaps(other), expected, "{pair:?}");
            assert_eq!(other.overlaps(resource), expected, "{pair:?} the other way");
        }
    }
}

fn leaf() -> impl Strategy<Value = Piece> + Clone {
    prop_oneof![
        4 => prop::sample::select(vec!['a', 'b', '.']).prop_map(Piece::Char),
        3 => Just(Piece::Star),
        1 => Just(Piece::One),
        1 => prop::sample::select(vec![
            Piece::Class(false, vec!['a', 'b']),
            Piece::Class(false, vec!['a', '.']),
            Piece::Class(true, vec!['a']),
            Piece::Class(true, vec!['b', '.']),
        ]),
    ]
}

/// Pieces in any order: often no pattern.
fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let piece = prop_oneof![3 => leaf(), 1 => Just(Piece::Slash)];
    let piece = piece.prop_recursive(2, 8, 3, |inner| {
        let alternative = prop::collection::vec(inner, 0..3);
        prop::collection::vec(alternative, 2..4).prop_map(Piece::Braces)
    });
    let dot_slash = |pieces: &Vec<Piece>| text(pieces).starts_with("./");
    prop::collection::vec(piece, 1..6)
        .prop_filter("a leading ./ is dropped", move |pieces| !dot_slash(pieces))
}

/// Names and trees with slashes between them, braces around some: most of the time, a pattern.
fn good_pattern() -> impl Strategy<Value = (Vec<Piece>, ResourceId)> {
    let names = prop::collection::vec(leaf(), 1..4);
    let tree = Just(vec![Piece::Star, Piece::Star]);
    let braces = prop::collection::vec(prop::collection::vec(leaf(), 0..3), 2..4);
    let sub = prop::collection::vec(prop::collection::vec(leaf(), 1..3), 2..3);
    let below = sub.prop_map(|names| names.join(&Piece::Slash));
    let mixed = (names.clone(), braces.clone(), below).prop_map(|(name, mut braces, below)| {
        braces.push(below);
        [name, vec![Piece::Braces(braces)]].concat()
    });
    let braced =
        (braces, names.clone()).prop_map(|(braces, name)| [vec![Piece::Braces(braces)], name].concat());
    let segment = prop_oneof![5 => names, 2 => tree, 1 => braced, 1 => mixed];
    (prop::collection::vec(segment, 1..4), prop::bool::weighted(0.1)).prop_filter_map(
        "no pattern",
        |(segments, slash)| {
            let mut pieces = segments.join(&Piece::Slash);
            pieces.extend(slash.then_some(Piece::Slash));
            let resource = ResourceId::parse(&text(&pieces)).ok()?;
            (!text(&pieces).starts_with("./")).then_some((pieces, resource))
        },
    )
}

/// A path that an expansion of the pattern names, by way of `choices`.
fn a_path_of(oracle: &Oracle, choices: &[usize]) -> String {
    let mut choices = choices.iter().copied().cycle();
    let mut choose = |count: usize| choices.next().unwrap() % count;
    let (segments, below) = &oracle.0[choose(oracle.0.len())];
    let mut names = Vec::new();
    for segment in segments {
        if *segment == [Piece::Star, Piece::Star] {
            names.extend((0..choose(3)).map(|_| "b".to_owned()));
            continue;
        }
        let mut name = String::new();
        for piece in segment {
            match piece {
                Piece::Char(c) => name.push(*c),
                Piece::Star => name.extend("za.b".chars().take(choose(5))),
                Piece::Class(false, chars) => name.push(chars[choose(chars.len())]),
                _ => name.push('z'),
            }
        }
        names.push(name);
    }
    if *below && choose(2) == 1 {
        names.push("z".to_owned());
    }
    names.join("/")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_pattern_is_taken_if_and_only_if_all_its_expansions_are(pieces in pieces()) {
        prop_assert_eq!(ResourceId::parse(&text(&pieces)).is_ok(), Oracle::new(&pieces).is_some(), "{}", text(&pieces));
    }

    #[test]
    fn a_witness_is_named_by_both_and_without_one_no_path_of_either_is_the_others(
        (a_pieces, a) in good_pattern(),
        (b_pieces, b) in good_pattern(),
        choices in prop::collection::vec(prop::collection::vec(any::<usize>(), 1..8), 20),
    ) {
        let (of_a, of_b) = (Oracle::new(&a_pieces).unwrap(), Oracle::new(&b_pieces).unwrap());
        let witness = a.overlap_witness(&b);
        prop_assert_eq!(a.overlaps(&b), witness.is_some());
        prop_assert_eq!(b.overlaps(&a), witness.is_some());
        prop_assert_eq!(b.overlap_witness(&a).is_some(), witness.is_some());
        if let Some(path) = &witness {
            let named_by_a = of_a.names(path) || leads_below(&a_pieces, &b_pieces);
            let named_by_b = of_b.names(path) || leads_below(&b_pieces, &a_pieces);
            prop_assert!(named_by_a && named_by_b, "{} {} {}", a.as_str(), b.as_str(), path);
        }
        for choices in choices {
            for (one, other) in [(&of_a, &of_b), (&of_b, &of_a)] {
                let path = a_path_of(one, &choices);
                prop_assert!(witness.is_some() || !is_path(&path) || !other.names(&path), "{}", path);
            }
        }
    }

    #[test]
    fn every_resource_overlaps_itself((pieces, a) in good_pattern()) {
        let path = a.overlap_witness(&a).unwrap();
        prop_assert!(a.overlaps(&a) && Oracle::new(&pieces).unwrap().names(&path), "{}", path);
    }

    #[test]
    fn a_path_overlaps_a_pattern_if_and_only_if_the_pattern_names_it_or_what_is_below(
        (pieces, a) in good_pattern(), path in prop::sample::select(paths(4)),
    ) {
        let oracle = Oracle::new(&pieces).unwrap();
        let resource = ResourceId::parse(&path).unwrap();
        let witness = a.overlap_witness(&resource);
        prop_assert_eq!(witness.is_some(), a.overlaps(&resource));
        prop_assert!(witness.is_some() || !oracle.names(&path));
        if let Some(witness) = witness {
            let path_pieces: Vec<_> = path.chars().map(|c| if c == '/' { Piece::Slash } else { Piece::Char(c) }).collect();
            prop_assert!(oracle.names(&witness) || leads_below(&pieces, &path_pieces), "{}", witness);
            prop_assert!(format!("{witness}/").starts_with(&format!("{path}/")), "{}", witness);
        }
    }

    #[test]
    fn any_text_is_taken_or_refused(text in r"[a-c/*?\[\]{},!^\\.: é\-]{0,40}|.{0,20}") {
        if let Ok(resource) = ResourceId::parse(&text) {
            prop_assert_eq!(resource.as_str(), &text);
            prop_assert!(resource.overlaps(&resource));
        }
    }

    #[test]
    fn the_index_finds_what_asking_each_finds(
        entries in prop::collection::vec((good_pattern(), 0_u8..4), 0..8),
        gone in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        (_, query) in good_pattern(),
    ) {
        let mut index = ResourceIndex::default();
        let mut plain = BTreeSet::new();
        for ((_, resource), key) in &entries {
            let fresh = plain.insert((resource.as_str().to_owned(), *key));
            prop_assert_eq!(index.insert(resource.clone(), *key), fresh);
        }
        for gone in gone {
            if entries.is_empty() { break }
            let ((_, resource), key) = gone.get(&entries);
            let was = plain.remove(&(resource.as_str().to_owned(), *key));
            prop_assert_eq!(index.remove(resource, key), was);
        }
        let asked = plain.iter().filter(|(text, _)| ResourceId::parse(text).unwrap().overlaps(&query));
        let asked: BTreeSet<u8> = asked.map(|(_, key)| *key).collect();
        let found: BTreeSet<u8> = index.overlapping(&query).into_iter().copied().collect();
        prop_assert_eq!(found, asked);
    }
}

#[test]
fn a_fault_is_an_error_that_says_the_rule() {
    let fault: Box<dyn std::error::Error> = Box::new(ResourceFault::Stars);
    assert_eq!(
        fault.to_string(),
        "expected a segment of * or **, not of more stars"
    );
}
