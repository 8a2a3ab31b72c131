import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** A DNS server on loopback that supports only TXT records. */
export interface TestDns {
  /** `address:port`, as for `Resolver.setServers`. */
  readonly address: string
  /** Keyed by lower-case name. Other names do not exist; names in `silent` get no response. */
  readonly records: Map<string, readonly string[]>
  readonly silent: Set<string>
  /** The received queries. */
  readonly asked: string[]
  close(): void
}

const HEADER_BYTES = 12
const TXT = 16
const TEXT_BYTES_MAX = 255

export async function startDns(): Promise<TestDns> {
  const socket = createSocket('udp4')
  const dns = { records: new Map<string, readonly string[]>(), silent: new Set<string>(), asked: [] as string[] }
  socket.on('message', (query, from) => {
    const { name, end } = readName(query, HEADER_BYTES)
    dns.asked.push(name)
    if (dns.silent.has(name)) return
    const texts = query.readUInt16BE(end) === TXT ? dns.records.get(name) : undefined
    const question = query.subarray(HEADER_BYTES, end + 4)
    const header = Buffer.alloc(HEADER_BYTES)
    query.copy(header, 0, 0, 2)
    // A response, recursion available; NXDOMAIN without records (RFC 1035, section 4.1.1).
    header.writeUInt16BE(texts === undefined ? 0x8183 : 0x8180, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(texts?.length ?? 0, 6)
    socket.send(Buffer.concat([header, question, ...(texts ?? []).map(answer)]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { ...dns, address: `127.0.0.1:${socket.address().port}`, close: () => void socket.close() }
}

function readName(message: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = []
  let at = start
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

/** A pointer to the queried name, type, class IN, a TTL of one minute, and strings of at most 255 bytes. */
function answer(text: string): Buffer {
  const bytes = Buffer.from(text)
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += TEXT_BYTES_MAX) {
    const part = bytes.subarray(at, at + TEXT_BYTES_MAX)
    parts.push(Buffer.from([part.length]), part)
  }
  const data = Buffer.concat(parts)
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, TXT, 0, 1, 0, 0, 0, 60, 0, 0])
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
