import type { Connection, Stream } from '@libp2p/interface'
import { LINK_WINDOW_BYTES_MAX } from '../../base/limits/link.ts'
import { RELAYED_QUEUE_BYTES_MAX } from '../../base/limits/reach.ts'
import { BoundedReading } from '../bounded-reading.ts'
import type { UnreadBodies, UnreadBody } from '../unread-bodies.ts'
import { narrowWindow } from '../window-updates.ts'

/** The parts of libp2p's relay that this file uses. */
interface Relay {
  handleConnect(hop: Hop, options: object): Promise<void>
  stopHop(stop: { readonly connection: Connection }, options: object): Promise<Stream | undefined>
}

interface Hop {
  readonly connection: Connection
  readonly stream: { unwrap(): Stream }
}

/**
 * Makes the sender of a circuit wait for its receiver. libp2p's relay reads all that a peer sends, and keeps it until the other peer reads:
 * `RELAY_CIRCUIT_BYTES_MAX` for each circuit.
 */
export function waitForReceivers(relay: object, unread: UnreadBodies): void {
  if (!isRelay(relay)) return
  const handleConnect = relay.handleConnect.bind(relay)
  const stopHop = relay.stopHop.bind(relay)
  /** The other stream of each circuit. libp2p passes the options of a request on. */
  const holders = new WeakMap<object, readonly [stream: Stream, peer: string]>()
  relay.stopHop = async (stop, options) => {
    const stream = await stopHop(stop, options)
    if (stream !== undefined) holders.set(options, [stream, stop.connection.remotePeer.toString()])
    return stream
  }
  relay.handleConnect = (hop, options) => {
    // Called when the circuit is there. libp2p joins the two streams in the same turn.
    const unwrap = () => {
      const stream = hop.stream.unwrap()
      const [holder, peer] = holders.get(options) ?? []
      if (holder === undefined || peer === undefined) return stream
      limit(stream, holder, hop.connection.remotePeer.toString(), unread)
      limit(holder, stream, peer, unread)
      return stream
    }
    return handleConnect({ ...hop, stream: { ...hop.stream, unwrap } }, options)
  }
}

/** Pauses `from` while too much of what it has received waits for `to`. */
function limit(from: Stream, to: Stream, peer: string, unread: UnreadBodies): void {
  let queued = 0
  let isOver = false
  const unsent = () => queued + to.writeBufferLength
  const hasEnough = () => unsent() >= RELAYED_QUEUE_BYTES_MAX
  const reading = new BoundedReading(from, hasEnough)
  const body: UnreadBody = {
    peer,
    get unreadBytes() {
      return isOver ? 0 : unsent() + from.readBufferLength
    },
    narrow: () => narrowWindow(from),
    abort: (error) => from.abort(error)
  }
  const resume = () => {
    if (!hasEnough()) reading.resume()
  }
  // While paused, up to a whole window may still arrive.
  from.maxReadBufferLength = 2 * LINK_WINDOW_BYTES_MAX
  from.addEventListener('message', ({ data }) => {
    queued += data.byteLength
    reading.pauseIfEnough()
    unread.watch(body)
  })
  // libp2p takes nothing from the stream after these events, so the rest has to be delivered before.
  from.addEventListener('remoteCloseWrite', () => reading.resume())
  from.addEventListener('close', () => reading.resume())
  to.addEventListener('close', () => (isOver = true))
  to.addEventListener('idle', resume)
  const send = to.send.bind(to)
  to.send = (data) => {
    queued -= data.byteLength
    const canSendMore = send(data)
    resume()
    return canSendMore
  }
}

function isRelay(relay: object): relay is Relay {
  return (
    'handleConnect' in relay &&
    typeof relay.handleConnect === 'function' &&
    'stopHop' in relay &&
    typeof relay.stopHop === 'function'
  )
}
