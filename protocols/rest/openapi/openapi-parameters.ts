import { SoukError } from '../../../lib/base/errors.ts'
import { DEEP_OBJECT_DEPTH_MAX } from '../../../lib/base/limits/rest.ts'
import { isObject, textOf } from '../../exact-json.ts'
import type { ParameterStyle, RestParameter, Serialization } from './rest-api.ts'
import type { WrittenSize } from './written-size.ts'

/** A name and its value, both encoded. */
export type Pair = readonly [name: string, text: string]

type Encode = (text: string) => string

/** A parameter, or the member of a form. */
interface Named extends Serialization {
  readonly name: string
}

const SEPARATORS: Readonly<Partial<Record<ParameterStyle, string>>> = {
  spaceDelimited: ' ',
  pipeDelimited: '|',
  tabDelimited: '\t'
}

/**
 * The value of a path parameter, percent-encoded, so that it stays in its segment, or below it.
 * @throws SoukError `invalid_request`, `request_too_large`
 */
export function pathText(parameter: RestParameter, value: unknown, size: WrittenSize): string {
  const segments = parameter.spansSegments === true && typeof value === 'string' ? value.split('/') : [value]
  size.add(segments.length - 1)
  return segments.map((segment) => segmentText(parameter, segment, size)).join('/')
}

function segmentText(parameter: RestParameter, value: unknown, size: WrittenSize): string {
  const text = expanded(parameter, value, size)
  // Dots are not encoded, and an empty or dotted segment would change the path.
  if (text === '' || /^\.+$/.test(text)) throw refuse(parameter, 'cannot be empty or consist of dots')
  return text
}

function expanded(parameter: RestParameter, value: unknown, size: WrittenSize): string {
  const { name, style, explode } = parameter
  const whole = (text: string) => {
    size.add(text.length)
    return text
  }
  if (style === 'label') return whole(`.${joined(parameter, value, { encode, separator: explode ? '.' : ',' })}`)
  if (style !== 'matrix') return whole(joined(parameter, value, { encode, separator: ',' }))
  const key = encode(name)
  // RFC 6570 §3.2.7: an empty value has no equals sign.
  const part = (at: string, text: string) => {
    size.add(at.length + text.length + 2)
    return text === '' ? `;${at}` : `;${at}=${text}`
  }
  if (explode && Array.isArray(value)) {
    return present(value)
      .map((one) => part(key, encode(scalarText(parameter, one))))
      .join('')
  }
  if (explode && isObject(value)) {
    return members(value)
      .map(([at, one]) => part(encode(at), encode(scalarText(parameter, one))))
      .join('')
  }
  return part(key, joined({ ...parameter, explode: false }, value, { encode, separator: ',' }))
}

/** @throws SoukError `invalid_request`, `request_too_large` */
export function headerText(parameter: RestParameter, value: unknown, size: WrittenSize): string {
  const text = joined(parameter, value, { encode: (text) => text, separator: ',' })
  size.add(text.length)
  return text
}

/** The parts of a query, or cookies: `name=value` each; empty for null. @throws SoukError `invalid_request`, `request_too_large` */
export function partsOf(parameter: RestParameter, value: unknown, size: WrittenSize): string[] {
  const pairs = pairsOf(parameter, value, size)
  if (pairs.length > 0) return pairs.map(([name, text]) => `${name}=${text}`)
  if (parameter.required && parameter.allowsEmpty === true) return [`${encode(parameter.name)}=`]
  // The members of such an object are parameters of their own, and none may be needed.
  const isSpread = parameter.style === 'form' && parameter.explode && isObject(value)
  if (!isSpread) checkOptional(parameter)
  return []
}

/** For a value of which nothing is written: null, or a list or an object without members. @throws SoukError `invalid_request` */
export function checkOptional(parameter: RestParameter): void {
  if (parameter.required)
    throw refuse(parameter, 'is required, and cannot be null or empty, because it would not be sent')
}

/** The pairs of a query or a form, percent-encoded; empty for null. @throws SoukError `invalid_request`, `request_too_large` */
export function pairsOf(named: Named, value: unknown, size: WrittenSize): Pair[] {
  if (named.style === 'deepObject' && value !== null) return deepPairs(named, value, size)
  const pairs = flatPairs(named, value)
  // The pairs share their names, so their size is checked before they are joined.
  for (const [name, text] of pairs) size.add(name.length + text.length + 2)
  return pairs
}

function flatPairs(named: Named, value: unknown): Pair[] {
  const { name, style, explode } = named
  const encodeValue = encoderOf(named)
  const text = (one: unknown) => encodeValue(scalarText(named, one))
  if (value === null) return []
  if (style === 'json') return [[encode(name), encodeValue(JSON.stringify(value))]]
  if (isObject(value)) {
    if (explode) return members(value).flatMap(([key, one]) => exploded(encode(key), one, text))
    if (members(value).length === 0) return []
  } else if (Array.isArray(value)) {
    if (value.length === 0 && named.sendsEmpty !== true) return []
    // Exploded lists of all styles are repeated parameters.
    if (explode) return exploded(encode(name), value, (one) => nestedText(named, one, 0, encodeValue))
  }
  return [[encode(name), joined({ ...named, explode: false }, value, { encode: encodeValue, separator: ',' })]]
}

