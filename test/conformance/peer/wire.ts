/** Protobuf and framing for the independent peer, from the specification alone. */

export type Value = bigint | Uint8Array
export type Fields = Map<number, Value[]>

export function putVarint(value: number | bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt(value)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}

/** Returns the number and the position after it, or undefined while bytes are missing. */
export function getVarint(bytes: Uint8Array, at: number): [value: bigint, end: number] | undefined {
  let value = 0n
  for (let shift = 0n; at < bytes.length; shift += 7n) {
    const byte = bytes[at++] ?? 0
    value |= BigInt(byte & 127) << shift
    if (byte < 128) return [value, at]
    if (shift > 63n) throw new Error('number too long')
  }
  return undefined
}

/** Writes a message. Fields that are undefined are left out. */
export function write(
  fields: ReadonlyArray<readonly [number, number | bigint | string | Uint8Array | undefined]>
): Buffer {
  const parts: Uint8Array[] = []
  for (const [number, value] of fields) {
    if (value === undefined) continue
    if (typeof value === 'number' || typeof value === 'bigint') {
      parts.push(putVarint(number << 3), putVarint(value))
    } else {
      const bytes = typeof value === 'string' ? Buffer.from(value) : value
      parts.push(putVarint((number << 3) | 2), putVarint(bytes.length), bytes)
    }
  }
  return Buffer.concat(parts)
}

export function read(bytes: Uint8Array): Fields {
  const fields: Fields = new Map()
  for (let at = 0; at < bytes.length; ) {
    const [key, afterKey] = getVarint(bytes, at) ?? fail()
    const type = Number(key & 7n)
    if (type !== 0 && type !== 2) throw new Error('unknown wire type')
    const [number, afterNumber] = getVarint(bytes, afterKey) ?? fail()
    at = afterNumber + (type === 2 ? Number(number) : 0)
    if (at > bytes.length) fail()
    const list = fields.get(Number(key >> 3n)) ?? []
    list.push(type === 2 ? bytes.subarray(afterNumber, at) : number)
    fields.set(Number(key >> 3n), list)
  }
  return fields
}

function fail(): never {
  throw new Error('message ends within a field')
}

export const bytesIn = (fields: Fields, number: number): Uint8Array | undefined => {
  const value = fields.get(number)?.at(-1)
  return typeof value === 'bigint' ? undefined : value
}
export const textIn = (fields: Fields, number: number): string => Buffer.from(bytesIn(fields, number) ?? []).toString()
export const numberIn = (fields: Fields, number: number): number => {
  const value = fields.get(number)?.at(-1)
  return typeof value === 'bigint' ? Number(value) : 0
}

/** Cuts a stream into what stands after each length. */
export class Cutter {
  #rest: Uint8Array = new Uint8Array(0)

  readonly #lengthMax: number

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax
  }

  push(data: Uint8Array): Uint8Array[] {
    const all = Buffer.concat([this.#rest, data])
    const pieces: Uint8Array[] = []
    let at = 0
    for (;;) {
      const length = getVarint(all, at)
      if (length !== undefined && length[0] > BigInt(this.#lengthMax)) throw new Error('too long')
      if (length === undefined || length[1] + Number(length[0]) > all.length) break
      const end = length[1] + Number(length[0])
      pieces.push(all.subarray(length[1], end))
      at = end
    }
    this.#rest = all.subarray(at)
    return pieces
  }
}

export const prefixed = (bytes: Uint8Array): Buffer => Buffer.concat([putVarint(bytes.length), bytes])
