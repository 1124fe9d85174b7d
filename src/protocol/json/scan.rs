//! How far a run of plain string characters goes. This loop sees most bytes of a message.

use wide::u8x16;

/// The bytes that are looked at together.
const BLOCK: usize = 16;
const WORD: usize = 8;

/// The number of bytes up to the first quotation mark, backslash or control character, or to the end.
#[inline(always)]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    match bytes.first_chunk() {
        Some(block) => match special_in_block(block) {
            BLOCK => long_plain_length(bytes),
            place => place,
        },
        None => short_plain_length(bytes),
    }
}

/// The same for bytes that begin with a plain block. What the last block shares with the one before it is plain, too.
#[inline(never)]
fn long_plain_length(bytes: &[u8]) -> usize {
    for (index, block) in bytes.as_chunks().0.iter().enumerate().skip(1) {
        let specials = specials(block);
        if specials != 0 {
            return index * BLOCK + specials.trailing_zeros() as usize;
        }
    }
    bytes.last_chunk().map_or(0, |block| bytes.len() - BLOCK + special_in_block(block))
}

/// The same for less than a block: what the first and the last word have in common is looked at twice.
#[inline(never)]
fn short_plain_length(bytes: &[u8]) -> usize {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return match special_in_word(u64::from_le_bytes(*first)) {
            WORD => bytes.len() - WORD + special_in_word(u64::from_le_bytes(*last)),
            place => place,
        };
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let halves = u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
        return match special_in_word(halves) {
            place if place < WORD / 2 => place,
            place => bytes.len() + place - WORD,
        };
    }
    bytes.iter().position(|&byte| is_special(byte)).unwrap_or(bytes.len())
}

/// Whether the last `length` bytes, all of them at most, are plain. Short runs are looked at with what stands before them.
#[inline(always)]
pub(super) fn ends_plain(bytes: &[u8], length: usize) -> bool {
    match bytes.last_chunk() {
        Some(block) if length <= BLOCK => specials(block) >> (BLOCK - length) == 0,
        _ => plain_length(&bytes[bytes.len() - length..]) == length,
    }
}

/// The place of the first special byte of a block, its length where there is none.
#[inline(always)]
fn special_in_block(block: &[u8; BLOCK]) -> usize {
    (specials(block) | 1 << BLOCK).trailing_zeros() as usize
}

/// A bit for each special byte of a block.
#[inline(always)]
fn specials(block: &[u8; BLOCK]) -> u32 {
    let bytes = u8x16::new(*block);
    let [quotes, backslashes] = [b'"', b'\\'].map(|special| bytes.simd_eq(u8x16::splat(special)));
    let controls = bytes.simd_eq(bytes.min(u8x16::splat(0x1f)));
    (quotes | backslashes | controls).to_bitmask()
}

/// The place of the first special byte of a word, its length where there is none.
#[inline]
fn special_in_word(word: u64) -> usize {
    const ONES: u64 = u64::MAX / 255;
    let quotes = word ^ (ONES * b'"' as u64);
    let backslashes = word ^ (ONES * b'\\' as u64);
    let zeros = (quotes.wrapping_sub(ONES) & !quotes) | (backslashes.wrapping_sub(ONES) & !backslashes);
    // The high bit of each special byte. Above the lowest one a borrow can set others, which say nothing.
    let specials = (zeros | (word.wrapping_sub(ONES * 0x20) & !word)) & (ONES << 7);
    specials.trailing_zeros() as usize / 8
}

/// Whether a string cannot simply go on with this byte.
#[inline]
pub(super) const fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
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
                    for last in 0..=length {
                        assert_eq!(ends_plain(&bytes, last), last < length - place);
                    }
                    bytes[length - 1] = b'"';
                    assert_eq!(plain_length(&bytes), place);
                    bytes[place..].fill(special);
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
