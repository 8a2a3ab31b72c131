import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { canonicalDecimal, compareDecimals, isExactNumber, plainDecimal } from './decimal.ts'
import { EXAMPLES, EXISTING, LEXICAL } from './temporal.ts'
import { compareTemporal } from './temporal-order.ts'
import { NAME_CHARS, NAME_START_CHARS, NC_NAME } from '../xml/names.ts'

/**
 * A built-in type of XML Schema part 2 and its JSON form, without loss. A value that a JavaScript number cannot hold exactly is a
 * string in JSON, and accepted as string or number. Dates and times stay as written.
 */
export interface Builtin {
  readonly name: string
  readonly whitespace: 'preserve' | 'replace' | 'collapse'
  /** The lexical form of a JSON value; undefined if it is not of this type. */
  write(value: unknown): string | undefined
  /** The JSON value of a lexical form with normalised white space; undefined if it is invalid. */
  read(text: string): JsonScalar | undefined
  /** The same value in its other lexical form, for types with a pattern that only that one matches. */
  otherForm?(text: string): string
  /** The expected form, for messages: completes "must be …". */
  readonly expects: string
  readonly schema: JsonSchema
  /** Keywords that replace those of `schema` in requests. */
  readonly sent?: JsonSchema
  /** True if values are ordered numbers, so that ranges and digits can be checked. */
  readonly numeric: boolean
  /** Compares dates or times; undefined where their order is not determinate. */
  readonly compare?: (a: string, b: string) => number | undefined
  /** The least and the greatest value of an integer; undefined means unbounded. */
  readonly range?: readonly [least: string | undefined, greatest: string | undefined]
  /** The byte length of a lexical form, if lengths count bytes. */
  readonly bytes?: (text: string) => number
}

export type JsonScalar = string | number | boolean

/** Minimum and maximum; undefined means unbounded. */
const INTEGERS: Readonly<Record<string, readonly [string | undefined, string | undefined]>> = {
  byte: ['-128', '127'],
  unsignedByte: ['0', '255'],
  short: ['-32768', '32767'],
  unsignedShort: ['0', '65535'],
  int: ['-2147483648', '2147483647'],
  unsignedInt: ['0', '4294967295'],
  long: ['-9223372036854775808', '9223372036854775807'],
  unsignedLong: ['0', '18446744073709551615'],
  integer: [undefined, undefined],
  nonNegativeInteger: ['0', undefined],
  positiveInteger: ['1', undefined],
  nonPositiveInteger: [undefined, '0'],
  negativeInteger: [undefined, '-1']
}

/** Types of text with collapsed white space. XML Schema 1.1 allows any text as anyURI (part 2, section 3.3.17). */
const COLLAPSED_STRINGS = ['token', 'anyURI', 'NOTATION']

const NC_NAME_TEXT = 'an XML name without a colon: a letter or _ first, then letters, digits, and . - _'

/** Types of names: the form of the text, and what messages call it (XML Schema part 2, section 3.3). */
const NAMES: Readonly<Record<string, readonly [form: string, expects: string]>> = {
  language: ['[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*', 'a language tag, such as "en" or "en-GB"'],
  NMTOKEN: [`[:${NAME_CHARS}]+`, 'a name token: letters, digits, and the characters . - _ :'],
  Name: [
    `[:${NAME_START_CHARS}][:${NAME_CHARS}]*`,
    'an XML name: a letter, _ or : first, then letters, digits, and . - _ :'
  ],
  ...Object.fromEntries(['NCName', 'ID', 'IDREF', 'ENTITY'].map((name) => [name, [NC_NAME, NC_NAME_TEXT]])),
  QName: [`(?:\\{[^{}]*\\})?${NC_NAME}`, `${NC_NAME_TEXT}; in a namespace, it is {namespace}name`]
}

