use super::*;

fn whole(text: &str) -> Result<&str, Malformed> {
    let mut reader = Reader::new(text);
    let (raw, _) = reader.raw()?;
    reader.finish()?;
    Ok(raw)
}

fn string(text: &str) -> Result<String, Malformed> {
    let mut reader = Reader::new(text);
    let string = reader.string()?.into_owned();
    reader.finish()?;
    Ok(string)
}

/// Both ways over a string - reading and skipping it - have to agree.
fn string_both_ways(text: &str) -> Result<String, Malformed> {
    let read = string(text);
    assert_eq!(read.clone().err(), whole(text).err(), "{text}");
    read
}

fn malformed(offset: usize, expected: &'static str) -> Malformed {
    Malformed { offset, expected }
}

#[test]
fn every_escape_of_json_is_read_and_no_other() {
    assert_eq!(string_both_ways(r#""\"\\\/\b\f\n\r\t""#).unwrap(), "\"\\/\u{8}\u{c}\n\r\t");
    assert_eq!(string_both_ways(r#""a\u0041\u00e9\u20ac\uFFFF\u0000z""#).unwrap(), "aA\u{e9}\u{20ac}\u{ffff}\0z");
    assert_eq!(string_both_ways("\"plain é 🦀 \u{7f}\u{2028}\"").unwrap(), "plain é 🦀 \u{7f}\u{2028}");
    assert_eq!(string_both_ways(r#""tail\n é 🦀""#).unwrap(), "tail\n é 🦀");
    for text in [r#""\a""#, r#""\'""#, r#""\x41""#, r#""\U0041""#, r#""\0""#, "\"\\", "\"\\\u{e9}\""] {
        assert_eq!(string_both_ways(text).unwrap_err(), malformed(2, "an escape character"), "{text}");
    }
    for (text, offset) in [(r#""\u""#, 3), (r#""\u12""#, 5), (r#""\u12g4""#, 5), (r#""\u+041""#, 3), ("\"\\u004", 6)] {
        assert_eq!(string_both_ways(text).unwrap_err(), malformed(offset, "four hexadecimal digits"), "{text}");
    }
}

#[test]
fn surrogates_come_in_pairs() {
    for (text, character) in [
        (r#""\ud800\udc00""#, '\u{10000}'),
        (r#""\uD83E\uDD80""#, '🦀'),
        (r#""\udbff\udfff""#, '\u{10ffff}'),
        (r#""\ud7ff""#, '\u{d7ff}'),
        (r#""\ue000""#, '\u{e000}'),
    ] {
        assert_eq!(string_both_ways(text).unwrap(), character.to_string());
    }
    for text in [
        r#""\ud800""#,
        r#""\udbff""#,
        r#""\udc00""#,
        r#""\udfff""#,
        r#""\ud800x""#,
        r#""\ud800\n""#,
        r#""\ud800\ud800""#,
        r#""\ud800\udbff""#,
        r#""\ud800\ue000""#,
        r#""\ud800\u0041""#,
        r#""\udc00\ud800""#,
        r#""\udc00\udc00""#,
    ] {
        assert_eq!(string_both_ways(text).unwrap_err().expected, "no surrogate without its pair", "{text}");
    }
    assert_eq!(string_both_ways(r#""\ud800\u12""#).unwrap_err().expected, "four hexadecimal digits");
}

#[test]
fn a_string_ends_and_holds_no_control_character() {
    for text in ["\"", "\"abc", "\"ab\\n", "\"0123456789abcdef0123456789abcdef"] {
        assert_eq!(string_both_ways(text).unwrap_err(), malformed(text.len(), "the end of a string"), "{text}");
    }
    for control in ('\0'..='\u{1f}').map(String::from) {
        for before in ["", "ab", "a\\n"] {
            let text = format!("\"{before}{control}\"");
            let expected = malformed(1 + before.len(), "no control character in a string");
            assert_eq!(string_both_ways(&text).unwrap_err(), expected, "{text:?}");
        }
    }
}

#[test]
fn numbers_are_those_of_json() {
    for text in [
        "0",
        "-0",
        "1",
        "-1",
        "10",
        "1234567890",
        "0.5",
        "-0.25",
        "1e1",
        "1E+1",
        "1e-1",
        "0e0",
        "0.0e00",
        "-12.34e-56",
        "1e00000000",
    ] {
        assert_eq!(whole(text), Ok(text));
        assert_eq!(whole(&format!("[{text}]")).map(str::len), Ok(text.len() + 2));
    }
    for (text, offset) in
        [("-", 1), ("-a", 1), ("1.", 2), ("1.e1", 2), ("1e", 2), ("1e+", 3), ("1E-", 3), ("1e+x", 3), ("-.5", 1)]
    {
        assert_eq!(whole(text), Err(malformed(offset, "a digit")), "{text}");
    }
    for (text, offset) in
        [("01", 1), ("00", 1), ("-01", 2), ("1x", 1), ("0x1", 1), ("1.2.3", 3), ("1e1e1", 3), ("1_0", 1), ("1 2", 2)]
    {
        assert_eq!(whole(text), Err(malformed(offset, "the end of the text")), "{text}");
    }
    for text in ["+1", ".5", "NaN", "Infinity", "-Infinity"] {
        assert!(whole(text).is_err(), "{text}");
    }
}

#[test]
fn numbers_that_overflow_a_double_are_refused_and_those_that_underflow_are_not() {
    let zeros = |count: usize| "0".repeat(count);
    for text in [
        "1.7976931348623157e308".to_owned(),
        "-1.7976931348623157e308".to_owned(),
        "1e308".to_owned(),
        format!("1{}", zeros(308)),
        format!("1{}.5", zeros(308)),
        format!("0.{}1e600", zeros(500)),
        format!("1{}e-400", zeros(600)),
        format!("{}e99", "9".repeat(196)),
        format!("{}e99", "9".repeat(209)),
        "1e-400".to_owned(),
        "0e99999999999999999999".to_owned(),
        "1e-99999999999999999999".to_owned(),
        "1e0000000000000000308".to_owned(),
    ] {
        assert_eq!(whole(&text), Ok(&*text));
        assert_eq!(Reader::new(&text).number(), Ok(&*text));
    }
    for text in [
        "1.7976931348623159e308".to_owned(),
        "-1.7976931348623159e308".to_owned(),
        "1e309".to_owned(),
        "1E+309".to_owned(),
        "-1e400".to_owned(),
        format!("1{}", zeros(309)),
        format!("-1{}", zeros(400)),
        format!("1{}.0", zeros(309)),
        format!("{}e99", "9".repeat(210)),
        format!("0.{}1e900", zeros(500)),
        "1e99999999999999999999".to_owned(),
    ] {
        assert_eq!(whole(&text).unwrap_err(), malformed(text.len(), "numbers within the range of a double"), "{text}");
        assert!(Reader::new(&text).number().is_err());
    }
}

#[test]
fn literals_are_spelled_out() {
    for text in ["true", "false", "null", " \t\r\nnull \t\r\n"] {
        assert_eq!(whole(text), Ok(text.trim()));
    }
    for text in ["tru", "t", "fals", "nul", "n", "True", "NULL", "nUll", "falze", ""] {
        assert_eq!(whole(text), Err(malformed(0, "a value")), "{text}");
    }
    assert_eq!(whole("nullx"), Err(malformed(4, "the end of the text")));
    assert_eq!(Reader::new("true").boolean(), Ok(true));
    assert_eq!(Reader::new("false").boolean(), Ok(false));
    assert!(Reader::new("tru").boolean().is_err());
    assert_eq!(Reader::new(" null").null(), Ok(true));
    assert_eq!(Reader::new("1").null(), Ok(false));
    assert!(Reader::new("nul").null().is_err());
}

#[test]
fn white_space_is_that_of_json() {
    for space in ["\u{b}", "\u{c}", "\u{a0}", "\u{feff}", "\u{2028}", "\0"] {
        assert!(whole(&format!("1{space}")).is_err(), "{space:?}");
        assert!(whole(&format!("{space}1")).is_err(), "{space:?}");
    }
}

#[test]
fn containers_close_what_they_opened_and_separate_with_one_comma() {
    for text in
        ["[]", "{}", "[1]", "[1,2]", "[[],[]]", "{\"a\":1}", "{\"a\":{},\"b\":[{}]}", "[ 1 , 2 ]", "{ \"a\" : 1 , \"a\" : 2 }"]
    {
        assert_eq!(whole(text), Ok(text));
        assert_eq!(pulled(text), Ok(()), "{text}");
    }
    for text in [
        "[",
        "{",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1,,2]",
        "[1 2]",
        "[1}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1",
        "{\"a\":1,}",
        "{,}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1]",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{\"a\":1,,\"b\":2}",
        "[]]",
        "{}}",
        "]",
        "}",
        "[1]]",
        "{\"a\":[}]",
        "[{]}",
        "[1:2]",
        "{\"a\",1}",
        "{\"a\":1,2}",
    ] {
        assert!(whole(text).is_err(), "{text}");
        assert!(pulled(text).is_err(), "{text}");
    }
    assert_eq!(whole("[1}"), Err(malformed(2, "\",\" or \"]\"")));
    assert_eq!(whole("{\"a\":1]"), Err(malformed(6, "\",\" or \"}\"")));
    assert_eq!(pulled("[1}"), Err(malformed(2, "\",\" or \"]\"")));
    assert_eq!(pulled("{\"a\":1]"), Err(malformed(6, "\",\" or \"}\"")));
    assert_eq!(pulled("[1,]"), Err(malformed(3, "a value or a member after \",\"")));
    assert_eq!(pulled("{1:1}"), Err(malformed(1, "a member's name")));
    assert_eq!(whole("{1:1}"), Err(malformed(1, "a member's name")));
    assert_eq!(pulled("{\"a\" 1}"), Err(malformed(5, "\":\"")));
    assert_eq!(Reader::new("[]").enter_object(), Err(malformed(0, "an object")));
    assert_eq!(Reader::new("{}").enter_array(), Err(malformed(0, "an array")));
}

/// Reads a container member by member, as the contract's types do.
fn pulled(text: &str) -> Parsed<()> {
    fn value(reader: &mut Reader<'_>) -> Parsed<()> {
        let mut first = true;
        match reader.peek() {
            Some(b'{') => {
                reader.enter_object()?;
                while reader.next_member(&mut first)?.is_some() {
                    value(reader)?;
                }
                Ok(())
            }
            Some(b'[') => {
                reader.enter_array()?;
                while reader.next_element(&mut first)? {
                    value(reader)?;
                }
                Ok(())
            }
            _ => reader.skip_value(),
        }
    }
    let mut reader = Reader::new(text);
    value(&mut reader)?;
    assert_eq!(reader.depth, 0);
    reader.finish()
}

#[test]
fn what_a_value_is_can_be_told_before_it_is_read() {
    for (text, kind) in [
        ("\"", "a string"),
        ("{", "an object"),
        ("[", "an array"),
        ("t", "a boolean"),
        ("f", "a boolean"),
        ("n", "null"),
        ("-", "a number"),
        ("7", "a number"),
    ] {
        assert_eq!(Reader::new(text).kind(), kind);
    }
}

#[test]
fn any_mixture_of_open_containers_is_remembered() {
    // More than one and two words of bits, with a pattern that no rotation repeats.
    for levels in [1, 2, 63, 64, 65, 66, 127, 128, 129, 300, 1000] {
        let object = |level: usize| (level * level + level / 3) % 5 < 2;
        let opened: String = (0..levels).map(|level| if object(level) { "{\"a\":" } else { "[" }).collect();
        let closed: Vec<char> = (0..levels).rev().map(|level| if object(level) { '}' } else { ']' }).collect();
        let text = opened.clone() + "1" + &String::from_iter(&closed);
        let mut reader = Reader::new(&text);
        assert_eq!(reader.raw(), Ok((&*text, levels)));
        assert_eq!((reader.depth, reader.finish()), (0, Ok(())));
        for wrong in [0, levels / 2, levels - 1] {
            let mut closed = closed.clone();
            closed[wrong] = if closed[wrong] == '}' { ']' } else { '}' };
            let text = opened.clone() + "1" + &String::from_iter(&closed);
            assert_eq!(whole(&text).unwrap_err().offset, opened.len() + 1 + wrong, "{levels} {wrong}");
        }
        // Siblings after a container that has closed, at every level.
        let siblings: String = closed.iter().map(|close| if *close == '}' { ",\"b\":[]}" } else { ",{}]" }).collect();
        let text = opened + "1" + &siblings;
        assert_eq!(whole(&text), Ok(&*text));
    }
}

#[test]
fn the_levels_of_a_value_are_its_own() {
    let mut reader = Reader::new(r#"{"a":[[[1]],[2]],"b":{"c":3},"d":4}"#);
    let mut first = true;
    reader.enter_object().unwrap();
    for (name, levels) in [("a", 3), ("b", 1), ("d", 0)] {
        assert_eq!(reader.next_member(&mut first).unwrap().as_deref(), Some(name));
        assert_eq!(reader.raw().unwrap().1, levels);
    }
    assert_eq!(reader.next_member(&mut first), Ok(None));
    for text in ["[{},{},{}]", "[[],[],[]]", r#"[{"a":1},{"a":1}]"#, "[[1],[1]]"] {
        assert_eq!(Reader::new(text).raw(), Ok((text, 2)), "{text}");
    }
}

#[test]
fn too_many_levels_are_noted_with_the_first_place_that_has_them() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    for (levels, refused) in [(127, false), (128, true)] {
        let text = format!(r#"{{"a":1,"b":{},"c":{}}}"#, nested(levels), nested(200));
        let mut reader = Reader::new(&text);
        let mut first = true;
        reader.enter_object().unwrap();
        let (a, b) = (Path::ROOT.member("a"), Path::ROOT.member("b"));
        reader.next_member(&mut first).unwrap();
        reader.skip_member(a).unwrap();
        assert!(reader.refusal.is_none());
        reader.next_member(&mut first).unwrap();
        reader.skip_member(b).unwrap();
        assert_eq!(reader.refusal.as_ref().map(|violation| violation.path()), refused.then_some("b"));
        reader.next_member(&mut first).unwrap();
        reader.skip_member(Path::ROOT.member("c")).unwrap();
        let refusal = reader.into_refusal().unwrap();
        assert_eq!(refusal.path(), if refused { "b" } else { "c" });
        assert!(refusal.expected().contains("at most 128 levels"));
    }
    for (levels, refused) in [(128, false), (129, true)] {
        let text = nested(levels);
        let mut reader = Reader::new(&text);
        (0..levels).for_each(|_| reader.enter_array().unwrap());
        assert_eq!(reader.into_refusal().is_some(), refused);
    }
    let (allowed, refused) = (nested(128), nested(129));
    let mut reader = Reader::new(&allowed);
    reader.skip_value().unwrap();
    assert!(reader.into_refusal().is_none());
    let mut reader = Reader::new(&refused);
    reader.skip_value().unwrap();
    assert_eq!(reader.into_refusal().unwrap().path(), "");
}

#[test]
fn a_malformed_text_says_where_and_what() {
    let violation = whole("[1,").unwrap_err().violation(Path::ROOT.member("body"));
    assert_eq!(violation.to_string(), "body: expected JSON text: a value at byte 3");
}
