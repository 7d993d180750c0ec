package revision

import (
	"context"
	"testing"
)

// BenchmarkHead is mostly the start of two programs.
func BenchmarkHead(b *testing.B) {
	r := repoAt(b, project(b, map[string]string{"a": "1"}))
	for b.Loop() {
		if _, _, err := r.Head(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkShow(b *testing.B) {
	r := repoAt(b, project(b, map[string]string{"a": "1"}))
	for b.Loop() {
		if _, err := r.Show(context.Background(), "HEAD", "a", 0); err != nil {
			b.Fatal(err)
		}
	}
}
