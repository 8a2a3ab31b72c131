import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { limits } from '../../lib/index.ts'

/** Where UPnP devices listen for searches. */
const SSDP_PLACE = { address: '239.255.255.250', port: 1900 }

/** Routers of version 2 respond to a search for version 1 as well. */
const ROUTER = 'urn:schemas-upnp-org:device:InternetGatewayDevice:1'

export interface SsdpSearch {
  /** Address of the interface to search. */
  readonly from: string
  /** Default: all devices of the local network. */
  readonly place?: { readonly address: string; readonly port: number }
  readonly signal: AbortSignal
}

/**
 * Searches the local network for UPnP routers, until the signal aborts. A device can name a URL on itself only, so that it cannot make this
 * node send requests to others.
 * @returns the URLs of their descriptions, at most `ROUTERS_ASKED_MAX`
 */
export async function searchRouters({ from, place = SSDP_PLACE, signal }: SsdpSearch): Promise<URL[]> {
  const socket = createSocket('udp4')
  const found = new Map<string, URL>()
  try {
    socket.bind(0, from)
    await once(socket, 'listening', { signal })
    if (place === SSDP_PLACE) socket.setMulticastInterface(from)
    const head = ['M-SEARCH * HTTP/1.1', `HOST: ${place.address}:${place.port}`, 'MAN: "ssdp:discover"']
    const search = [...head, 'MX: 1', `ST: ${ROUTER}`, '', ''].join('\r\n')
    // Twice, because UDP loses packets.
    for (let sent = 0; sent < 2; sent++) socket.send(search, place.port, place.address)
    while (found.size < limits.ROUTERS_ASKED_MAX) {
      const [message, sender] = (await once(socket, 'message', { signal })) as [Buffer, { address: string }]
      const location = URL.parse(/^location:\s*(\S+)\s*$/im.exec(message.toString('latin1'))?.[1] ?? '')
      if (location?.protocol === 'http:' && location.hostname === sender.address) found.set(location.href, location)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    socket.close()
  }
  return [...found.values()]
}
