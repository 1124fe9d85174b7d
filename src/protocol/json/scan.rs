//! How far a run of plain string characters goes. This loop sees most bytes of a message.

/// The number of bytes from `start` up to the next quotation mark, backslash or control character, or to the end.
#[inline]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    const WIDTH: usize = 16;
    let mut length = 0;
    let mut blocks = bytes.chunks_exact(WIDTH);
    for block in blocks.by_ref() {
        // Without a branch per byte, so that the compiler can compare a block at once.
        let special = block.iter().fold(false, |found, &byte| found | is_special(byte));
        if special {
            return length + first_special(block);
        }
        length += WIDTH;
    }
    length + first_special(blocks.remainder())
}

/// The place of the first special byte, or the length: most strings are this short, so eight bytes at a time.
#[inline]
fn first_special(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let mut words = bytes.chunks_exact(8);
    let mut length = 0;
    for word in words.by_ref() {
        let mut eight = [0; 8];
        eight.copy_from_slice(word);
        let word = u64::from_le_bytes(eight);
        // The high bit of each byte that is zero here; above the lowest one a borrow can set others, which do not count.
        let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
        let quoted = zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\')));
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let special = (quoted | control) & HIGH;
        if special != 0 {
            return length + special.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let rest = words.remainder();
    length + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len())
}

/// Whether a string cannot simply go on with this byte.
#[inline]
pub(super) const fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_special_byte_is_found_at_every_place() {
        for length in 0..70 {
            let plain = vec![b'x'; length];
            assert_eq!(plain_length(&plain), length);
            for place in 0..length {
                for special in [b'"', b'\\', 0, 0x1f] {
                    let mut bytes = plain.clone();
                    bytes[place] = special;
                    assert_eq!(plain_length(&bytes), place);
                }
                for ordinary in [b' ', 0x7f, 0x80, 0xff] {
                    let mut bytes = plain.clone();
                    bytes[place] = ordinary;
                    assert_eq!(plain_length(&bytes), length);
                }
            }
        }
    }
}
