package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// plugged FILE: start what the client of a configuration file would start under the name of ctxd, in this folder, and list its
// tools; they go to the file body.
func plugged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: plugged FILE")
	}
	var doc map[string]any
	raw := []byte(ts.ReadFile(args[0]))
	if filepath.Ext(args[0]) == ".toml" {
		ts.Check(toml.Unmarshal(raw, &doc))
	} else {
		ts.Check(json.Unmarshal(raw, &doc))
	}
	var servers any
	for _, within := range []string{"mcpServers", "servers", "context_servers", "mcp_servers"} {
		if doc[within] != nil {
			servers = doc[within]
		}
	}
	again, err := json.Marshal(servers)
	ts.Check(err)
	var entries map[string]struct {
		Command string
		Args    []string
	}
	ts.Check(json.Unmarshal(again, &entries))
	entry := entries["ctxd"]
	cmd := exec.Command(entry.Command, entry.Args...)
	if !filepath.IsAbs(entry.Command) {
		cmd.Path, cmd.Err = lookup(ts, entry.Command), nil
	}
	cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "script", Version: "1"}, nil)
	conn, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	ts.Check(err)
	defer conn.Close()
	tools, err := conn.ListTools(ctx, nil)
	ts.Check(err)
	body, err := json.MarshalIndent(tools, "", "  ")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("body"), body, 0o600))
}
