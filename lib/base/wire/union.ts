import type { Message, MessageOf } from './message.ts'
import { WireReader } from './reader.ts'
import { WireWriter } from './writer.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- a union has messages of any type
type Kinds = Readonly<Record<string, readonly [number: number, message: Message<any>]>>

/** A message of exactly one of several kinds. Its value has the fields of that kind, and `kind`. */
export interface Union<T> {
  readonly name: string
  readonly doc: string
  readonly kinds: Kinds
  /** @param roomBytes - expected size */
  encode(value: T, roomBytes?: number): Uint8Array
  /** Undefined for an unknown kind. Of several kinds, the last counts. @throws RangeError for malformed bytes */
  decode(bytes: { subarray(): Uint8Array }): T | undefined
}

/** A value of a union: `kind` and the fields of its message. */
export type UnionOf<U> = U extends Union<infer T> ? T : never
type ValueOf<Ks extends Kinds> = {
  [K in keyof Ks]: { readonly kind: K } & MessageOf<Ks[K][1]>
}[keyof Ks]

const LENGTH_DELIMITED = 2
const ROOM_BYTES = 512

export function union<Ks extends Kinds>(name: string, doc: string, kinds: Ks): Union<ValueOf<Ks>> {
  const byNumber = new Map(
    Object.entries(kinds).map(([kind, [number, of]]) => [number, { of, start: { kind, ...of.start } }])
  )
  return {
    name,
    doc,
    kinds,
    encode(value: { readonly kind: keyof Ks & string }, roomBytes = ROOM_BYTES) {
      const [number, of] = kinds[value.kind] ?? [0]
      const writer = new WireWriter(roomBytes)
      of?.write(writer, value)
      return writer.finishAs((number << 3) | LENGTH_DELIMITED)
    },
    decode(bytes) {
      const whole = bytes instanceof Uint8Array ? bytes : bytes.subarray()
      const reader = new WireReader(whole)
      let value: ValueOf<Ks> | undefined
      while (reader.at < whole.length) {
        const key = reader.number()
        const kind = byNumber.get(key >>> 3)
        if (kind === undefined) {
          reader.skip(key)
          continue
        }
        if ((key & 7) !== LENGTH_DELIMITED) throw new RangeError('The kind of a message must be a message.')
        value = kind.of.read(reader, reader.end(whole.length), kind.start) as ValueOf<Ks>
      }
      return value
    }
  }
}
