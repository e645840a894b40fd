// Package wiretap is a TCP relay between one ZooKeeper client and its servers.
// It forwards the bytes unchanged, decodes the frames that pass, and injects
// network faults.
//
// # Frames
//
// Every frame is reported to [Options.OnFrame], the frames of one connection in
// the order in which they passed the relay. A request is reported before its
// first byte can be answered, so a reply never comes before its request. What
// the relay cannot read (an unknown operation, a broken or truncated frame,
// something that is not ZooKeeper's protocol at all) passes unchanged and is
// reported as [Undecoded].
//
// OnFrame runs on one goroutine of the relay, apart from the forwarding, so it
// may take its time and may call the relay's methods, Close excepted. While it is
// busy frames queue up; when [MaxQueuedFrames] are waiting, further ones are
// counted instead of kept and the next kept frame says in [Frame.Lost] how many
// are missing before it. Forwarding never waits for OnFrame.
//
// # Faults
//
// Faults are in force as soon as the method returns, for open and for new
// connections. A connection that is held back by a black hole or a delay keeps
// its bytes in a bounded queue; when the queue is full the relay stops reading,
// and the sender's own socket fills up, as on a real network.
//
// Memory is bounded: [MaxHeldBytes] a direction for bytes held back, [MaxDecode] a
// direction for the frame being decoded (a longer one is forwarded as it comes,
// and only its head is read), [MaxConns] connections at a time.
package wiretap
