import dns from 'node:dns/promises'
import type { Connection } from '@libp2p/interface'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { systemClock } from '../base/clock.ts'
import { DIALS_PER_NAME_MAX } from '../base/limits/link.ts'
import { within } from '../base/within.ts'
import { AddressRace } from './reach/address-race.ts'
import type { DialOptions } from './reach/dial-progress.ts'

/**
 * Dials an address. A DNS name is looked up by the system's resolver, and the first of its IP addresses that connects is
 * used. Node.js would give each of them 250 ms to connect, which is too short for a slow network, and stop at the first
 * one that accepts TCP.
 *
 * `/dns4` and `/dns6` may lead to both kinds of addresses, as they do in libp2p.
 *
 * @param dial - gets the address with an IP address instead of the name
 */
export async function dialName(
  address: Multiaddr,
  options: DialOptions,
  dial: (address: Multiaddr, options: DialOptions) => Promise<Connection>
): Promise<Connection> {
  const [host, ...others] = address.getComponents()
  if (host?.value === undefined || !/^dns[46]?$/.test(host.name)) return dial(address, options)
  const found = await within(dns.lookup(host.value, { all: true }), options.signal)
  const rest = others.map(({ name, value }) => (value === undefined ? `/${name}` : `/${name}/${value}`)).join('')
  const addresses = found
    .slice(0, DIALS_PER_NAME_MAX)
    .map(({ address: ip, family }) => multiaddr(`/ip${family}/${ip}${rest}`))
  const [first] = addresses
  if (first === undefined) throw new Error(`${host.value} has no address`)
  const race = new AddressRace({ clock: systemClock, load: { dials: 0 }, dial })
  race.add(addresses)
  return race.run(first, options)
}
