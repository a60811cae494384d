//! Sets of characters as sorted ranges: what one step of a pattern takes.

/// The characters from the first to the second, both included.
pub type Range = (char, char);

/// Every character but the separator.
const ANY: &[Range] = &[('\0', '.'), ('0', char::MAX)];

/// Where the characters of a witness are looked for, the most readable first.
const READABLE: [Range; 5] = [
    ('a', 'z'),
    ('A', 'Z'),
    ('0', '9'),
    ('!', '~'),
    ('\u{A1}', '\u{D7FF}'),
];

/// A set of characters. The separator `/` is only ever in the set of itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Charset {
    /// One character.
    One(char),
    /// Every character but the separator.
    Any,
    /// These, sorted, apart from each other, without the separator.
    Ranges(Box<[Range]>),
}

impl Charset {
    /// The separator.
    pub const SLASH: Self = Self::One('/');

    /// The characters in these ranges, or, negated, all others; never the separator.
    pub fn of(mut ranges: Vec<Range>, negated: bool) -> Self {
        ranges.sort_unstable();
        let mut within: Vec<Range> = Vec::new();
        for (low, high) in ranges {
            match within.last_mut() {
                Some(last) if low <= last.1 || after(last.1) == Some(low) => last.1 = last.1.max(high),
                _ => within.push((low, high)),
            }
        }
        if negated {
            within = complement(&within);
        }
        let ranges: Box<[Range]> = intersection(&within, ANY).collect();
        match *ranges {
            [(low, high)] if low == high => Self::One(low),
            _ => Self::Ranges(ranges),
        }
    }

    pub fn contains(&self, c: char) -> bool {
        match self {
            Self::One(only) => *only == c,
            Self::Any => c != '/',
            Self::Ranges(ranges) => ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)),
        }
    }

    /// What two sets have in common, told by one character of each kind.
    pub fn common(&self, other: &Self) -> Common {
        match (self, other) {
            (Self::One(c), set) | (set, Self::One(c)) if set.contains(*c) => Common::one(*c),
            (Self::One(_), _) | (_, Self::One(_)) => Common::default(),
            (Self::Any, Self::Any) => Common::ANY,
            (Self::Any, Self::Ranges(ranges)) | (Self::Ranges(ranges), Self::Any) => Common::of(ranges, ANY),
            (Self::Ranges(a), Self::Ranges(b)) => Common::of(a, b),
        }
    }
}

/// What two sets have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// Whether the dot is.
    pub dot: bool,
    /// The most readable of the others.
    pub other: Option<char>,
}

impl Common {
    /// Every character but the separator.
    const ANY: Self = Self {
        dot: true,
        other: Some('a'),
    };

    fn one(c: char) -> Self {
        Self {
            dot: c == '.',
            other: (c != '.').then_some(c),
        }
    }

    fn of(left: &[Range], right: &[Range]) -> Self {
        let mut dot = false;
        let mut best = None;
        for range in intersection(left, right) {
            dot |= (range.0..=range.1).contains(&'.');
            // The separator follows the dot and is in no range: one that starts with the dot ends with it.
            if range.0 != '.' {
                let found = readable(range);
                best = Some(best.map_or(found, |best: (usize, char)| best.min(found)));
            }
        }
        Self {
            dot,
            other: best.map(|(_, c)| c),
        }
    }
}

/// The most readable character of a range, and how far down the list it was found.
fn readable((low, high): Range) -> (usize, char) {
    let meets = |(rank, (least, most)): (usize, &Range)| {
        let first = low.max(*least);
        (first <= high.min(*most)).then_some((rank, first))
    };
    let found = READABLE.iter().enumerate().find_map(meets);
    found.unwrap_or((READABLE.len(), low))
}

fn after(c: char) -> Option<char> {
    (c..=char::MAX).nth(1)
}

fn before(c: char) -> Option<char> {
    ('\0'..c).next_back()
}

/// All characters but those of sorted ranges that do not touch.
fn complement(ranges: &[Range]) -> Vec<Range> {
    let mut outside = Vec::new();
    let mut next = Some('\0');
    for (low, high) in ranges {
        if let (Some(first), Some(last)) = (next, before(*low))
            && first <= last
        {
            outside.push((first, last));
        }
        next = after(*high);
    }
    outside.extend(next.map(|first| (first, char::MAX)));
    outside
}

/// The common ranges of two sorted lists, in one pass over both.
fn intersection(mut left: &[Range], mut right: &[Range]) -> impl Iterator<Item = Range> {
    std::iter::from_fn(move || {
        loop {
            let ((a, rest_of_left), (b, rest_of_right)) = (left.split_first()?, right.split_first()?);
            if a.1 <= b.1 {
                left = rest_of_left;
            }
            if b.1 <= a.1 {
                right = rest_of_right;
            }
            let (low, high) = (a.0.max(b.0), a.1.min(b.1));
            if low <= high {
                return Some((low, high));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set() -> impl Strategy<Value = (Charset, Vec<Range>, bool)> {
        let end = prop_oneof![
            Just('\u{D7FF}'),
            Just('\u{E000}'),
            Just(char::MAX),
            prop::char::range(' ', '4')
        ];
        let range = (end.clone(), end).prop_map(|(a, b)| (a.min(b), a.max(b)));
        (prop::collection::vec(range, 0..5), any::<bool>())
            .prop_map(|(ranges, negated)| (Charset::of(ranges.clone(), negated), ranges, negated))
    }

    /// The characters that could tell two such sets apart.
    fn chars() -> impl Iterator<Item = char> {
        ('\u{1E}'..'6').chain([
            '\0',
            'a',
            '\u{D7FE}',
            '\u{D7FF}',
            '\u{E000}',
            '\u{E001}',
            '\u{10FFFE}',
            char::MAX,
        ])
    }

    proptest! {
        #[test]
        fn a_set_has_what_its_ranges_have_or_the_rest_but_no_separator((set, ranges, negated) in set()) {
            for c in chars() {
                let listed = ranges.iter().any(|(low, high)| *low <= c && c <= *high);
                prop_assert_eq!(set.contains(c), c != '/' && listed != negated, "{:?} in {:?}", c, set);
            }
        }

        #[test]
        fn two_sets_have_in_common_what_is_in_both((a, ..) in set(), (b, ..) in set()) {
            let common = a.common(&b);
            let both = |c: &char| a.contains(*c) && b.contains(*c);
            prop_assert_eq!(common.dot, both(&'.'));
            prop_assert_eq!(common.other.is_some(), chars().any(|c| c != '.' && both(&c)));
            if let Some(c) = common.other {
                prop_assert!(both(&c) && c != '.', "{:?}", c);
            }
        }
    }

    #[test]
    fn a_witness_is_readable_where_it_can_be() {
        for (ranges, c) in [
            (vec![(' ', '~')], 'a'),
            (vec![('\0', '9')], '0'),
            (vec![('\0', ')')], '!'),
            (vec![('\u{90}', 'é')], '¡'),
            (vec![('\u{80}', '\u{81}')], '\u{80}'),
            (vec![('!', '%'), ('X', 'Z'), ('é', 'ê')], 'X'),
        ] {
            let common = Charset::of(ranges, false).common(&Charset::Any);
            assert_eq!(common.other, Some(c), "{common:?}");
        }
    }
}