function exploded(key: string, value: unknown, text: (one: unknown) => string): Pair[] {
  return Array.isArray(value) ? present(value).map((one) => [key, text(one)]) : [[key, text(value)]]
}

/** `name[member]=…`, at any depth, with the index of list items: the form that PHP, Rails, qs and Stripe read. */
function deepPairs(named: Named, value: unknown, size: WrittenSize): Pair[] {
  const encodeValue = encoderOf(named)
  const pairs: Pair[] = []
  const add = (key: string, one: unknown, depth: number): void => {
    if (depth > DEEP_OBJECT_DEPTH_MAX) throw refuse(named, 'cannot be nested deeper')
    if (one === null) return
    if (Array.isArray(one)) for (const [index, item] of one.entries()) add(`${key}[${index}]`, item, depth + 1)
    else if (isObject(one)) for (const [name, member] of members(one)) add(`${key}[${name}]`, member, depth + 1)
    else {
      const text = encodeValue(scalarText(named, one))
      size.add(key.length + text.length + 2)
      pairs.push([encode(key), text])
    }
  }
  add(named.name, value, 0)
  return pairs
}

/** The whole value in one text. */
function joined(named: Named, value: unknown, { encode, separator }: { encode: Encode; separator: string }): string {
  const { style, explode } = named
  if (style === 'json') return encode(JSON.stringify(value))
  const between = encodedSeparator(style, separator, encode)
  if (Array.isArray(value)) {
    return present(value)
      .map((one) => nestedText(named, one, 0, encode))
      .join(between)
  }
  if (!isObject(value)) return encode(scalarText(named, value))
  return members(value)
    .map(([key, one]) => `${encode(key)}${explode ? '=' : between}${encode(scalarText(named, one))}`)
    .join(between)
}

/** An item of a list, which is itself a list if a 2.0 document nests them. */
function nestedText(named: Named, value: unknown, level: number, encode: Encode): string {
  const style = named.nested?.[level]
  if (style === undefined || !Array.isArray(value)) return encode(scalarText(named, value))
  return present(value)
    .map((one) => nestedText(named, one, level + 1, encode))
    .join(encodedSeparator(style, ',', encode))
}

function encodedSeparator(style: ParameterStyle, usual: string, encode: Encode): string {
  const own = SEPARATORS[style]
  if (own === undefined) return usual
  // A reserved separator is encoded even where its values are not: neither a space nor a bar may occur in a URL.
  return encode === encodeUnreserved ? encodeURIComponent(own) : encode(own)
}

/** RFC 6570 §2.3: null is an undefined value, which is left out. */
function present(values: readonly unknown[]): unknown[] {
  return values.filter((one) => one !== null)
}

function members(value: Readonly<Record<string, unknown>>): Array<[string, unknown]> {
  return Object.entries(value).filter(([, one]) => one !== null)
}

function encoderOf(named: Named): Encode {
  if (named.style === 'cookie') return (text) => cookieText(named, text)
  return named.allowReserved === true ? encodeUnreserved : encode
}

/** A cookie of OpenAPI 3.2 is not percent-encoded, so it can only have the characters of RFC 6265, section 4.1.1. */
function cookieText(named: Named, text: string): string {
  if (/^[!#-+\--:<-[\]-~]*$/.test(text)) return text
  throw refuse(named, 'has a character that a cookie cannot hold')
}

/** Percent-encodes everything but the unreserved characters (RFC 6570 §3.2.1). */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )
}

/**
 * RFC 6570 §3.2.3, reserved expansion: also keeps reserved characters and percent-encoded triplets. Those that would end the
 * value, or that a query cannot contain, are still encoded (OpenAPI 3.1, section 4.8.12.2.1).
 */
function encodeUnreserved(text: string): string {
  return text.replaceAll(/%[\dA-Fa-f]{2}|[^%]+|%/g, (piece) =>
    /^%[\dA-Fa-f]{2}$/.test(piece) ? piece : encodeURI(piece).replaceAll(/[&#+[\]]/g, encodeURIComponent)
  )
}

/** Objects and lists that a style has no form for are JSON texts, as in Swagger's own clients. */
function scalarText(named: Named, value: unknown): string {
  const text = textOf(value) ?? (value === null ? '' : JSON.stringify(value))
  // A lone surrogate cannot be encoded.
  if (!text.isWellFormed()) throw refuse(named, 'is not well-formed text')
  return text
}

function refuse({ name }: Named, why: string): SoukError {
  return new SoukError('invalid_request', `The parameter "${name}" ${why}.`)
}
