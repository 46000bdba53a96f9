//go:build issue1

package clock

import "testing"

func TestNoonAndMidnight(t *testing.T) {
	for minutes, want := range map[int]string{0: "12:00 am", 720: "12:00 pm", 745: "12:25 pm"} {
		if got := Spoken(minutes); got != want {
			t.Errorf("Spoken(%d) = %q, want %q", minutes, got, want)
		}
	}
}
