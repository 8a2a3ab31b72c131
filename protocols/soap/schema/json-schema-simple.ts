import { isText } from './compile-simple.ts'
import type { Direction, Schema } from './direction.ts'
import { binarySchema } from './json-schema-binary.ts'
import { numberSchema } from './json-schema-number.ts'
import type { Facets, SimpleType } from './model.ts'

/**
 * The JSON Schema of a simple type.
 * @param inner the schema of a union's member or a list's item
 */
export function simpleSchema(type: SimpleType, direction: Direction, inner: (type: SimpleType) => Schema): Schema {
  const { facets } = type
  if (type.kind === 'list') return listSchema(type, direction, inner)
  if (type.kind === 'union') {
    if (facets.enumeration !== undefined) return { enum: [...facets.enumeration] }
    const isOnlyText = direction === 'input' && type.isText && facets.patterns !== undefined
    return {
      ...(isOnlyText ? { type: 'string' } : {}),
      anyOf: type.members.map(inner),
      ...(type.isText ? patternSchema(facets, '') : patternNote(facets))
    }
  }
  const { builtin } = type
  if (facets.enumeration !== undefined)
    return { enum: [...new Set([...facets.enumeration].map((text) => builtin.read(text) ?? text))] }
  if (builtin.numeric) return both(numberSchema(type, direction), patternSchema(facets, SPACE))
  if (builtin.bytes !== undefined)
    return {
      ...builtin.schema,
      ...(direction === 'input' ? binarySchema(builtin, facets) : {}),
      ...patternNote(facets)
    }
  const lengths = lengthSchema(facets, 'Length')
  const isCollapsed = builtin.whitespace === 'collapse'
  const isNormal = isCollapsed && direction === 'input' && Object.keys(lengths).length > 0
  return {
    ...builtin.schema,
    ...(isNormal ? { pattern: COLLAPSED } : {}),
    ...(direction === 'input' ? builtin.sent : undefined),
    ...lengths,
    ...(direction === 'input' && builtin.compare !== undefined ? rangeNote(facets) : {}),
    ...(isText(type) ? patternSchema(facets, isCollapsed ? SPACE : '') : patternNote(facets))
  }
}

function both(schema: Schema, { allOf }: Schema): Schema {
  return allOf === undefined ? schema : { ...schema, allOf: [...asList(schema.allOf), ...asList(allOf)] }
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The encoder separates items by white space, so no item may contain any. */
function listSchema(
  type: SimpleType & { readonly kind: 'list' },
  direction: Direction,
  inner: (type: SimpleType) => Schema
): Schema {
  const { facets, item } = type
  if (facets.enumeration !== undefined) return { enum: [...facets.enumeration].map((text) => itemsOf(text, item)) }
  const items = inner(item)
  const isPlain = direction === 'output' || (item.kind === 'atomic' && item.builtin.numeric)
  const narrowed = isPlain ? items : { allOf: [items, { pattern: '^\\S+$' }] }
  return { type: 'array', items: narrowed, ...lengthSchema(facets, 'Items'), ...patternNote(facets) }
}

function itemsOf(text: string, item: SimpleType): unknown[] {
  const texts = text.split(' ').filter((one) => one !== '')
  return texts.map((one) => (item.kind === 'atomic' ? item.builtin.read(one) : undefined) ?? one)
}

/** White space that is ignored around a value with collapsed white space. */
const SPACE = '[\\t\\n\\r ]*'
/** Text that collapsing leaves as it is, so that its characters are those that count. */
const COLLAPSED = '^(?:[^\\t\\n\\r ]+(?: [^\\t\\n\\r ]+)*)?$'

/** JSON Schema patterns do not apply to JSON numbers, so validators skip them there. */
function patternSchema({ patterns = [] }: Facets, around: string): Schema {
  if (patterns.length === 0) return {}
  return { allOf: patterns.map(({ expression }) => ({ pattern: `^${around}(?:${expression})${around}$` })) }
}

/** Patterns apply to the XML text, which JSON does not have, so they are only a comment. */
function patternNote({ patterns = [] }: Facets): Schema {
  if (patterns.length === 0) return {}
  const sources = patterns.map(({ source }) => source.slice(0, 200))
  return { $comment: `The provider checks patterns of XML Schema: ${sources.join(' and ')}` }
}

/** JSON Schema has no ranges of text. */
function rangeNote({ minInclusive, maxInclusive, minExclusive, maxExclusive }: Facets): Schema {
  const bounds = Object.entries({ minInclusive, maxInclusive, minExclusive, maxExclusive })
    .filter(([, bound]) => bound !== undefined)
    .map(([name, bound]) => `${name} ${bound}`)
  return bounds.length === 0 ? {} : { $comment: `The provider checks the range of XML Schema: ${bounds.join(' and ')}` }
}

function lengthSchema({ length, minLength, maxLength }: Facets, what: 'Length' | 'Items'): Schema {
  const min = length ?? minLength
  const max = length ?? maxLength
  return {
    ...(min === undefined ? {} : { [`min${what}`]: min }),
    ...(max === undefined ? {} : { [`max${what}`]: max })
  }
}
