// Package socket is the Unix socket of a data folder, on which a running server and other processes of the same user find
// each other: where it lies, who owns it, and the handshake that begins every connection.
//
// What is spoken after the handshake is not its matter: app hands it to mcpserver. It reads no environment and knows no
// configuration. Only app and what is further outside import it.
package socket

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Handshake is the version of the handshake. It changes only when an older process would misunderstand a newer one.
const Handshake = 1

const (
	fileName = "ctxd.sock"
	newName  = "ctxd.sock.new" // while it is made
	lockName = "ctxd.serve"    // held by the server that owns the socket

	maxLine = 1 << 20         // bytes of a line of the handshake
	maxWait = 2 * time.Second // for the other end, within the handshake
	maxPath = 103             // bytes of a socket's path: sun_path holds 104 with its end on BSD, 108 on Linux
)

// Reasons why there is no connection, or no listener.
var (
	ErrNone        = errors.New("no server listens on the socket of the data folder")
	ErrTaken       = errors.New("another server has the socket of this data folder")
	ErrUnsupported = errors.New("this system has no sockets that tell users apart")
	ErrForeign     = errors.New("the process at the other end belongs to another user")
)

// What a connection is for.
const (
	MCP    = "mcp"    // after the handshake it carries MCP, as stdio does
	Status = "status" // the reply says it all
)

// Ask is what a process says first: one line of JSON.
type Ask struct {
	Handshake  int         `json:"handshake"`
	Version    string      `json:"version"` // of ctxd
	PID        int         `json:"pid"`
	Want       string      `json:"want"`
	Preset     string      `json:"preset,omitempty"`
	Default    string      `json:"default,omitempty"` // workspace of calls that name none
	Workspaces []Workspace `json:"workspaces,omitempty"`
}

// Workspace is a workspace that a process wants, or that a server has.
type Workspace struct {
	ID    string `json:"id"`
	Root  string `json:"root"`            // absolute, its links resolved
	Rules string `json:"rules,omitempty"` // hash of what is refused in it
}

// Reply is what the server answers: one line of JSON.
type Reply struct {
	Handshake int     `json:"handshake"`
	Version   string  `json:"version"`
	PID       int     `json:"pid"`
	Refused   string  `json:"refused,omitempty"` // why; "" where the connection goes on
	Server    *Server `json:"server,omitempty"`  // to Status
}

// Server is how a server is.
type Server struct {
	URL        string      `json:"url"`
	Started    time.Time   `json:"started"`
	Workspaces []Workspace `json:"workspaces"`
	Streams    int64       `json:"streams"`  // open event streams
	Attached   int         `json:"attached"` // processes that speak MCP over the socket
	Events     int64       `json:"events"`   // committed by this process
}

// Conn is a connection. Read gives what follows the handshake.
type Conn struct {
	*net.UnixConn
	r *bufio.Reader
}

func newConn(c *net.UnixConn) *Conn { return &Conn{c, bufio.NewReaderSize(c, 64<<10)} }

// Read implements io.Reader.
func (c *Conn) Read(b []byte) (int, error) { return c.r.Read(b) }

// Hear reads what the other end wants. It takes at most 2 seconds.
func (c *Conn) Hear() (Ask, error) {
	var a Ask
	return a, c.hear(&a)
}

// Tell sends the reply.
func (c *Conn) Tell(r Reply) error { return c.tell(r) }

// Exchange says what is wanted, and gives the reply. It takes at most 4 seconds. A refusal is no error.
func (c *Conn) Exchange(a Ask) (Reply, error) {
	a.Handshake, a.PID = Handshake, os.Getpid()
	var r Reply
	if err := c.tell(a); err != nil {
		return r, err
	}
	if err := c.hear(&r); err != nil {
		return r, err
	}
	if r.Handshake != Handshake && r.Refused == "" {
		r.Refused = fmt.Sprintf("its handshake has version %d, that of this ctxd version %d", r.Handshake, Handshake)
	}
	return r, nil
}

func (c *Conn) hear(v any) error {
	if err := c.SetReadDeadline(time.Now().Add(maxWait)); err != nil {
		return err
	}
	var line []byte
	for {
		part, err := c.r.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return errors.New("a line of the handshake is too long")
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) && len(line) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("the handshake: %w", err)
		}
		break
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("the handshake: %w", err)
	}
	return c.SetReadDeadline(time.Time{})
}

func (c *Conn) tell(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := c.SetWriteDeadline(time.Now().Add(maxWait)); err != nil {
		return err
	}
	if _, err := c.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the handshake: %w", err)
	}
	return c.SetWriteDeadline(time.Time{})
}

// Path is where the socket of a data folder lies.
func Path(dir string) string { return filepath.Join(dir, fileName) }
