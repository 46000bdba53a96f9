//! Reading throws.

/// A throw of `count` dice with `sides` sides, and what is added to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throw {
    pub count: i64,
    pub sides: i64,
    pub plus: i64,
}

/// Read a throw such as `2d6+1`.
pub fn parse(text: &str) -> Result<Throw, String> {
    let (dice, plus) = text.split_once('+').unwrap_or((text, "0"));
    let (count, sides) = dice.split_once('d').ok_or(format!("{text}: no d"))?;
    let number = |part: &str| part.parse::<i64>().map_err(|_| format!("{text}: {part} is no number"));
    let throw = Throw { count: number(count)?, sides: number(sides)?, plus: number(plus)? };
    if throw.sides < 2 {
        return Err(format!("{text}: too few sides"));
    }
    Ok(throw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_all_parts() {
        assert_eq!(parse("2d6+1"), Ok(Throw { count: 2, sides: 6, plus: 1 }));
    }

    #[test]
    fn refuses_a_die_of_one_side() {
        assert!(parse("2d1").is_err());
    }

    #[test]
    fn refuses_words() {
        assert!(parse("twodsix").is_err());
    }
}
