package match

import "testing"

func TestNamesAreValues(t *testing.T) {
	values, ok := Match("/users/:id", "/users/7")
	if !ok || values["id"] != "7" {
		t.Errorf("got %v, %v", values, ok)
	}
}

func TestOtherWordsDoNotMatch(t *testing.T) {
	if _, ok := Match("/users/:id", "/groups/7"); ok {
		t.Error("/groups/7 is taken for a user")
	}
}

func TestLengthMatters(t *testing.T) {
	if _, ok := Match("/users/:id", "/users/7/edit"); ok {
		t.Error("a longer path is taken for a user")
	}
}
