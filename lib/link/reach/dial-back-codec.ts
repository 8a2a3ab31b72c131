import { decodeMessage, encodeMessage } from 'protons-runtime'
import { DIAL_BACK_ADDRESSES_MAX, DIAL_BACK_PORTS_MAX } from '../../base/limits/reach.ts'
import { append, bytesTag, codec, readSafeInteger, varintTag, writeInteger, writeText } from '../../base/wire.ts'

/** `souk.DialBackRequest` of `docs/reference/souk-reach.proto`. */
export interface DialBackRequest {
  readonly network: string
  /** TCP ports to dial at the address from which the request came. */
  readonly ports: readonly number[]
  /** Multiaddrs to dial for a direct connection. Only for a request that came through a relay. */
  readonly addresses: readonly string[]
}

/** `souk.DialBackResponse`. */
export interface DialBackResponse {
  /** The multiaddrs that were dialled. */
  readonly dialled: readonly string[]
  /** The dialled addresses at which the peer answered. */
  readonly reached: readonly string[]
}

interface RequestMessage {
  network: string
  ports: number[]
  addresses: string[]
}

const requestCodec = codec<RequestMessage>({
  start: () => ({ network: '', ports: [], addresses: [] }),
  write(value, writer) {
    writeText(writer, 1, value.network)
    for (const port of value.ports) writeInteger(writer, 2, port)
    for (const address of value.addresses) writeText(writer, 3, address)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.network = reader.string()
    else if (tag === varintTag(2)) append(value.ports, readSafeInteger(reader), DIAL_BACK_PORTS_MAX)
    else if (tag === bytesTag(3)) append(value.addresses, reader.string(), DIAL_BACK_ADDRESSES_MAX)
    else return false
    return true
  }
})

interface ResponseMessage {
  dialled: string[]
  reached: string[]
}

/** A peer with several addresses is dialled at each of its ports. */
const DIALLED_MAX = DIAL_BACK_PORTS_MAX * DIAL_BACK_ADDRESSES_MAX

const responseCodec = codec<ResponseMessage>({
  start: () => ({ dialled: [], reached: [] }),
  write(value, writer) {
    for (const address of value.dialled) writeText(writer, 1, address)
    for (const address of value.reached) writeText(writer, 2, address)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) append(value.dialled, reader.string(), DIALLED_MAX)
    else if (tag === bytesTag(2)) append(value.reached, reader.string(), DIALLED_MAX)
    else return false
    return true
  }
})

export function encodeDialBackRequest({ network, ports, addresses }: DialBackRequest): Uint8Array {
  return encodeMessage({ network, ports: [...ports], addresses: [...addresses] }, requestCodec)
}

export const decodeDialBackRequest = (bytes: Uint8Array): DialBackRequest => decodeMessage(bytes, requestCodec)

export function encodeDialBackResponse({ dialled, reached }: DialBackResponse): Uint8Array {
  return encodeMessage({ dialled: [...dialled], reached: [...reached] }, responseCodec)
}

export const decodeDialBackResponse = (bytes: Uint8Array): DialBackResponse => decodeMessage(bytes, responseCodec)
