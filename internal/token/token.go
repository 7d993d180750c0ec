// Package token counts tokens, for prices before a read and for measures after it: the same function does both.
//
// It imports nothing of ours, and everything may import it.
package token

import (
	"context"
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Encoding names the tokenizer. Other models count a little differently; the name stands beside every count.
const Encoding = "o200k_base"

// codec is loaded at the first count: some 10 MB that an idle server need not hold.
var codec = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) })

// chunk is about how much is counted between two looks at the context, in bytes; some 10 ms.
const chunk = 64 << 10

// Count is the number of tokens of s. It takes about 0.1 ms per KiB; it ends early with the error of ctx.
func Count(ctx context.Context, s string) (int, error) {
	c, err := codec()
	if err != nil {
		return 0, err
	}
	total := 0
	for s != "" {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n := cut(s)
		count, err := c.Count(s[:n])
		if err != nil {
			return 0, err
		}
		total += count
		s = s[n:]
	}
	return total, nil
}

// cut finds where s may be split without changing its count: before an ASCII letter that begins a line, since no token of
// the encoding holds a line break followed by a letter.
func cut(s string) int {
	for at := chunk; at < len(s); {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 || at+i+1 >= len(s) {
			break
		}
		at += i + 1
		if c := s[at] | 0x20; 'a' <= c && c <= 'z' {
			return at
		}
	}
	return len(s)
}