export const BUILTINS: ReadonlyMap<string, Builtin> = new Map(
  [
    text('string', 'preserve'),
    text('normalizedString', 'replace'),
    ...COLLAPSED_STRINGS.map((name) => text(name, 'collapse')),
    ...Object.entries(NAMES).map(([name, [form, expects]]) => named(name, form, expects)),
    ...Object.entries(LEXICAL).map(([name, pattern]) => temporal(name, pattern, EXISTING[name])),
    ...Object.entries(INTEGERS).map(([name, [least, greatest]]) => integer(name, least, greatest)),
    boolean(),
    decimal(),
    floating('float'),
    floating('double'),
    base64(),
    hex(),
    anySimple('anySimpleType'),
    anySimple('anyAtomicType')
  ].map((builtin) => [builtin.name, builtin])
)

/** Built-in list types, with the type of their items. */
export const BUILTIN_LISTS: Readonly<Record<string, string>> = {
  NMTOKENS: 'NMTOKEN',
  IDREFS: 'IDREF',
  ENTITIES: 'ENTITY'
}

function text(name: string, whitespace: Builtin['whitespace']): Builtin {
  return {
    name,
    whitespace,
    write: (value) => (typeof value === 'string' ? value : undefined),
    read: (text) => text,
    expects: 'a string',
    schema: { type: 'string' },
    numeric: false
  }
}

/** A response may have any text: the API's own clients read it too. */
function named(name: string, form: string, expects: string): Builtin {
  const whole = new RegExp(`^${form}$`, 'u')
  return {
    ...text(name, 'collapse'),
    write(value) {
      const collapsed = typeof value === 'string' ? value.trim() : ''
      return whole.test(collapsed) ? collapsed : undefined
    },
    expects,
    sent: { pattern: whole.source }
  }
}

/** A response may have a date that does not exist, such as 0000-00-00: the API's own clients read it too. */
function temporal(name: string, lexical: string, existing = lexical): Builtin {
  const whole = new RegExp(`^${lexical}$`)
  const sent = new RegExp(`^${existing}$`)
  return {
    name,
    whitespace: 'collapse',
    write(value) {
      if (typeof value !== 'string') return undefined
      const text = value.trim()
      return sent.test(text) ? text : undefined
    },
    read: (text) => (whole.test(text) ? text : undefined),
    expects: `a string with an XML Schema ${name}, such as "${EXAMPLES[name]}"`,
    schema: { type: 'string', pattern: whole.source },
    sent: { pattern: sent.source },
    ...(name === 'duration' ? {} : { compare: compareTemporal }),
    numeric: false
  }
}

function integer(name: string, least: string | undefined, greatest: string | undefined): Builtin {
  const lexical = (text: string) => {
    const digits = /^[+-]?\d+$/.test(text) ? canonicalDecimal(text) : undefined
    if (digits === undefined) return undefined
    if (least !== undefined && compareDecimals(digits, least) < 0) return undefined
    return greatest !== undefined && compareDecimals(digits, greatest) > 0 ? undefined : digits
  }
  const exact = isSafe(least) && isSafe(greatest)
  const bounds = [Number(least ?? -Infinity), Number(greatest ?? Infinity)] as const
  const isWithin = (value: number) => value >= bounds[0] && value <= bounds[1]
  return {
    name,
    whitespace: 'collapse',
    write(value) {
      if (typeof value === 'number')
        return Number.isSafeInteger(value) && isWithin(value) ? String(value + 0) : undefined
      // Text stays as it is, because a pattern may ask for leading zeros.
      return typeof value === 'string' && lexical(value.trim()) !== undefined ? value.trim() : undefined
    },
    read(text) {
      if (SHORT_INTEGER.test(text) && isWithin(Number(text))) return Number(text) + 0
      const digits = lexical(text)
      if (digits === undefined) return undefined
      return Number.isSafeInteger(Number(digits)) ? Number(digits) : digits
    },
    expects: `an integer (XML Schema ${name}${exact ? '' : '; as a string beyond ±9007199254740991'})`,
    schema: {
      type: exact ? 'integer' : ['integer', 'string'],
      ...(isSafe(least) ? { minimum: Number(least) } : {}),
      ...(isSafe(greatest) ? { maximum: Number(greatest) } : {}),
      ...(exact ? {} : { pattern: '^[+-]?\\d+$' })
    },
    numeric: true,
    range: [least, greatest]
  }
}

