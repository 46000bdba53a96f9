package clock

import "testing"

func TestMorningAndAfternoon(t *testing.T) {
	for minutes, want := range map[int]string{65: "1:05 am", 780: "1:00 pm", 1439: "11:59 pm"} {
		if got := Spoken(minutes); got != want {
			t.Errorf("Spoken(%d) = %q, want %q", minutes, got, want)
		}
	}
}
