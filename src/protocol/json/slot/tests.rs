use super::*;
use crate::protocol::FreeJson;
use crate::protocol::json::Reader;

fn read<'a, T>(text: &'a str, read: impl FnOnce(&mut Reader<'a>, Path<'_>) -> ReadResult<T>) -> Result<T, String> {
    let mut reader = Reader::new(text);
    let found = read(&mut reader, Path::ROOT.member("m")).map_err(|malformed| malformed.expected.to_owned())?;
    reader.finish().expect("the value was read to its end");
    found.map_err(|violation| violation.to_string())
}

#[test]
fn a_member_is_absent_read_or_refused() {
    let path = Path::ROOT.member("m");
    let absent = || Slot::<bool>::Absent;
    assert_eq!(absent().optional(), Ok(None));
    assert_eq!(absent().or_default(), Ok(false));
    assert_eq!(absent().as_read(), None);
    assert_eq!(absent().required(path, "a flag").unwrap_err().to_string(), "m: expected a flag, the member is missing");
    assert_eq!(Slot::Read(true).optional(), Ok(Some(true)));
    assert_eq!(Slot::Read(true).or_default(), Ok(true));
    assert_eq!(Slot::Read(true).required(path, "a flag"), Ok(true));
    assert_eq!(Slot::Read(true).as_read(), Some(&true));
    let refused = || Slot::<bool>::Refused(Violation::new(path, "why"));
    for refusal in [refused().optional().err(), refused().or_default().err(), refused().required(path, "a flag").err()] {
        assert_eq!(refusal.unwrap().to_string(), "m: why");
    }
    assert_eq!(refused().as_read(), None);
}

#[test]
fn a_member_given_twice_is_refused_whatever_its_values_are() {
    for (values, refused) in [
        ("true", None),
        ("1", Some("expected a boolean, found a number")),
        ("true true", Some("expected the member once, found it again")),
        ("true 1", Some("expected the member once, found it again")),
        ("1 true", Some("expected the member once, found it again")),
        ("1 1 1", Some("expected the member once, found it again")),
    ] {
        let mut reader = Reader::new(values);
        let mut slot = Slot::Absent;
        while reader.peek().is_some() {
            slot.fill(&mut reader, Path::ROOT.member("m"), boolean).unwrap();
        }
        assert_eq!(slot.optional().err().map(|violation| violation.expected().to_owned()).as_deref(), refused, "{values}");
    }
}

#[test]
fn a_value_of_another_type_is_skipped_and_named() {
    let values = [
        ("\"x\"", "a string"),
        ("{\"a\":[1]}", "an object"),
        ("[{}]", "an array"),
        ("true", "a boolean"),
        ("null", "null"),
        ("-1.5", "a number"),
    ];
    for (text, kind) in values {
        let refused = |expected: &str| Err(format!("m: expected {expected}, found {kind}"));
        if kind != "a string" {
            assert_eq!(read(text, string).map(drop), refused("a string"));
        }
        if kind != "a boolean" {
            assert_eq!(read(text, boolean).map(drop), refused("a boolean"));
        }
        if kind != "a number" {
            assert_eq!(read(text, unsigned).map(drop), refused("an unsigned integer without fraction or exponent"));
            assert_eq!(read(text, unix_ms).map(drop), refused("milliseconds as an integer"));
        }
        if kind != "an array" {
            assert_eq!(read(text, |reader, path| array(reader, path, 1, boolean)).map(drop), refused("an array"));
        }
        if kind != "an object" {
            assert_eq!(read(text, metadata).map(drop), refused("an object of strings"));
        }
    }
}

#[test]
fn unsigned_numbers_are_literals_of_64_bits() {
    for (text, value) in [("0", 0), ("7", 7), ("18446744073709551615", u64::MAX)] {
        assert_eq!(read(text, unsigned), Ok(value));
    }
    for text in ["18446744073709551616", "1.0", "1e0", "0.5", "1E2"] {
        assert!(read(text, unsigned).unwrap_err().contains("found another number"), "{text}");
    }
    for text in ["-0", "-1", "-1.5"] {
        assert!(read(text, unsigned).unwrap_err().contains("found a negative number"), "{text}");
    }
    assert_eq!(read("-", unsigned), Err("a digit".into()));
}

