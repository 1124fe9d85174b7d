//! The exact value of a JSON number, in one pass: digits without zeros at either end, and a power of ten. No exponent is
//! too long for it; nothing is rounded.

use super::form::write_bytes;

/// Writes the canonical form of a number literal (RFC 8259, section 6): `0` for zero, else a tag with the sign, the length of
/// the digits, the digits, the length of the exponent's text, and that text. The value is digits times ten to the exponent.
pub(super) fn write_canonical(literal: &str, form: &mut Vec<u8>) {
    let (negative, magnitude) = match literal.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, literal),
    };
    let (mantissa, exponent) = match magnitude.find(['e', 'E']) {
        Some(at) => (&magnitude[..at], &magnitude[at + 1..]),
        None => (magnitude, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole.as_bytes(), fraction.as_bytes()].concat();
    let Some(first) = digits.iter().position(|&digit| digit != b'0') else {
        form.push(b'0');
        return;
    };
    let last = digits.iter().rposition(|&digit| digit != b'0').unwrap_or(first);
    let significant = &digits[first..=last];
    // Every digit behind the last significant one shifts the point right, every one behind the point shifts it left.
    let shift = (digits.len() - 1 - last) as i64 - fraction.len() as i64;
    let exponent = sum(exponent, shift);
    form.push(if negative { b'-' } else { b'+' });
    write_bytes(form, significant);
    write_bytes(form, exponent.as_bytes());
}

/// An integer literal of any length, perhaps with a sign and leading zeros, plus a small number; as text, `0` for zero.
fn sum(literal: &str, shift: i64) -> String {
    let (negative, digits) = match literal.as_bytes() {
        [b'-', ..] => (true, &literal[1..]),
        [b'+', ..] => (false, &literal[1..]),
        _ => (false, literal),
    };
    let digits = digits.trim_start_matches('0');
    if digits.len() <= 18 {
        let value: i64 = digits.parse().unwrap_or(0);
        return (if negative { -value } else { value }).saturating_add(shift).to_string();
    }
    // At least 19 digits, and a shift no longer than a text in memory: the sign stays, only the magnitude moves.
    let mut digits = digits.as_bytes().to_vec();
    let mut carry = if negative { -i128::from(shift) } else { i128::from(shift) };
    for digit in digits.iter_mut().rev() {
        if carry == 0 {
            break;
        }
        let value = i128::from(*digit - b'0') + carry;
        *digit = b'0' + value.rem_euclid(10) as u8;
        carry = value.div_euclid(10);
    }
    let text = String::from_utf8_lossy(&digits);
    let text = if carry > 0 { format!("{carry}{text}") } else { text.trim_start_matches('0').to_owned() };
    if negative { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_exponents_are_added_to_exactly() {
        assert_eq!(sum("9999999999999999999", 1), "10000000000000000000");
        assert_eq!(sum("-9999999999999999999", -1), "-10000000000000000000");
        assert_eq!(sum("10000000000000000000", -1), "9999999999999999999");
        assert_eq!(sum("-10000000000000000000", 1), "-9999999999999999999");
        assert_eq!(sum("+00000000000000000000012", 30), "42");
        assert_eq!(sum("-5", 5), "0");
        assert_eq!(sum("-0", 0), "0");
        assert_eq!(sum("1234567890123456789012345678901234567890", -1_000_000), "1234567890123456789012345678901233567890");
    }
}
