import { limits } from '../../lib/index.ts'
import { askRouter } from './router-request.ts'

/** The service of a UPnP router that forwards ports (WANIPConnection, or WANPPPConnection). */
export interface UpnpRouter {
  readonly control: URL
  readonly service: string
  /** This node's address towards the router. */
  readonly localAddress: string
}

/** Error codes of WANIPConnection, section 2.4.16. */
const CONFLICT = 718
const ONLY_PERMANENT = 725

const SERVICE = /^urn:schemas-upnp-org:service:WAN(IP|PPP)Connection:[12]$/

/**
 * Reads the description of a router. It is scanned for a few elements, without entities or a tree, so it cannot cost more than its size.
 * @throws Error
 */
export async function readRouter(description: URL, signal: AbortSignal): Promise<UpnpRouter> {
  const { status, text, localAddress } = await askRouter(description, signal)
  if (status !== 200) throw new Error(`the router responded ${status}`)
  // Devices of UPnP 1.0 may have another base than their URL.
  const base = URL.parse(valueOf(text, 'URLBase') ?? '') ?? description
  for (const part of text.split('<service>').slice(1)) {
    const service = valueOf(part, 'serviceType')
    const control = URL.parse(valueOf(part, 'controlURL')?.replaceAll('&amp;', '&') ?? '', base)
    // The URL may not lead to another host.
    const isOwn = control?.protocol === 'http:' && control.hostname === description.hostname
    if (service !== undefined && SERVICE.test(service) && isOwn) return { control, service, localAddress }
  }
  throw new Error('the router forwards no ports')
}

export interface UpnpMapping {
  readonly port: number
  /** The router's port. */
  readonly wanted: number
  readonly lifetimeS: number
}

/**
 * Asks a router to forward a port. If the port belongs to another machine, asks for another one.
 * @returns the router's port
 * @throws Error
 */
export async function mapByUpnp(router: UpnpRouter, mapping: UpnpMapping, signal: AbortSignal): Promise<number> {
  let { wanted, lifetimeS } = mapping
  for (let tries = 0; tries < limits.PORT_MAPPING_TRIES_MAX; tries++) {
    const code = await run(router, 'AddPortMapping', addition(router, { ...mapping, wanted, lifetimeS }), signal)
    if (code === undefined) return wanted
    if (code === ONLY_PERMANENT && lifetimeS > 0) lifetimeS = 0
    else if (code === CONFLICT) wanted = wanted < 65_535 ? wanted + 1 : 1_024
    else throw new Error(`the router refused by UPnP with error ${code}`)
  }
  throw new Error('the ports of the router are taken')
}

export async function unmapByUpnp(router: UpnpRouter, mapped: number, signal: AbortSignal): Promise<void> {
  await run(router, 'DeletePortMapping', { NewRemoteHost: '', NewExternalPort: mapped, NewProtocol: 'TCP' }, signal)
}

function addition(
  router: UpnpRouter,
  { port, wanted, lifetimeS }: UpnpMapping
): Readonly<Record<string, string | number>> {
  return {
    NewRemoteHost: '',
    NewExternalPort: wanted,
    NewProtocol: 'TCP',
    NewInternalPort: port,
    NewInternalClient: router.localAddress,
    NewEnabled: 1,
    NewPortMappingDescription: 'souk',
    NewLeaseDuration: lifetimeS
  }
}

/** @returns the router's error code; undefined if the action succeeded */
async function run(
  { control, service }: UpnpRouter,
  action: string,
  values: Readonly<Record<string, string | number>>,
  signal: AbortSignal
): Promise<number | undefined> {
  // All values are numbers, addresses and words of this file, so they need no escapes.
  const members = Object.entries(values).map(([name, value]) => `<${name}>${value}</${name}>`)
  const body = `<?xml version="1.0"?>
<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body><u:${action} xmlns:u="${service}">${members.join('')}</u:${action}></s:Body></s:Envelope>`
  const { status, text } = await askRouter(control, signal, { action: `${service}#${action}`, body })
  if (status === 200) return undefined
  return Number(valueOf(text, 'errorCode') ?? status)
}

/** The text of the first element of this name, in any namespace. */
function valueOf(xml: string, name: string): string | undefined {
  return new RegExp(`<(?:\\w{1,20}:)?${name}>([^<]*)<`).exec(xml)?.[1]?.trim()
}
