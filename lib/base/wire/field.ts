import { EMPTY_BYTES } from '../bytes.ts'
import { fromHex, type Hex, toHex } from '../hex.ts'
import type { WireReader } from './reader.ts'
import type { WireWriter } from './writer.ts'

const VARINT = 0
const LENGTH_DELIMITED = 2

/** How one value is encoded. All types have the same properties, so that the loops over fields stay fast. */
export interface FieldType<T> {
  /** As in a `.proto` file. */
  readonly proto: string
  readonly wire: typeof VARINT | typeof LENGTH_DELIMITED
  /** The value of an absent field. */
  readonly empty: T | undefined
  readonly isEmpty: (value: T) => boolean
  readonly write: (writer: WireWriter, key: number, value: T) => void
  /** `end`: where the message ends that contains the field. */
  readonly read: (reader: WireReader, end: number) => T
}

/**
 * Whether a field may be absent:
 * - `plain`: its empty value is not written, and an absent field reads as that.
 * - `required`: like `plain`, but a message without it cannot be read.
 * - `optional`: present and empty differs from absent.
 * - `nonEmpty`: an empty value means absent.
 * - `list`: any number of values, up to `max`.
 */
export type Presence = 'plain' | 'required' | 'optional' | 'nonEmpty' | 'list'

/** One row of a message table. */
export interface Field<T, P extends Presence = Presence> {
  readonly number: number
  readonly type: FieldType<T>
  readonly presence: P
  /** The description in the `.proto` file. */
  readonly doc: string
  /** Most items of a list. */
  readonly max: number
  /** Name in the `.proto` file. Default: the property, in snake case. */
  readonly name?: string
}

const BYTES: FieldType<Uint8Array> = {
  proto: 'bytes',
  wire: LENGTH_DELIMITED,
  empty: EMPTY_BYTES,
  isEmpty: (value) => value.length === 0,
  write: (writer, key, value) => writer.bytes(key, value),
  read: (reader) => reader.slice()
}

const TEXT: FieldType<string> = {
  proto: 'string',
  wire: LENGTH_DELIMITED,
  empty: '',
  isEmpty: (value) => value === '',
  write: (writer, key, value) => writer.text(key, value),
  read: (reader) => reader.text()
}

const BOOL: FieldType<boolean> = {
  proto: 'bool',
  wire: VARINT,
  empty: false,
  isEmpty: (value) => !value,
  write: (writer, key, value) => writer.number(key, value ? 1 : 0),
  read: (reader) => reader.number() !== 0
}

const numberType = (proto: string): FieldType<number> => ({
  proto,
  wire: VARINT,
  empty: 0,
  isEmpty: (value) => value === 0,
  write: (writer, key, value) => writer.number(key, value),
  read: (reader) => reader.number()
})
const UINT32 = numberType('uint32')
const UINT53 = numberType('uint64')

const UINT64: FieldType<bigint> = {
  proto: 'uint64',
  wire: VARINT,
  empty: 0n,
  isEmpty: (value) => value === 0n,
  write: (writer, key, value) => writer.bigint(key, value),
  read: (reader) => reader.bigint()
}

const hexType = (length: number): FieldType<Hex> => ({
  proto: 'bytes',
  wire: LENGTH_DELIMITED,
  empty: undefined,
  isEmpty: () => false,
  write: (writer, key, value) => writer.bytes(key, fromHex(value, length)),
  read(reader) {
    const bytes = reader.slice()
    if (bytes.length !== length) throw new RangeError('A field has a wrong length.')
    return toHex(bytes)
  }
})

export function fieldOf<T, P extends Presence>(
  type: FieldType<T>,
  presence: P,
  number: number,
  doc: string
): Field<T, P> {
  return { number, type, presence, doc, max: 1 }
}

type Declare<T> = (number: number, doc?: string) => Field<T, 'plain'>

export const text: Declare<string> = (number, doc = '') => fieldOf(TEXT, 'plain', number, doc)
/** A text whose values are checked by the reader's caller. */
export const textAs = <T extends string>(number: number, doc = ''): Field<T, 'plain'> =>
  fieldOf(TEXT as unknown as FieldType<T>, 'plain', number, doc)
export const bytes: Declare<Uint8Array> = (number, doc = '') => fieldOf(BYTES, 'plain', number, doc)
export const bool: Declare<boolean> = (number, doc = '') => fieldOf(BOOL, 'plain', number, doc)
/** Read as a number, like `uint53`. */
export const uint32: Declare<number> = (number, doc = '') => fieldOf(UINT32, 'plain', number, doc)
/** `uint64` of the `.proto`, for values that a JavaScript number holds exactly. A larger one cannot be read. */
export const uint53: Declare<number> = (number, doc = '') => fieldOf(UINT53, 'plain', number, doc)
export const uint64: Declare<bigint> = (number, doc = '') => fieldOf(UINT64, 'plain', number, doc)
/** `length` bytes, in Ethereum's text form. */
export const hex = (number: number, length: number, doc = ''): Field<Hex, 'required'> =>
  fieldOf(hexType(length), 'required', number, doc)

export const named = <T, P extends Presence>(name: string, field: Field<T, P>): Field<T, P> => ({ ...field, name })
export const required = <T>(field: Field<T>): Field<T, 'required'> => ({ ...field, presence: 'required' })
export const optional = <T>(field: Field<T>): Field<T, 'optional'> => ({ ...field, presence: 'optional' })
export const nonEmpty = <T>(field: Field<T>): Field<T, 'nonEmpty'> => ({ ...field, presence: 'nonEmpty' })
export const list = <T>(field: Field<T>, max: number): Field<T, 'list'> => ({ ...field, presence: 'list', max })
