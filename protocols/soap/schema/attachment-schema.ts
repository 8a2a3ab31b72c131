import { binarySchema } from './json-schema-binary.ts'
import type { Direction, Schema } from './direction.ts'

const BASE64 = { type: 'string', contentEncoding: 'base64' }
const TYPE_NAME = '[\\w!#$&^.+-]{1,80}'

/**
 * An attachment in JSON. A request may also have plain base64 text if the type is known or does not matter.
 * @param types - allowed media types, which may contain `*`; empty means any
 */
export function attachmentSchema(types: readonly string[], direction: Direction): Schema {
  const description = types.length === 0 ? {} : { description: `An attachment: ${types.slice(0, 20).join(', ')}` }
  const own = { type: ['object', 'string'], contentEncoding: 'base64', required: ['content'], ...description }
  if (direction === 'output') return { ...own, properties: { contentType: { type: 'string' }, content: BASE64 } }
  const text = binarySchema({ name: 'base64Binary' })
  const contentType = { type: 'string', pattern: `^(?:${patternOf(types)})$` }
  return { ...own, ...text, properties: { contentType, content: { ...BASE64, ...text } }, additionalProperties: false }
}

function patternOf(types: readonly string[]): string {
  const plain = types.map((type) => (type.split(';', 1)[0] ?? '').trim())
  if (plain.length === 0 || plain.some((type) => type === '*' || type === '*/*')) return `${TYPE_NAME}/${TYPE_NAME}`
  return plain.map((type) => type.replaceAll(/[^\w/ -]/g, '\\$&').replace(/\/\\\*$/, `/${TYPE_NAME}`)).join('|')
}
