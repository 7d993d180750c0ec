package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// Peer is a server that a Relay speaks with. Close ends a Read and a Write that wait, may be called twice, and waits for nothing
// that the other end of the Relay would have to do.
type Peer interface {
	io.ReadWriteCloser
	CloseWrite() error // the input has ended; what it asked for is answered still
}

// ErrPeerEnded is that the last server ended before all was answered.
var ErrPeerEnded = errors.New("the server has ended")

// Relay passes messages on between one client on stdio and a server that may end before the client does. Another server takes
// its place then: it is greeted as the first one was, requests without an answer get an error, and the client need not know.
type Relay struct {
	Next func(context.Context) (Peer, error) // the server to go on with

	out  *lockedWriter
	turn sync.Mutex // held while something is written to the peer, and by who changes it

	// Under turn.
	unsent [][]byte // lines that did not reach the peer
	said   bool     // the client has said all

	mu      sync.Mutex
	peer    Peer            // changes under turn, too
	open    map[string]bool // requests without an answer, by their id in JSON
	hello   []byte          // the request that began the session
	helloID string
	ready   []byte // the notification that followed
	known   bool   // the client has had the answer to hello
	hide    bool   // the next answer to hello is to a later greeting, which the client does not know of
}

// Run serves the client until it has had its answers after its last word, or ctx ends. in is closed then. The error is
// ErrPeerEnded, that of Next, or why the client could not be written to.
func (r *Relay) Run(ctx context.Context, first Peer, in io.ReadCloser, out io.WriteCloser) error {
	r.out, r.open, r.peer = &lockedWriter{w: out}, map[string]bool{}, first
	defer in.Close() // ends the goroutine: what it reads has no context
	go r.listen(in)
	defer context.AfterFunc(ctx, r.finish)()
	for peer := first; ; {
		err := r.answer(peer)
		_ = peer.Close() // it has ended, or is of no use
		if err != nil {
			return err
		}
		over := r.done()
		lost, err := r.lose(over)
		switch {
		case err != nil || ctx.Err() != nil:
			return err
		case over && lost > 0:
			return ErrPeerEnded
		case over:
			return nil
		}
		if peer, err = r.Next(ctx); err != nil {
			_, lErr := r.lose(true)
			return errors.Join(err, lErr)
		}
		r.change(peer)
	}
}

// Close cuts the server off, whoever it is.
func (r *Relay) Close() {
	r.mu.Lock()
	peer := r.peer
	r.mu.Unlock()
	if peer != nil {
		_ = peer.Close() // what was not said is not said
	}
}

// listen passes on what the client says.
func (r *Relay) listen(in io.Reader) {
	defer r.finish()
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		if errors.Is(err, errLongLine) {
			_, err = r.out.Write(rpcReply(nil, rpcError(tooLong())))
			line = nil
		}
		if line = trim(line); len(line) > 0 {
			r.pass(append(slices.Clone(line), '\n'))
		}
		if err != nil {
			return
		}
	}
}

func tooLong() *fault.Fault {
	return fault.New(catalog.PayloadTooLarge, "a message is longer than %d bytes", maxLine)
}

// pass hands a line to the server, or keeps it for the next one.
func (r *Relay) pass(line []byte) {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.note(line)
	r.send(line)
}

// send writes a line, unless lines before it could not be. One of which a part went out is lost: it may have been understood.
func (r *Relay) send(line []byte) {
	if len(r.unsent) == 0 {
		n, err := r.peer.Write(line)
		if err == nil || n > 0 {
			return
		}
	}
	r.unsent = append(r.unsent, line)
}

// finish tells the server that the input has ended.
func (r *Relay) finish() {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.said = true
	_ = r.peer.CloseWrite() // it has ended, then
}

// done says whether no server is needed any more.
func (r *Relay) done() bool {
	r.turn.Lock()
	defer r.turn.Unlock()
	return r.said && len(r.unsent) == 0
}