#[test]
fn times_are_literals_within_their_range() {
    for value in [0, 1, -1, MAX_UNIX_MS, -MAX_UNIX_MS] {
        assert_eq!(read(&value.to_string(), unix_ms), Ok(value));
        assert_eq!(read(&value.to_string(), nullable_unix_ms), Ok(Some(value)));
    }
    for text in ["-0", "8640000000000001", "-8640000000000001", "1.0", "1e3", "99999999999999999999", "-9223372036854775808"] {
        assert!(read(text, unix_ms).unwrap_err().contains("within 8640000000000000 of the epoch"), "{text}");
        assert!(read(text, nullable_unix_ms).is_err(), "{text}");
    }
    assert_eq!(read("null", nullable_unix_ms), Ok(None));
    assert_eq!(read("nul", nullable_unix_ms), Err("a value".into()));
}

#[test]
fn an_array_holds_at_most_so_many_elements() {
    let flags = |text: &str| read(text, |reader, path| array(reader, path, 2, boolean));
    assert_eq!(flags("[]"), Ok(vec![]));
    assert_eq!(flags("[true,false]"), Ok(vec![true, false]));
    assert_eq!(flags("[true,false,true]"), Err("m: expected at most 2 elements".into()));
    assert_eq!(flags("[true,false,[1,{}],7]"), Err("m: expected at most 2 elements".into()));
    assert_eq!(flags("[true,7,true,true]"), Err("m.1: expected a boolean, found a number".into()));
    assert_eq!(flags("[7,8]"), Err("m.0: expected a boolean, found a number".into()));
    assert_eq!(flags("[true,false,tru]"), Err("a value".into()));
}

#[test]
fn metadata_is_an_object_of_strings_with_each_name_once() {
    let pairs = |text: &str| {
        read(text, |reader, path| metadata(reader, path))
            .map(|found| found.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(pairs(r#"{"b":"1","a":"","":"x"}"#), Ok("b=1 a= =x".into()));
    assert_eq!(pairs(r#"{"a":"1","b":null,"c":2}"#), Err("m.b: expected a string, found null".into()));
    assert_eq!(pairs(r#"{"a":"1","\u0061":"2"}"#), Err("m.a: expected the name once, found it again".into()));
    assert_eq!(pairs(r#"{"a":{"deep":[1]}}"#), Err("m.a: expected a string, found an object".into()));
    assert_eq!(pairs(r#"{"a":"1","a":2}"#), Err("m.a: expected a string, found a number".into()));
}

#[test]
fn what_nests_too_deep_is_named_inside_metadata_and_arrays() {
    let nested = "[".repeat(129) + &"]".repeat(129);
    let metadata_text = format!(r#"{{"a":"1","b":{nested},"c":"2"}}"#);
    let mut reader = Reader::new(&metadata_text);
    metadata(&mut reader, Path::ROOT.member("m")).unwrap().unwrap_err();
    assert_eq!(reader.into_refusal().unwrap().path(), "m.b");
    let array_text = format!("[true,{nested},true]");
    let mut reader = Reader::new(&array_text);
    array(&mut reader, Path::ROOT.member("m"), 9, boolean).unwrap().unwrap_err();
    assert_eq!(reader.into_refusal().unwrap().path(), "m.1");
}

#[test]
fn free_json_keeps_its_text_and_nests_100_levels() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(read(" {\"a\" : 1.0} ", FreeJson::from_reader).unwrap().as_str(), "{\"a\" : 1.0}");
    assert_eq!(read(&nested(100), FreeJson::from_reader).unwrap().as_str(), nested(100));
    assert_eq!(read(&nested(101), FreeJson::from_reader).unwrap_err(), "m: expected at most 100 levels of nesting, found 101");
}
