use tally::shares;

#[test]
#[ignore = "issue 1"]
fn no_cent_is_lost() {
    assert_eq!(shares(100, 3), Some(vec![34, 33, 33]));
}
