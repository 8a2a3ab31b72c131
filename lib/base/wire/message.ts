import { type Field, fieldOf, type FieldType, type Presence } from './field.ts'
import { WireReader } from './reader.ts'
import { WireWriter } from './writer.ts'

/** Initial buffer of a message. A larger message costs a copy. */
const ROOM_BYTES = 512

// oxlint-disable-next-line typescript/no-explicit-any -- a table has fields of any type
type Fields = Readonly<Record<string, Field<any>>>
type ValueOf<F> = F extends Field<infer T, infer P> ? (P extends 'list' ? readonly T[] : T) : never
type MayBeAbsent<Fs extends Fields> = {
  [K in keyof Fs]: Fs[K]['presence'] extends 'optional' | 'nonEmpty' ? K : never
}[keyof Fs]
/** The type of a message by its table. */
type Sparse<Fs extends Fields> = { readonly [K in Exclude<keyof Fs, MayBeAbsent<Fs>>]: ValueOf<Fs[K]> } & {
  readonly [K in MayBeAbsent<Fs>]?: ValueOf<Fs[K]>
}
/** The same. Fields that may be absent may also be undefined. */
type Fixed<Fs extends Fields> = { readonly [K in Exclude<keyof Fs, MayBeAbsent<Fs>>]: ValueOf<Fs[K]> } & {
  readonly [K in MayBeAbsent<Fs>]?: ValueOf<Fs[K]> | undefined
}

/** A Protocol Buffers message, made from a table of its fields. */
export interface Message<T> {
  readonly name: string
  readonly doc: string
  readonly fields: Fields
  /** Field numbers that must not be used again. */
  readonly reserved: readonly number[]
  /** Deterministic: fields in the order of the table, which ascends. */
  encode(value: T): Uint8Array
  /** Ignores unknown fields, and fields of another wire type. @throws RangeError for malformed bytes */
  decode(bytes: { subarray(): Uint8Array }): T
  write(writer: WireWriter, value: T): void
  /** `start`: the value of a message without fields. */
  read(reader: WireReader, end: number, start?: object): T
  readonly start: object
}

export type MessageOf<M> = M extends Message<infer T> ? T : never

/** Absent fields have no property. */
export function message<Fs extends Fields>(
  name: string,
  doc: string,
  fields: Fs,
  reserved: readonly number[] = []
): Message<Sparse<Fs>> {
  return { name, doc, fields, reserved, ...compile(fields, false) } as Message<Sparse<Fs>>
}

/** Makes a value that has no fields yet. */
export type Copy = (start: object) => object

/**
 * Absent fields are undefined. All values have the same shape, which is faster for messages of each call.
 * @param copy - `(start) => ({ ...start })`, beside the table. V8 then knows the one shape that this function copies. The function
 * that other messages share takes four times the memory
 */
export function fixedMessage<Fs extends Fields>(
  name: string,
  doc: string,
  fields: Fs,
  copy?: Copy
): Message<Fixed<Fs>> {
  return { name, doc, fields, reserved: [], ...compile(fields, true, copy) } as Message<Fixed<Fs>>
}

/** A field that is a message. */
export function nested<T>(of: Message<T>, number: number, doc = ''): Field<T, 'optional'> {
  const type: FieldType<T> = {
    proto: of.name,
    wire: 2,
    empty: undefined,
    isEmpty: () => false,
    write(writer, key, value) {
      const start = writer.open(key)
      of.write(writer, value)
      writer.close(start)
    },
    read: (reader, end) => of.read(reader, reader.end(end))
  }
  return fieldOf(type, 'optional', number, doc)
}

interface Slot {
  readonly name: string
  readonly key: number
  readonly type: FieldType<unknown>
  readonly presence: Presence
  readonly max: number
}

type Value = Record<string, unknown>

const NO_ITEMS: readonly unknown[] = Object.freeze([])

type Codec = Pick<Message<Value>, 'start' | 'write' | 'read' | 'encode' | 'decode'>

const copyAny: Copy = (start) => ({ ...start })

function compile(fields: Fields, isFixed: boolean, copy = copyAny): Codec {
  const slots = Object.entries(fields).map(
    ([property, { number, type, presence, max }]): Slot => ({
      name: property,
      key: (number << 3) | type.wire,
      type,
      presence,
      max
    })
  )
  const byKey: Array<Slot | undefined> = Array.from({ length: Math.max(0, ...slots.map(({ key }) => key)) + 1 })
  for (const slot of slots) byKey[slot.key] = slot
  const start = Object.fromEntries(
    slots.filter((slot) => isFixed || startsWith(slot) !== undefined).map((slot) => [slot.name, startsWith(slot)])
  )
  const required = slots.filter(({ presence }) => presence === 'required').map((slot) => slot.name)

  const write = (writer: WireWriter, value: Value): void => {
    for (const slot of slots) writeSlot(writer, slot, value[slot.name])
  }
  const read = (reader: WireReader, end: number, from: object = start): Value => {
    const value = copy(from) as Value
    while (reader.at < end) {
      const key = reader.number()
      const slot = key < byKey.length ? byKey[key] : undefined
      if (slot === undefined) reader.skip(key)
      else readSlot(reader, slot, value, end)
    }
    if (reader.at !== end) throw new RangeError('A field is longer than its message.')
    for (const each of required) if (value[each] === undefined) throw new RangeError('A required field is absent.')
    return value
  }
  return {
    start,
    write,
    read,
    encode(value) {
      const writer = new WireWriter(ROOM_BYTES)
      write(writer, value)
      return writer.finish()
    },
    decode(bytes) {
      const whole = bytes instanceof Uint8Array ? bytes : bytes.subarray()
      return read(new WireReader(whole), whole.length)
    }
  }
}

/** The value of an absent field. */
function startsWith({ presence, type }: Slot): unknown {
  if (presence === 'list') return NO_ITEMS
  return presence === 'plain' ? type.empty : undefined
}

function writeSlot(writer: WireWriter, { key, type, presence }: Slot, value: unknown): void {
  if (value === undefined) return
  if (presence === 'list') for (const item of value as readonly unknown[]) type.write(writer, key, item)
  else if (presence === 'optional' || !type.isEmpty(value)) type.write(writer, key, value)
}

function readSlot(reader: WireReader, { name, type, presence, max }: Slot, value: Value, end: number): void {
  const item = type.read(reader, end)
  if (presence === 'list') append(value, name, item, max)
  else if (presence !== 'nonEmpty' || !type.isEmpty(item)) value[name] = item
}

function append(value: Value, name: string, item: unknown, max: number): void {
  const items = value[name] as unknown[]
  if (items.length >= max) throw new RangeError('A list is too long.')
  // Most lists have one or two items. `push` would make room for seventeen.
  if (items.length === 0) value[name] = [item]
  else if (items.length === 1) value[name] = [items[0], item]
  else items.push(item)
}
