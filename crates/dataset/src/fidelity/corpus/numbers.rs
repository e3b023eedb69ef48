//! Cases for numbers: grammar, spellings, and the limits of doubles and 64-bit integers.

use super::{Corpus, RfcRequirement};

const NUMBERS: &str = "RFC 8259 §6";
const DOUBLES: &str = "RFC 8259 §6, RFC 7493 §2.2";

pub(super) fn add(corpus: &mut Corpus) {
    forms(corpus);
    limits(corpus);
    many_digits(corpus);
    jcs(corpus);
    malformed(corpus);
}

fn forms(corpus: &mut Corpus) {
    for (name, probes, value) in [
        ("number-zero", "zero", "0"),
        ("number-one", "one", "1"),
        ("number-minus-one", "minus one", "-1"),
        ("number-minus-zero", "minus zero, whose sign a double keeps", "-0"),
        ("number-minus-zero-fraction", "minus zero with a fraction", "-0.0"),
        ("number-zero-fraction", "zero with a fraction", "0.0"),
        ("number-one-fraction", "one with a fraction of zero", "1.0"),
        ("number-trailing-zeros", "zeros after the fraction", "1.500"),
        ("number-price", "a price with two places", "19.90"),
        ("number-small-exponent", "an exponent", "1e2"),
        ("number-capital-exponent", "a capital E", "1E2"),
        ("number-plus-exponent", "a plus sign in the exponent", "1e+2"),
        ("number-minus-exponent", "a negative exponent", "1e-2"),
        ("number-zero-exponent", "an exponent of zero", "1e0"),
        ("number-exponent-zeros", "an exponent with zeros before it", "1e002"),
        ("number-fraction-exponent", "fraction and exponent", "1.5e3"),
        ("number-zero-with-exponent", "zero with an exponent", "0e5"),
        ("number-tenth", "a tenth, which no double holds exactly", "0.1"),
        ("number-three-tenths", "three tenths", "0.3"),
        ("number-half", "a half", "0.5"),
        ("number-seventeen-digits", "seventeen digits of a double", "0.30000000000000004"),
        ("number-third", "a third as a double", "0.3333333333333333"),
        ("number-byte", "2⁷ and its neighbour", "[127,128,-128,-129]"),
        ("number-16-bits", "2¹⁵ and its neighbours", "[32767,32768,-32768,-32769,65535,65536]"),
        ("number-32-bits", "2³¹ and its neighbours", "[2147483647,2147483648,-2147483648,-2147483649]"),
        ("number-32-bits-unsigned", "2³² and its neighbour", "[4294967295,4294967296]"),
        ("number-safe-integer", "2⁵³ − 1, the largest safe integer", "9007199254740991"),
        ("number-safe-integer-negative", "−(2⁵³ − 1)", "-9007199254740991"),
        ("number-2-53", "2⁵³", "9007199254740992"),
        ("number-microseconds", "a time in microseconds", "1732206349000167"),
        ("number-float-only", "a number that no 32-bit float holds", "16777217"),
    ] {
        corpus.value(RfcRequirement::Accept, name, NUMBERS, probes, value);
    }
}

