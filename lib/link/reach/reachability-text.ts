import { MINUTE } from '../../base/limits/units.ts'
import type { Reachability } from '../../interface/reachability.ts'

/** How a node is reached, for people: one line, and what to do where it could be better. */
export interface ReachabilityText {
  readonly text: string
  /** Undefined where nothing has to be done. */
  readonly hint: string | undefined
  /** Present if the clock is wrong: `clock of this machine is 10 minutes ahead of its peers’`. */
  readonly clock?: string
}

/** Says in words how peers reach a node. The only place that words it. */
export function reachabilityText(reach: Reachability): ReachabilityText {
  const reached = byAddress(reach)
  const { clockAheadMs = 0 } = reach
  if (clockAheadMs === 0) return reached
  const clock = `clock of this machine is ${aheadText(clockAheadMs)} its peers’`
  return { text: `${reached.text}, but the ${clock}`, hint: CLOCK_HINT, clock }
}

function aheadText(aheadMs: number): string {
  const minutes = Math.round(Math.abs(aheadMs) / MINUTE)
  const [count, unit] =
    minutes < 120
      ? [minutes, 'minutes']
      : minutes < 2 * 1_440
        ? [Math.round(minutes / 60), 'hours']
        : [Math.round(minutes / 1_440), 'days']
  return `${count} ${unit} ${aheadMs > 0 ? 'ahead of' : 'behind'}`
}

const CLOCK_HINT = 'Set the clock, for example with NTP. Until then others do not find the APIs of this node.'

function byAddress(reach: Reachability): ReachabilityText {
  const { state, isConfirmed, relays } = reach
  const port = reach.port === undefined ? 'the port' : `TCP port ${reach.port}`
  const places = placesOf(reach.addresses).join(', ')
  const forward = forwardHint(reach, port)
  switch (state) {
    case 'direct':
      return isConfirmed
        ? { text: `reachable directly at ${places}${forwarded(reach)}`, hint: undefined }
        : {
            text: `reachable directly at ${places}, not confirmed by a peer yet`,
            hint: reach.port === undefined ? WEB_SERVER_HINT : `If peers cannot connect, allow ${port} in the firewall.`
          }
    case 'relayed':
      return {
        text: `reachable through ${relays.length} ${relays.length === 1 ? 'relay' : 'relays'}; forward ${port} to be faster`,
        hint: forward
      }
    case 'private':
      return isLocal(reach)
        ? {
            text: `reachable from this machine only, at ${places}`,
            hint: reach.isOffline ? OFFLINE_HINT : 'To accept peers on other machines: souk up --p2p-host 0.0.0.0'
          }
        : { text: `reachable in its own network at ${places}`, hint: undefined }
    default:
      return unreachable(reach, port, forward)
  }
}

/** The router's own account counts only where a peer used the port. */
function forwarded({ mapped, addresses }: Reachability): string {
  if (mapped === undefined || !addresses.some((address) => address.endsWith(`/tcp/${mapped.port}`))) return ''
  return `; the router forwards TCP port ${mapped.port} (${mapped.by})`
}

function forwardHint({ mapped }: Reachability, port: string): string {
  if (mapped === undefined) return `Forward ${port} of the router to this machine, or allow it in the firewall.`
  return `The router forwards its TCP port ${mapped.port} (${mapped.by}), but no peer can connect to it: there is another router in front of it. Forward the port there too.`
}

/** Peers on other machines cannot connect, because the node listens on 127.0.0.1 only. */
const isLocal = ({ port, addresses }: Reachability): boolean =>
  port === undefined && addresses.every((address) => /^\/ip4\/127\.|^\/ip6\/::1\//.test(address))

const OFFLINE_HINT = 'Connect this machine to a network. The node notices it by itself.'

/** For a node that announces a web server's address only. */
const WEB_SERVER_HINT =
  'Check that the web server at this address passes WebSockets on to the node, and that its certificate is valid.'

function unreachable(reach: Reachability, port: string, forward: string): ReachabilityText {
  const { asked } = reach
  if (reach.isOffline) return { text: 'not reachable: this machine has no network', hint: OFFLINE_HINT }
  if (isLocal(reach)) {
    return {
      text: 'not reachable: the node listens on this machine only, and no relay is in use',
      hint: 'souk up --p2p-host 0.0.0.0'
    }
  }
  if (asked > 0) {
    return {
      text: `not reachable: ${asked} ${asked === 1 ? 'peer' : 'peers'} could not connect to ${reach.port === undefined ? placesOf(reach.addresses).join(', ') : port}, and no relay is in use`,
      hint: reach.port === undefined ? WEB_SERVER_HINT : forward
    }
  }
  return {
    text: 'not reachable: the node has private addresses only, and no peer has confirmed another one',
    hint: `Connect to a peer with --bootstrap, or forward ${port} and run: souk up --announce /ip4/<public address>/tcp/<port>`
  }
}

/** `/ip4/11.1.1.2/tcp/4402` → `11.1.1.2:4402`. Other forms stay as they are. */
function placesOf(addresses: readonly string[]): string[] {
  const places = addresses.map((address) => {
    const [, kind = '', host = '', transport, port, ...rest] = address.split('/')
    if (transport !== 'tcp' || port === undefined || rest.length > 0) return address
    return kind === 'ip6' ? `[${host}]:${port}` : `${host}:${port}`
  })
  return [...new Set(places)]
}
