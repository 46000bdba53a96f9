package table

import (
	"os"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheRoutesAreFound(t *testing.T) {
	table, err := Read(read(t, "routes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(read(t, "found.txt")), "\n") {
		words := strings.Fields(line)
		if name, _ := table.Find(words[0]); name != words[1] {
			t.Errorf("%s: %q, not %q", words[0], name, words[1])
		}
	}
}

func TestALineOfOneWordIsAnError(t *testing.T) {
	if _, err := Read("/users"); err == nil {
		t.Error("no error")
	}
}
