use tally::shares;

#[test]
fn an_even_sum_is_shared_evenly() {
    assert_eq!(shares(90, 3), Some(vec![30, 30, 30]));
}

#[test]
fn nobody_gets_nothing() {
    assert_eq!(shares(90, 0), None);
}
