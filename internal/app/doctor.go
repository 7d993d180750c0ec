package app

import (
	"context"
	"fmt"
)

// Check is one thing that Diagnose looked at.
type Check struct {
	Name string
	Says string // what is there; "" where Err says what is not
	Err  error  // how to mend it
}

// Diagnose tries what a server needs: folders, database, tools and address.
func Diagnose(ctx context.Context, o Options) []Check {
	var checks []Check
	e, err := OpenEngine(ctx, o)
	if err != nil {
		checks = append(checks, Check{Name: "engine", Err: err})
	} else {
		for _, id := range e.Workspaces.IDs() {
			checks = append(checks, Check{Name: "workspace", Says: fmt.Sprintf("%s is %s", id, e.Workspaces.Get(id).Root())})
		}
		checks = append(checks,
			Check{Name: "database", Says: "can be written in " + e.DataDir, Err: e.Store.Probe(ctx)},
			Check{Name: "tools", Says: fmt.Sprintf("%d admitted", len(e.Pipeline.Specs()))})
		if err := e.Close(); err != nil {
			checks = append(checks, Check{Name: "close", Err: err})
		}
	}
	return append(checks, o.address(ctx))
}

func (o Options) address(ctx context.Context) Check {
	c := Check{Name: "address", Says: fmt.Sprintf("%s port %d can be bound", o.Config.Host, o.Config.Port)}
	l, err := listen(ctx, o.Config.Host, o.Config.Port)
	if err != nil {
		c.Err = err
		return c
	}
	if err := l.Close(); err != nil {
		c.Err = err
	}
	return c
}