fn limits(corpus: &mut Corpus) {
    for (name, probes, value) in [
        ("number-2-53-plus-1", "2⁵³ + 1, which no double holds", "9007199254740993"),
        ("number-minus-2-53-minus-1", "−2⁵³ − 1", "-9007199254740993"),
        ("number-64-bits", "2⁶³ − 1, the largest signed integer of 64 bits", "9223372036854775807"),
        ("number-64-bits-negative", "−2⁶³ + 1", "-9223372036854775807"),
        ("number-64-bits-least", "−2⁶³, the least signed integer of 64 bits", "-9223372036854775808"),
        ("number-64-bits-over", "2⁶³, one too many for a signed integer of 64 bits", "9223372036854775808"),
        ("number-64-bits-under", "−2⁶³ − 1", "-9223372036854775809"),
        ("number-64-bits-unsigned", "2⁶⁴ − 1", "18446744073709551615"),
        ("number-2-64", "2⁶⁴", "18446744073709551616"),
        ("number-2-64-plus-1", "2⁶⁴ + 1", "18446744073709551617"),
        ("number-128-bits", "2¹²⁷ − 1", "170141183460469231731687303715884105727"),
        ("number-30-digits", "an integer of 30 digits", "123456789012345678901234567890"),
        ("number-30-places", "a fraction of 30 places", "0.123456789012345678901234567890"),
        ("number-pi", "π to 30 places", "3.141592653589793238462643383279"),
        (
            "number-34-digits",
            "34 digits, as many as a 128-bit decimal has",
            "1.234567890123456789012345678901234",
        ),
        ("number-35-digits", "35 digits, one more than that", "1.2345678901234567890123456789012345"),
        (
            "number-65-digits",
            "65 digits, as many as MySQL’s decimals have",
            "12345678901234567890123456789012345678901234567890123456789012345",
        ),
        (
            "number-100-digits",
            "an integer of 100 digits",
            "1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
        ),
        ("number-beyond-doubles", "10⁴⁰⁰, beyond all doubles", "1e400"),
        ("number-beyond-doubles-negative", "−10⁴⁰⁰", "-1e400"),
        ("number-below-doubles", "10⁻⁴⁰⁰, below all doubles but zero", "1e-400"),
        ("number-just-beyond-doubles", "1.8 × 10³⁰⁸, just beyond all doubles", "1.8e308"),
        ("number-huge-exponent", "an exponent of ten digits", "1e1234567890"),
        ("number-huge-negative-exponent", "a negative exponent of ten digits", "1e-1234567890"),
        ("number-exponent-of-30-digits", "an exponent of 30 digits", "1e123456789012345678901234567890"),
        ("number-zero-huge-exponent", "zero with an exponent of ten digits", "0e1234567890"),
        ("number-decimal128-limit", "an exponent that 128-bit decimals have, and doubles do not", "1e6000"),
        ("number-numeric-limit", "an exponent beyond PostgreSQL’s numeric", "1e200000"),
        (
            "number-half-way",
            "half-way between two doubles",
            "1.00000000000000011102230246251565404236316680908203125",
        ),
        ("number-large-fraction", "a large integer with a fraction", "9007199254740993.5"),
    ] {
        corpus.value(RfcRequirement::Choose, name, DOUBLES, probes, value);
    }
}

/// Adds numbers of so many digits that they are generated instead of written out.
fn many_digits(corpus: &mut Corpus) {
    corpus.value(
        RfcRequirement::Choose,
        "number-1000-digits",
        DOUBLES,
        "an integer of 1,000 digits",
        "7".repeat(1_000),
    );
    corpus.value(
        RfcRequirement::Choose,
        "number-1000-places",
        DOUBLES,
        "a fraction of 1,000 places",
        format!("0.{}", "7".repeat(1_000)),
    );
    corpus.value(
        RfcRequirement::Choose,
        "number-100000-digits",
        DOUBLES,
        "an integer of 100,000 digits",
        "7".repeat(100_000),
    );
    corpus.value(
        RfcRequirement::Accept,
        "number-many-zeros",
        NUMBERS,
        "one with a fraction of 500 zeros",
        format!("1.{}", "0".repeat(500)),
    );
}

