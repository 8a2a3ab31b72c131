import { SoukError } from '../../../lib/base/errors.ts'
import { isObject, textOf } from '../../exact-json.ts'
import type { RestParameter } from './openapi-operations.ts'

const SEPARATORS = { spaceDelimited: '%20', pipeDelimited: '%7C', form: ',', simple: ',' } as const

/**
 * The value of a path parameter (style `simple`), percent-encoded, so that it stays in its segment.
 * @throws SoukError `invalid_request`
 */
export function pathText(parameter: RestParameter, value: unknown): string {
  const text = simple(parameter, value, encodeURIComponent)
  // `encodeURIComponent` keeps dots, and an empty or dotted segment would change the path.
  if (text === '' || /^\.+$/.test(text)) throw refuse(parameter, 'cannot be empty or consist of dots')
  return text
}

/** @throws SoukError `invalid_request` */
export function headerText(parameter: RestParameter, value: unknown): string {
  return simple(parameter, value, (text) => text)
}

/** The parts of a query, `name=value` each, percent-encoded; empty for null. @throws SoukError `invalid_request` */
export function queryParts(parameter: RestParameter, value: unknown): string[] {
  const { name, style, explode } = parameter
  const pair = (key: string, text: string) => `${encodeURIComponent(key)}=${text}`
  const scalar = (one: unknown) => encodeURIComponent(scalarText(parameter, one))
  if (value === null) return []
  if (style === 'json') return [pair(name, encodeURIComponent(JSON.stringify(value)))]
  if (isObject(value)) {
    const members = Object.entries(value).filter(([, one]) => one !== null)
    if (style === 'deepObject') return members.map(([key, one]) => pair(`${name}[${key}]`, scalar(one)))
    if (explode) return members.map(([key, one]) => pair(key, scalar(one)))
    return [pair(name, members.map(([key, one]) => `${encodeURIComponent(key)},${scalar(one)}`).join(','))]
  }
  if (!Array.isArray(value)) return [pair(name, scalar(value))]
  if (explode || style === 'deepObject') return value.map((one) => pair(name, scalar(one)))
  return [pair(name, value.map(scalar).join(SEPARATORS[style]))]
}

function simple(parameter: RestParameter, value: unknown, encode: (text: string) => string): string {
  const text = (one: unknown) => encode(scalarText(parameter, one))
  if (parameter.style === 'json') return encode(JSON.stringify(value))
  if (Array.isArray(value)) return value.map(text).join(',')
  if (!isObject(value)) return text(value)
  const between = parameter.explode ? '=' : ','
  return Object.entries(value)
    .map(([key, one]) => `${encode(key)}${between}${text(one)}`)
    .join(',')
}

function scalarText(parameter: RestParameter, value: unknown): string {
  const text = textOf(value)
  if (text === undefined) throw refuse(parameter, 'cannot be nested deeper')
  // A lone surrogate cannot be encoded.
  if (!text.isWellFormed()) throw refuse(parameter, 'is not well-formed text')
  return text
}

function refuse({ name }: RestParameter, why: string): SoukError {
  return new SoukError('invalid_request', `The parameter "${name}" ${why}.`)
}
