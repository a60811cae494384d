//! Every documented decision, as a table.

use super::*;

fn id(text: &str) -> ResourceId {
    ResourceId::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// Whether two resource ids overlap, asked both ways, and with a witness or without one.
fn overlap(a: &str, b: &str) -> bool {
    let (a, b) = (id(a), id(b));
    let found = a.overlaps(&b);
    assert_eq!(b.overlaps(&a), found, "{a:?} {b:?}");
    assert_eq!(a.overlap_witness(&b).is_some(), found, "{a:?} {b:?}");
    found
}

fn overlapping(pairs: &[(&str, &str)]) {
    for (a, b) in pairs {
        assert!(overlap(a, b), "{a} {b}");
    }
}

fn apart(pairs: &[(&str, &str)]) {
    for (a, b) in pairs {
        assert!(!overlap(a, b), "{a} {b}");
    }
}

fn refused(fault: ResourceFault, texts: &[&str]) {
    for text in texts {
        assert_eq!(ResourceId::parse(text).err(), Some(fault), "{text}");
    }
}

#[test]
fn the_examples_of_the_extension_hold() {
    overlapping(&[("src/**", "src/app/*.rs"), ("src/app", "src/app/**")]);
    apart(&[
        ("src/*.rs", "src/app/*.rs"),
        ("pr:12", "pr:1"),
        ("task:abc", "pr:12"),
    ]);
}

#[test]
fn an_opaque_id_overlaps_itself_alone() {
    for text in [
        "pr:12",
        "task:abc",
        "x:1",
        "https://example.com/a",
        "git+ssh:a",
        "v1.0:x",
        "a:*",
        "a:**",
        "a:{",
        "a:b c",
        "README.md:12",
    ] {
        assert!(id(text).is_opaque() && overlap(text, text), "{text}");
        assert!(!overlap(text, "**"), "{text}");
    }
    apart(&[
        ("pr:12", "PR:12"),
        ("pr:*", "pr:1"),
        ("pr:12", "pr:12 "),
        ("a:b", r"a\:b"),
        ("a:b", "./a:b"),
    ]);
    for text in ["./a:b", r"a\:b", "src/a:b", "1a:b", "é:b", ":b", "a_b:c", "*:b"] {
        assert!(!id(text).is_opaque(), "{text}");
    }
    overlapping(&[("./a:b", r"a\:b"), ("?:b", "./a:b")]);
    refused(ResourceFault::Scheme, &["pr:", "pr:  "]);
    refused(ResourceFault::Absolute, &[r"C:\src", "C:/src"]);
}

#[test]
fn a_path_names_itself_and_all_below() {
    overlapping(&[
        ("src/app", "src/app"),
        ("src/app", "src/app/x.rs"),
        ("src/app", "src/app/deep/*.rs"),
        ("src", "src/app/*.rs"),
        ("src/app/", "src/app"),
        ("./src/app", "src/app"),
        ("././src", "src"),
    ]);
    apart(&[
        ("src/app", "src/apple"),
        ("src/app", "src/ap"),
        ("src/app/x.rs", "src/app/y.rs"),
        ("src/App", "src/app"),
        ("e\u{301}", "é"),
        (" a", "a"),
    ]);
}

#[test]
fn a_glob_names_what_is_below_where_its_last_segment_is_fixed_or_a_slash_ends_it() {
    overlapping(&[
        ("src/*", "src/app"),
        ("src/*/", "src/app/x.rs"),
        ("crates/*/src", "crates/a/src/lib.rs"),
        ("**/tests", "a/tests/b/c.rs"),
        ("src/{app,lib}", "src/lib/x.rs"),
        ("src/{app,l*}", "src/app/x.rs"),
        ("src/{app,l*}/", "src/lib/x.rs"),
    ]);
    apart(&[
        ("src/*", "src/app/x.rs"),
        ("*", "src/app"),
        ("src/{app,l*}", "src/lib/x.rs"),
        ("src/app?", "src/apps/x.rs"),
    ]);
}

#[test]
fn a_path_is_taken_for_a_directory_by_its_name_or_by_the_other() {
    overlapping(&[
        ("src/app", "src/**/*.rs"),
        ("src/app", "**/x.rs"),
        (".github", "**/*.yml"),
        ("v1.0/", "**/*.rs"),
        ("v1.0", "v1.0/x.rs"),
        ("v1.0", "v1.0/**/*.rs"),
        ("v1.0", "v1.0/**"),
        ("v1.0", "*/"),
        ("**/.config", "a/.config/x.toml"),
        ("{a.b/,c}", "a.b/x"),
    ]);
    apart(&[
        ("README.md", "**/*.rs"),
        ("src/lib.rs", "src/*/lib.rs"),
        ("v1.0", "*/x.rs"),
        ("**/mod.rs", "src/mod.rs/x.c"),
        ("..a", "*/x"),
        (".a.b", "*/x"),
        ("{a.b,c}", "*.b/x"),
    ]);
}

#[test]
fn a_star_stays_within_its_segment() {
    overlapping(&[
        ("*.rs", "a*"),
        ("*", ".env"),
        ("a*b*c", "aXcYbc"),
        ("a*", "a"),
        ("*a", "a*"),
        ("a**b", "a*b"),
        ("a**b", "ab"),
        ("**.rs", "x.rs"),
        ("{*,a}*/b", "c/d/b"),
    ]);
    apart(&[
        ("*.rs", "*.ts"),
        ("*", "a/b*"),
        ("a*b", "a*c"),
        ("a**b", "a/b"),
        ("**.rs", "src/x.rs"),
        ("src/*/x", "src/x*"),
    ]);
    refused(ResourceFault::Stars, &["***", "a/***/b", "{*,b}**", "a/****"]);
    assert!(overlap("a***", "ab"));
}

#[test]
fn two_stars_are_any_segments_or_none() {
    overlapping(&[
        ("**", "a"),
        ("**", "**"),
        ("src/**", "src"),
        ("src/**", "src/*"),
        ("a/**/b", "a/b"),
        ("a/**/b", "a/x/y/b"),
        ("**/a/**", "**/b/**"),
        ("**/**", "x"),
        ("**/*.rs", "src/app/x.rs"),
        ("**/", "a/b"),
        ("src/**/*.rs", "src/x.rs"),
        ("{**,a}/b", "b"),
        ("{a/,}**", "x/y"),
        ("**{.rs,/b}", "c/b"),
    ]);
    apart(&[
        ("src/**", "srcs"),
        ("a/**/b", "a/b*c"),
        ("**/*.rs", "**/*.ts"),
        ("**/a/*", "*/b/c*"),
        ("{a/,}**", "pr:1"),
    ]);
}

#[test]
fn a_question_mark_is_one_character_and_no_slash() {
    overlapping(&[("?", "é"), ("?", "😀"), ("a?c", "a*c"), ("?x", ".*")]);
    apart(&[("?", "ab"), ("?", "e\u{301}"), ("a?b", "a/b"), ("??", "?")]);
}

#[test]
fn no_segment_is_a_dot_or_two() {
    apart(&[("?", ".*"), ("??", "..*"), (".?", "..*")]);
    overlapping(&[("?", "[.x]"), (".*", "??"), ("..*", "???")]);
    refused(
        ResourceFault::Dots,
        &[
            ".", "..", "a/./b", "../a", "a/..", "{.,a}/b", ".{.,a}", "{./a,b}", "a/[.]", "a/{b,.}",
        ],
    );
    for text in ["...", "..a", ".a", "a..", "{..,a}b"] {
        assert!(overlap(text, text), "{text}");
    }
}

#[test]
fn a_class_is_one_of_its_characters() {
    overlapping(&[
        ("[abc]", "b"),
        ("[a-c]", "[c-e]"),
        ("[!a]", "b"),
        ("[^a]", "b"),
        ("[!a]", "[!b]"),
        ("[-a]", "./-"),
        ("[a-]", "./-"),
        ("[a-c-]", "./-"),
        (r"[a\-z]", "./-"),
        (r"[\]]", r"\]"),
        (r"[\[]", r"\["),
        ("[a!]", r"\!"),
        ("[*]", r"\*"),
        ("[{},]", r"\{"),
        ("{[a,b],c}", ","),
        ("[а-я]", "ж"),
        ("[\u{D000}-\u{F000}]", "\u{E000}"),
        ("[a-bd]", "d"),
    ]);
    apart(&[
        ("[abc]", "d"),
        ("[a-c]", "[d-f]"),
        ("[!a]", "a"),
        ("[!a-z]", "[b-y]"),
        ("a[!b]c", "a/c"),
        ("a[+-9]c", "a/c"),
        (r"[a\-z]", "b"),
        ("[a-z]", "B"),
        ("[*]", "ab"),
    ]);
    // A class of one character is that character: the way to write a fixed name.
    overlapping(&[("[a]pp", "app/x"), ("[a-a]", "a/b")]);
    refused(
        ResourceFault::Class,
        &["[]", "[!]", "[]a]", "[[:alpha:]]", "[a/b]", "[[]"],
    );
    refused(ResourceFault::Range, &["[z-a]", "[a-c-e]"]);
    refused(ResourceFault::Unpaired, &["[", "[a", "a]", "[a-", "{[a,b}"]);
}

#[test]
fn braces_mean_what_their_expansion_means() {
    overlapping(&[
        ("{a,b}", "b"),
        ("{src,tests}/**", "tests/x"),
        ("{src/app,docs}/*.md", "src/app/x.md"),
        ("x{,y}", "x"),
        ("a/{b/,}c", "a/c"),
        ("{a,{b,c{d,e}}}", "ce"),
        ("{a,b}{c,d}", "bc"),
        ("{1..3,x}", "1..3"),
        ("a,b", "a,*"),
    ]);
    apart(&[
        ("{a,b}", "c"),
        ("{a,b}{c,d}", "cb"),
        ("x{,y}", "xx"),
        ("{1..3,x}", "2"),
    ]);
    refused(ResourceFault::Alternatives, &["{}", "{a}", "{a..c}", "x{{a,b}}"]);
    refused(ResourceFault::Unpaired, &["{a,b", "a}", "{a,{b,c}", "{", "}"]);
    refused(ResourceFault::Nothing, &["{,a}", "./", "{a,}{,b}"]);
    refused(
        ResourceFault::Segment,
        &["a//b", "a/{,b}/c", "a//", "a/{b/,c}/d", "**//a"],
    );
    refused(ResourceFault::Absolute, &["/", "/a", "{/a,b}", "{,a}/b"]);
}

#[test]
fn a_backslash_makes_a_punctuation_mark_a_character() {
    overlapping(&[
        (r"app/\[id\]/page.tsx", "app/*/page.tsx"),
        (r"\*", "?"),
        (r"\\", "?"),
        (r"\{a,b\}", "*,*"),
        (r"{a\,b,c}", r"a\,b"),
        (r"\!a", "?a"),
        (r"\#", "#"),
    ]);
    apart(&[(r"\*", "a"), (r"app/\[id\]", "app/i"), (r"\?", "a")]);
    refused(
        ResourceFault::Escape,
        &[r"src\app", r"a\", r"a\/b", r"[a\b]", r"\é"],
    );
    refused(ResourceFault::Exclusion, &["!a", "!src/**", "./!a"]);
}

#[test]
fn marks_that_mean_something_elsewhere_are_characters() {
    overlapping(&[
        ("app/(auth)/@modal", "app/(*)/@*"),
        ("+(a|b)", "+(a|b)"),
        ("~/a", "~/*"),
        ("$HOME", "$*"),
    ]);
    apart(&[("@(a|b)", "a"), ("~/a", "a")]);
}

#[test]
fn a_resource_id_of_512_characters_is_taken() {
    for c in ["a", "é", "😀"] {
        assert!(ResourceId::parse(&c.repeat(512)).is_ok());
        refused(ResourceFault::Length, &[&c.repeat(513)]);
    }
    refused(ResourceFault::Length, &["", " ", "\u{FEFF}\t", &"*".repeat(513)]);
}

#[test]
fn a_resource_id_is_one_line_without_controls() {
    refused(
        ResourceFault::Line,
        &[
            "a\nb",
            "a\tb",
            "a\u{0}",
            "pr:\u{7F}",
            "a\u{85}b",
            "a\u{2028}b",
            "a\u{2029}b",
            "a\rb",
            "a\u{B}b",
        ],
    );
    for text in ["a b", "a\u{80}b", "a\u{A0}b", "a\u{202A}b"] {
        assert!(ResourceId::parse(text).is_ok(), "{text:?}");
    }
}

#[test]
fn a_pattern_of_256_states_is_taken_and_its_literal_segments_do_not_count() {
    // A star, one state a character, and the end.
    let pattern = |prefix: usize, rest: usize| format!("{}*{}", "a/".repeat(prefix), "b".repeat(rest));
    for prefix in [0, 100] {
        assert!(ResourceId::parse(&pattern(prefix, 254)).is_ok());
        refused(ResourceFault::States, &[&pattern(prefix, 255)]);
    }
    assert!(ResourceId::parse(&"{,a}b".repeat(100)).is_ok());
    refused(ResourceFault::States, &[&"{*,a}b".repeat(85)]);
}

#[test]
fn braces_nested_as_deep_as_they_go_are_taken() {
    let nested = format!("{}a{}", "{a,".repeat(127), "}".repeat(127));
    assert!(overlap(&nested, "a") && !overlap(&nested, "b"));
}

#[test]
fn patterns_that_meet_in_all_their_states_are_decided() {
    let (a, b) = (format!("*{}a", "?".repeat(250)), format!("*{}b", "?".repeat(250)));
    assert!(!overlap(&a, &b) && overlap(&a, "*a"));
    let (a, b) = ("*a".repeat(126), "*b".repeat(126));
    assert!(!overlap(&a, &b) && overlap(&a, &format!("*{}", "a".repeat(200))));
}

#[test]
fn a_witness_shows_why() {
    for (a, b, path) in [
        ("src/**", "src/app/*.rs", "src/app/.rs"),
        ("src/app", "src/app/**", "src/app"),
        ("src/app", "src/app/x.rs", "src/app/x.rs"),
        ("**", "**", "a"),
        ("[!a]?", "**", "ba"),
        ("**/a/**", "b/**", "b/a"),
        ("pr:12", "pr:12", "pr:12"),
        (r"app/\[id\]", "app/*", "app/[id]"),
    ] {
        assert_eq!(id(a).overlap_witness(&id(b)).as_deref(), Some(path), "{a} {b}");
    }
}