/// Doubles and their spelling from the table in appendix B of RFC 8785.
pub(super) const JCS: [(u64, &str); 23] = [
    (0x0000_0000_0000_0000, "0"),
    (0x0000_0000_0000_0001, "5e-324"),
    (0x8000_0000_0000_0001, "-5e-324"),
    (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
    (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
    (0x4340_0000_0000_0000, "9007199254740992"),
    (0xc340_0000_0000_0000, "-9007199254740992"),
    (0x4430_0000_0000_0000, "295147905179352830000"),
    (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
    (0x44b5_2d02_c7e1_4af6, "1e+23"),
    (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
    (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
    (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
    (0x444b_1ae4_d6e2_ef50, "1e+21"),
    (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
    (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
    (0x41b3_de43_5555_5553, "333333333.3333332"),
    (0x41b3_de43_5555_5554, "333333333.33333325"),
    (0x41b3_de43_5555_5555, "333333333.3333333"),
    (0x41b3_de43_5555_5556, "333333333.3333334"),
    (0x41b3_de43_5555_5557, "333333333.33333343"),
    (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
    (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
];

fn jcs(corpus: &mut Corpus) {
    for (bits, text) in JCS {
        // Zero and 2⁵³ are already among the forms as bare values; the array makes these texts different.
        let value = format!("[{text}]");
        let name = format!("jcs-{bits:016x}");
        corpus.value(
            RfcRequirement::Accept,
            &name,
            "RFC 8785 appendix B",
            &format!("the double {bits:016x}"),
            value,
        );
    }
}

fn malformed(corpus: &mut Corpus) {
    for (name, probes, value) in [
        ("number-plus", "a plus sign", "+1"),
        ("number-leading-zero", "a zero before the number", "01"),
        ("number-minus-leading-zero", "a zero before a negative number", "-01"),
        ("number-two-zeros", "two zeros", "00"),
        ("number-no-whole", "nothing before the point", ".5"),
        ("number-minus-no-whole", "nothing between minus and point", "-.5"),
        ("number-no-fraction", "nothing after the point", "1."),
        ("number-point-exponent", "nothing between point and exponent", "1.e2"),
        ("number-no-exponent", "an E and no exponent", "1e"),
        ("number-exponent-sign-alone", "an exponent that is a sign", "1e+"),
        ("number-exponent-fraction", "an exponent with a fraction", "1e1.5"),
        ("number-exponent-alone", "an exponent without a number", "e1"),
        ("number-two-points", "two points", "1.2.3"),
        ("number-two-minus", "two minus signs", "--1"),
        ("number-minus-alone", "a minus sign alone", "-"),
        ("number-minus-space", "a blank after the minus sign", "- 1"),
        ("number-minus-at-end", "a minus sign at the end", "1-"),
        ("number-comma", "a comma for the point", "1,5"),
        ("number-underscores", "underscores between digits", "1_000"),
        ("number-apostrophe", "an apostrophe between digits", "1'000"),
        ("number-blank", "a blank between digits", "1 000"),
        ("number-hex", "hexadecimal digits", "0x1F"),
        ("number-octal", "an octal number of JavaScript", "0o17"),
        ("number-binary", "a binary number of JavaScript", "0b1"),
        ("number-nan", "NaN", "NaN"),
        ("number-nan-lower-case", "nan in lower case", "nan"),
        ("number-infinity", "Infinity", "Infinity"),
        ("number-minus-infinity", "−Infinity", "-Infinity"),
        ("number-inf", "inf", "inf"),
        ("number-sign-infinity", "the sign of infinity", "∞"),
        ("number-letters", "letters after digits", "1a"),
        ("number-suffix", "a suffix for long integers", "1L"),
        ("number-expression", "a sum", "1+1"),
        ("number-full-width", "a full-width digit", "１"),
        ("number-arabic-digit", "an Arabic digit", "١"),
        ("number-superscript", "a superscript digit", "1²"),
        ("number-fraction-sign", "a sign for a half", "½"),
        ("number-minus-sign", "the typographic minus sign", "−1"),
        ("number-percent", "a percent sign", "50%"),
    ] {
        corpus.value(RfcRequirement::Reject, name, NUMBERS, probes, value);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::number::is_double;
    use super::*;

    #[test]
    fn doubles_are_those_of_their_bits() {
        for (bits, text) in JCS {
            assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(bits), "{text}");
            assert!(is_double(text), "{text}");
        }
    }
}
