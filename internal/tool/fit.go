package tool

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/ctxd/ctxd/internal/token"
)

// fit finds how many of n parts an answer can hold so that each of its two renderings stays within a budget of tokens
// (tools.md T4). render gives both for the first k parts. The result is at least least, even if that is over the budget.
func fit(ctx context.Context, n, least, budget int, render func(k int) (text string, output any)) (int, error) {
	size := func(k int) (int, error) {
		text, output := render(k)
		return cost(ctx, text, output, budget)
	}
	lo, hi := least, n // lo fits or is least; nothing above hi fits
	k := n
	for tries := 0; ; tries++ {
		tokens, err := size(k)
		if err != nil {
			return 0, err
		}
		if tokens <= budget {
			lo = max(lo, k)
		} else {
			hi = min(hi, k-1)
		}
		if lo >= hi || tries > 24 {
			return max(lo, least), nil
		}
		// Aim a little below where the budget would end if all parts were alike, but halve what is left at least every other time.
		guess := int(float64(k) * float64(budget) / float64(max(tokens, 1)) * 0.98)
		if tries%2 == 1 || guess <= lo || guess > hi {
			guess = lo + (hi-lo+1)/2
		}
		k = guess
		if close := lo > least && hi-lo <= max(1, lo/50); close {
			return lo, nil // within two per cent: not worth another count
		}
	}
}

// cost is the tokens of the dearer rendering. Since a token holds at least a byte, what is short enough is not counted; what
// is far over the budget is measured by its length alone.
func cost(ctx context.Context, text string, output any, budget int) (int, error) {
	data, err := encode(output)
	if err != nil {
		return 0, err
	}
	longest := max(len(text), len(data))
	switch {
	case longest <= budget:
		return longest, nil
	case longest > 16*budget+1024:
		return longest / 8, nil // more than 8 bytes a token would be a rare text; at least twice the budget either way
	}
	a, err := token.Count(ctx, text)
	if err != nil {
		return 0, err
	}
	b, err := token.Count(ctx, string(data))
	return max(a, b), err
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
