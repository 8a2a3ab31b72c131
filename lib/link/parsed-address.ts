import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'

/** Undefined for a text that is no address. Peers send any text, and bytes whose text does not parse again. */
export function parsedAddress(text: string): Multiaddr | undefined {
  try {
    return multiaddr(text)
  } catch {
    return undefined
  }
}