// note remembers what a line of the client asks for, and how it greets.
func (r *Relay) note(line []byte) {
	v, err := jsondoc.Decode(line)
	if err != nil {
		return // the server says what is wrong with it
	}
	list, batch := v.([]any)
	if !batch {
		list = []any{v}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range list {
		o, _ := v.(map[string]any)
		method, _ := o["method"].(string)
		id := string(idOf(v))
		switch {
		case method == "":
			continue
		case id != "":
			r.open[id] = true
		}
		switch {
		case batch:
		case method == "initialize" && r.hello == nil:
			r.hello, r.helloID = line, id
		case method == "notifications/initialized" && r.ready == nil:
			r.ready = line
		}
	}
}

// answer passes on what a server says until it ends. The error is the client's, who does not listen. A line that is cut off
// does not reach him.
func (r *Relay) answer(peer Peer) error {
	lines := bufio.NewReaderSize(peer, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil //nolint:nilerr // the server has ended, which is no fault of the client
		}
		if !r.settle(line) {
			continue
		}
		if _, err := r.out.Write(line); err != nil {
			return deaf(err)
		}
	}
}

// settle notes which requests a line answers, and says whether the line is for the client.
func (r *Relay) settle(line []byte) bool {
	var answers []struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if !bytes.HasPrefix(line, []byte("[")) {
		line = slices.Concat([]byte("["), line, []byte("]"))
	}
	if err := json.Unmarshal(line, &answers); err != nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range answers {
		v, err := jsondoc.Decode(a.ID)
		if err != nil || a.Method != "" {
			continue
		}
		id := string(idOf(map[string]any{"id": v}))
		delete(r.open, id)
		if r.hello != nil && id == r.helloID && r.hide {
			r.hide = false
			return false
		}
		r.known = r.known || r.hello != nil && id == r.helloID
	}
	return true
}

// lose answers the requests that no server will answer any more, and says how many they are: of those that did not reach one,
// and a greeting that has no answer, the next one is asked, if there is one.
func (r *Relay) lose(last bool) (int, error) {
	r.turn.Lock()
	unsent := r.unsent
	r.turn.Unlock()
	r.mu.Lock()
	lost := slices.Sorted(maps.Keys(r.open))
	clear(r.open)
	r.mu.Unlock()
	if !last {
		for _, line := range unsent {
			r.note(line)
		}
		r.mu.Lock()
		if r.hello != nil && !r.known {
			r.open[r.helloID] = true
		}
		lost = slices.DeleteFunc(lost, func(id string) bool { return r.open[id] })
		r.mu.Unlock()
	}
	for _, id := range lost {
		err := fault.New(catalog.Internal, "the ctxd that was at it has ended before it answered; its events tell what it did; call again")
		if _, err := r.out.Write(rpcReply(json.RawMessage(id), rpcError(err))); err != nil {
			return len(lost), deaf(err)
		}
	}
	return len(lost), nil
}

func deaf(err error) error { return fmt.Errorf("the client does not read: %w", err) }

// change puts another server into the place of the one that has ended, and greets it. That may wait for somebody to read what
// it answers, so it goes on by itself.
func (r *Relay) change(next Peer) {
	r.turn.Lock()
	unsent := r.unsent
	r.unsent = nil
	r.mu.Lock()
	r.peer = next
	var lines [][]byte
	for _, line := range [][]byte{r.hello, r.ready} {
		if line != nil && !slices.ContainsFunc(unsent, func(l []byte) bool { return &l[0] == &line[0] }) {
			lines = append(lines, line)
		}
	}
	r.hide = r.known // and the greeting is among the lines, since it was sent before
	r.mu.Unlock()
	go func() {
		defer r.turn.Unlock()
		for _, line := range append(lines, unsent...) {
			r.send(line)
		}
		if r.said {
			_ = next.CloseWrite() // it has ended, then
		}
	}()
}
