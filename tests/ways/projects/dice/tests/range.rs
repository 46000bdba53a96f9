use dice::{highest, lowest, parse};

#[test]
fn lowest_counts_each_die_once() {
    assert_eq!(lowest(&parse("2d6+1").unwrap()), 3);
}

#[test]
fn highest_counts_each_die_in_full() {
    assert_eq!(highest(&parse("2d6+1").unwrap()), 13);
}