/** Texts with so few digits that a double is exact. The caller adds 0 because `-0` is not a valid xs:decimal. */
const SHORT_INTEGER = /^-?\d{1,15}$/
const SHORT_DECIMAL = /^-?(?:\d{1,7}\.\d{1,7}|\d{1,15})$/

function isSafe(bound: string | undefined): bound is string {
  return bound !== undefined && Number.isSafeInteger(Number(bound))
}

function boolean(): Builtin {
  const values: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false }
  return {
    name: 'boolean',
    whitespace: 'collapse',
    write(value) {
      if (!['boolean', 'number', 'string'].includes(typeof value)) return undefined
      const key = String(value).trim()
      return Object.hasOwn(values, key) ? String(values[key]) : undefined
    },
    read: (text) => (Object.hasOwn(values, text) ? values[text] : undefined),
    otherForm: (text) => (text === 'true' ? '1' : '0'),
    expects: 'true or false',
    schema: { type: 'boolean' },
    numeric: false
  }
}

function decimal(): Builtin {
  return {
    name: 'decimal',
    whitespace: 'collapse',
    write(value) {
      if (typeof value === 'number') return Number.isFinite(value) ? plainDecimal(value) : undefined
      return typeof value === 'string' && canonicalDecimal(value.trim()) !== undefined ? value.trim() : undefined
    },
    read(text) {
      if (SHORT_DECIMAL.test(text)) return Number(text) + 0
      const canonical = canonicalDecimal(text)
      if (canonical === undefined) return undefined
      return isExactNumber(canonical) ? Number(canonical) : text
    },
    expects: 'a decimal number (as a string where a JSON number is not exact)',
    schema: { type: ['number', 'string'], pattern: '^[+-]?(\\d+(\\.\\d*)?|\\.\\d+)$' },
    numeric: true
  }
}

function floating(name: string): Builtin {
  const lexical = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?INF|NaN)$/
  return {
    name,
    whitespace: 'collapse',
    write(value) {
      if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
      return typeof value === 'string' && lexical.test(value.trim()) ? value.trim() : undefined
    },
    read(text) {
      if (!lexical.test(text)) return undefined
      const value = Number(text)
      return Number.isFinite(value) ? value : text
    },
    expects: 'a number, or one of the strings "INF", "-INF" and "NaN"',
    schema: { type: ['number', 'string'], pattern: '^([+-]?(\\d+(\\.\\d*)?|\\.\\d+)([eE][+-]?\\d+)?|[+-]?INF|NaN)$' },
    numeric: true
  }
}

function base64(): Builtin {
  // Checked in two linear steps, because a single pattern for quartets and padding would use stack for each quartet.
  const isBase64 = (text: string) => {
    const packed = text.replaceAll(/\s+/g, '')
    return packed.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(packed) ? packed : undefined
  }
  return {
    name: 'base64Binary',
    whitespace: 'collapse',
    write: (value) => (typeof value === 'string' ? isBase64(value) : undefined),
    read: (text) => isBase64(text),
    expects: 'a string in base64',
    schema: { type: 'string', contentEncoding: 'base64' },
    numeric: false,
    bytes: (text) => (text.length / 4) * 3 - (text.length - text.replace(/={1,2}$/, '').length)
  }
}

function hex(): Builtin {
  const isHex = (text: string) => (text.length % 2 === 0 && /^[\da-fA-F]*$/.test(text) ? text : undefined)
  return {
    name: 'hexBinary',
    whitespace: 'collapse',
    write: (value) => (typeof value === 'string' ? isHex(value.trim()) : undefined),
    read: isHex,
    expects: 'a string of hexadecimal digits, two for each byte',
    schema: { type: 'string', contentEncoding: 'base16' },
    numeric: false,
    bytes: (text) => text.length / 2
  }
}

function anySimple(name: string): Builtin {
  return {
    name,
    whitespace: 'preserve',
    write(value) {
      if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
      return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined
    },
    read: (text) => text,
    expects: 'a string, number or boolean',
    schema: { type: ['string', 'number', 'boolean'] },
    numeric: false
  }
}
