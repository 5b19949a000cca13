/* SPDX-License-Identifier: MIT */
/*
 * wire/proto - what is said over the daemon's socket. Framing: wire/frame.h.
 *
 * CONVERSATIONS. A client numbers its requests: each goes out on a channel (1 to
 * 2^32-1) that is not in use and is over with exactly one answer on it:
 *
 *     {"result": {...}}   or   {"error": {"code": "...", "message": "..."}}
 *
 * Any number of channels, up to WIRE_CHANNELS_MAX, may be open at once, and answers
 * come in any order. Before its answer a channel may carry events, {"event": "..."},
 * and output. An error on channel 0 is about the connection, which then closes. The
 * first request is `hello`; others may be sent behind it without waiting.
 *
 * Every request is an object with "op". A field that the operation does not know, that
 * is there twice or of the wrong type, is refused. Codes of errors are the names of base/err.h:
 * syntax_error denied limit_exceeded busy not_found already_exists invalid_argument
 * timeout closed session_lost spawn_failed protocol_error already_exited unsupported
 * storage_error internal.
 *
 * BYTES in a JSON field `x` are text in `x`, or base64 in `x64` where they are no
 * UTF-8: text, stdin, data, state, file, cwd, startCwd, pattern. Values in `env` that
 * are none stand in an object `env64` beside it. Output and input travel as raw frames.
 *
 * CURSORS number the bytes of a command's output, both streams together, in order of
 * arrival. An output frame carries the number of its first byte. A reader that asks
 * for logs from where it stopped loses nothing and gets nothing twice.
 *
 * A SLOW READER has at most WIRE_QUEUE_MAX bytes waiting for it; what comes after is
 * read from the command's log once there is room. The command is never held up. If
 * the log had to drop bytes meanwhile: {"event": "gap", "from": CURSOR, "to": CURSOR}.
 *
 * INPUT on a channel whose command takes it: 'I' frames, then 'X'. At most
 * WIRE_INPUT_WINDOW bytes may be on their way; {"event": "input", "taken": TOTAL}
 * says how many of all bytes sent are not any more.
 *
 * A CLIENT THAT VANISHES harms nothing: its commands go on, their results are kept.
 *
 * ---- operations ------------------------------------------------------------------
 * `?` marks what may be left out. Where a command is named by "id", "channel" may
 * stand instead: the command of this connection's exec on that channel.
 *
 * hello     protocol, client? (name and version, for people)
 *           -> protocol, version, pid
 *           `unsupported` when the daemon does not speak that protocol.
 * status    -> version, protocol, pid, startedAt, uptimeMs, connections, channels,
 *           sessions, commandsRunning, socket, stateDir?, notice?
 * shutdown  -> {}; then all sessions are closed and the daemon ends.
 *
 * exec      text, session?, create? (true), kind?, startCwd?, cwd?, env? {"K": "V"},
 *           timeoutMs?, graceMs?, yieldMs?, stdin?, stdinOpen?, stream?,
 *           background?, wait?, pty?, rows?, cols?
 *           -> the result object (docs/result.md).
 *           Without session: one of its own, closed when the command has ended. A
 *           session that does not exist is made, of that kind and starting in startCwd,
 *           unless create is false. cwd and env are for this command.
 *           yieldMs: if the command runs longer, the answer comes then, its status
 *           "running". background: the answer comes at once, unless yieldMs, wait or
 *           stream ask to wait. A terminal (pty) needs background.
 *           stdin: given at the start; stdinOpen: frames follow, and more after stdin.
 *           stream or stdinOpen: {"event": "started", "id", "session"} comes first.
 *           stream: output frames; all that was printed before the end of the command
 *           comes before the answer. What outlives it prints is left to `logs`.
 * input     id, data?, end? -> {}
 * input     id, stream: true -> {} at 'X', which ends the input, or at the command's end
 *           Of a command that has ended, also before a restart of the daemon: input, inputEnd,
 *           resize, signal and stop are `already_exited`, waits are met at once, logs are read.
 * inputEnd  id -> {}
 * resize    id, rows, cols -> {}
 * signal    id, signal ("TERM", "SIGINT" or a number) -> {}
 * stop      id -> {}; by INT, TERM and KILL. Of an ended command: kills its survivors.
 * result    id -> the result object, also of a running command
 * ps        session?, all? (also ended ones) -> commands: [...]
 * logs      id, cursor? (0), follow?, filter? ("stdout", "stderr"), max? (bytes)
 *           -> cursor, status; output frames come before it. follow: until the command
 *           has ended and nothing that outlived it writes any more.
 * wait      id, until ("exit", "log", "port"), pattern?, regex?, host?, port?, timeoutMs?
 *           -> end ("met", "timeout", "exited"), line?
 * detach    channel -> {}; that channel gets {"result": {"detached": true}} if it was
 *           waiting. Its command goes on.
 *
 * sessionOpen      session?, kind?, cwd?, env?, state?, mayExist? -> session
 * sessionList      -> sessions: [...]
 * sessionShow      session -> the session
 * sessionClose     session -> {} when nothing of it is left
 * sessionReset     session -> {}
 * sessionFork      session, newSession? -> session
 * sessionSnapshot  session, name -> {}
 * sessionRestore   session, name -> {}
 * sessionExport    session -> file (a string; see docs/session-file.md)
 * sessionImport    file, newSession? -> session, when its shell has read the state
 */
#ifndef WIRE_PROTO_H
#define WIRE_PROTO_H

enum {
    WIRE_PROTOCOL = 1,
    WIRE_CHANNELS_MAX = 1024,        /* open at once on one connection */
    WIRE_QUEUE_MAX = 1024 * 1024,    /* output that waits for a reader */
    WIRE_INPUT_WINDOW = 1024 * 1024, /* input on its way, per channel */
};

#endif
