// Package match compares paths with patterns.
package match

import "strings"

// Match gives the values of the names in pattern, and whether path is of that form.
func Match(pattern, path string) (map[string]string, bool) {
	want := strings.Split(strings.Trim(pattern, "/"), "/")
	have := strings.Split(strings.Trim(path, "/"), "/")
	if len(want) != len(have) {
		return nil, false
	}
	values := map[string]string{}
	for i, part := range want {
		if strings.HasPrefix(part, ":") {
			values[part[1:]] = have[i]
		} else if part != have[i] {
			return nil, false
		}
	}
	return values, true
}
