import { utf8 } from '../../../lib/base/bytes.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, textOf } from '../../exact-json.ts'
import { isJsonType } from '../../json.ts'
import type { RestBody } from './openapi-operations.ts'
import { type Definitions, dereferenced } from './openapi-schemas.ts'

export interface WrittenBody {
  readonly bytes: Uint8Array
  readonly type: string
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * Writes the body of a request in the media type of its operation. Files are base64 in a call, because JSON has no form for them.
 * @throws SoukError `invalid_request`
 */
export async function writeBody(body: RestBody, value: unknown, definitions: Definitions): Promise<WrittenBody> {
  const { type } = body
  if (isJsonType(type)) return { bytes: utf8(JSON.stringify(value)), type }
  if (type === 'application/x-www-form-urlencoded') return { bytes: utf8(formOf(value).toString()), type }
  if (type === 'multipart/form-data') return multipart(body, value, definitions)
  const text = textOf(value)
  if (text === undefined) throw refuse('The field "body" must be a string here.')
  return { bytes: type.startsWith('text/') || /[+/]xml$/.test(type) ? utf8(text) : fileIn('body', text), type }
}

function formOf(value: unknown): URLSearchParams {
  const form = new URLSearchParams()
  for (const [name, member] of membersOf(value)) {
    for (const one of Array.isArray(member) ? (member as unknown[]) : [member]) {
      if (one !== null) form.append(name, textOf(one) ?? JSON.stringify(one))
    }
  }
  return form
}

async function multipart({ schema }: RestBody, value: unknown, definitions: Definitions): Promise<WrittenBody> {
  const { properties } = dereferenced(schema, definitions)
  const form = new FormData()
  for (const [name, member] of membersOf(value)) {
    const described = isObject(properties) ? (properties[name] as JsonSchema | undefined) : undefined
    for (const one of Array.isArray(member) ? (member as unknown[]) : [member]) {
      if (one === null) continue
      const text = textOf(one)
      if (text !== undefined && isFile(described, definitions)) {
        form.append(name, new Blob([new Uint8Array(fileIn(name, text))]), name)
      } else {
        form.append(name, text ?? new Blob([JSON.stringify(one)], { type: 'application/json' }))
      }
    }
  }
  // Written by the platform, which chooses a boundary that occurs in no part.
  const response = new Response(form)
  return { bytes: new Uint8Array(await response.arrayBuffer()), type: response.headers.get('content-type') ?? '' }
}

function isFile(schema: JsonSchema | undefined, definitions: Definitions): boolean {
  if (schema === undefined) return false
  const { format, contentMediaType, items } = dereferenced(schema, definitions)
  if (isObject(items)) return isFile(items, definitions)
  return format === 'binary' || contentMediaType === 'application/octet-stream'
}

function fileIn(name: string, text: string): Uint8Array {
  if (!BASE64.test(text)) throw refuse(`The field "${name}" must be base64.`)
  return Buffer.from(text, 'base64')
}

function membersOf(value: unknown): Array<[string, unknown]> {
  if (!isObject(value)) throw refuse('The body must be a JSON object here.')
  return Object.entries(value)
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
