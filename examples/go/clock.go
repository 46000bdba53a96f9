// Package clock writes times of day.
package clock

import "fmt"

// Spoken writes minutes after midnight as people on a 12-hour clock say them.
func Spoken(minutes int) string {
	hour, minute := minutes/60%24, minutes%60
	half := "am"
	if hour > 12 {
		hour, half = hour-12, "pm"
	}
	return fmt.Sprintf("%d:%02d %s", hour, minute, half)
}
