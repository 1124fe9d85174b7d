use super::*;
use crate::protocol::FreeJson;

fn written(write: impl FnOnce(&mut Writer)) -> String {
    let mut out = Writer::with_capacity(0);
    write(&mut out);
    let length = out.len();
    let text = String::from_utf8(out.into_bytes()).expect("UTF-8");
    assert_eq!(length, text.len());
    text
}

#[test]
fn a_string_escapes_what_has_to_be_and_nothing_else() {
    assert_eq!(written(|out| out.string("\"\\\u{8}\u{c}\n\r\t/")), r#""\"\\\b\f\n\r\t/""#);
    assert_eq!(
        written(|out| out.string("\0\u{1}\u{b}\u{1f} \u{7f}é🦀\u{2028}")),
        "\"\\u0000\\u0001\\u000b\\u001f \u{7f}é🦀\u{2028}\""
    );
    for code in 0..=0x2ff {
        let text = format!("before the character {} after", char::from_u32(code).expect("a character"));
        let json = written(|out| out.string(&text));
        assert_eq!(serde_json::from_str::<String>(&json).expect("a string"), text);
    }
}

#[test]
fn strings_of_all_lengths_are_escaped_at_every_place() {
    for length in 0..40 {
        for place in 0..=length {
            let mut text = "x".repeat(length);
            text.insert(place, '"');
            let both = written(|out| {
                out.open_array();
                out.string(&text);
                out.string(&"x".repeat(length));
                out.close_array();
            });
            let values: [String; 2] = serde_json::from_str(&both).expect("two strings");
            assert_eq!(values, [text, "x".repeat(length)]);
        }
    }
}

#[test]
fn commas_stand_between_members_and_elements() {
    let text = written(|out| {
        out.open_object();
        out.name("a");
        out.open_array();
        for value in [1, 2] {
            out.unsigned(value);
        }
        out.open_object();
        out.close_object();
        out.close_array();
        out.name("b");
        out.string("[");
        out.name("c");
        out.boolean(true);
        out.name("d");
        out.boolean(false);
        out.name("e");
        out.null();
        out.name("f");
        out.signed(-5);
        out.name("g");
        out.nullable_signed(None);
        out.name("h");
        out.nullable_signed(Some(i64::MIN));
        out.name("i");
        out.free_json(&FreeJson::EMPTY_OBJECT);
        out.close_object();
    });
    assert_eq!(text, r#"{"a":[1,2,{}],"b":"[","c":true,"d":false,"e":null,"f":-5,"g":null,"h":-9223372036854775808,"i":{}}"#);
}

#[test]
fn metadata_is_written_without_the_names_that_are_kept_back() {
    let metadata: Metadata<'_> = [("a", "1"), ("secret", "hidden"), ("b\n", "\"")].into_iter().collect();
    assert_eq!(written(|out| out.metadata(&metadata, |_| true)), r#"{"a":"1","secret":"hidden","b\n":"\""}"#);
    assert_eq!(written(|out| out.metadata(&metadata, |name| name != "secret")), r#"{"a":"1","b\n":"\""}"#);
    assert_eq!(written(|out| out.metadata(&metadata, |_| false)), "{}");
}
