// Package table reads tables of routes.
package table

import (
	"fmt"
	"strings"

	"example.org/route/match"
)

// Table is patterns and what answers them, in the order of the file.
type Table [][2]string

// Read reads lines of "PATTERN NAME".
func Read(text string) (Table, error) {
	var table Table
	for number, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("line %d: %d words", number+1, len(words))
		}
		table = append(table, [2]string{words[0], words[1]})
	}
	return table, nil
}

// Find gives the name of the first route of a path.
func (table Table) Find(path string) (string, bool) {
	for _, row := range table {
		if _, ok := match.Match(row[0], path); ok {
			return row[1], true
		}
	}
	return "", false
}
