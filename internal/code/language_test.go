package code

import "testing"

func TestLanguage(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a/b.go": "go", "B.GO": "go", "x.test.ts": "typescript", "Makefile": "make", "a/Dockerfile": "dockerfile", "go.mod": "gomod",
		"README": "text", "": "text", ".gitignore": "text", "a.b/c": "text", "weird.": "text",
	} {
		if got := Language(name); got != want {
			t.Errorf("Language(%q) = %q, want %q", name, got, want)
		}
	}
}
