import { isText } from './compile-simple.ts'
import type { Facets, SimpleType } from './model.ts'

export type Schema = { [keyword: string]: unknown }

/**
 * The JSON Schema of a simple type.
 * @param inner the schema of a union's member or a list's item
 */
export function simpleSchema(type: SimpleType, inner: (type: SimpleType) => Schema): Schema {
  const { facets } = type
  if (type.kind === 'list') {
    return { type: 'array', items: inner(type.item), ...lengthSchema(facets, 'Items'), ...patternNote(facets) }
  }
  if (type.kind === 'union') {
    if (facets.enumeration !== undefined) return { enum: [...facets.enumeration] }
    return {
      anyOf: type.members.map(inner),
      ...(type.isText ? patternSchema(facets, '') : patternNote(facets))
    }
  }
  const { builtin } = type
  if (facets.enumeration !== undefined)
    return { enum: [...facets.enumeration].map((text) => builtin.read(text) ?? text) }
  return {
    ...builtin.schema,
    ...facetSchema(facets, builtin.numeric, builtin.bytes !== undefined),
    ...(isText(type) ? patternSchema(facets, builtin.whitespace === 'collapse' ? SPACE : '') : patternNote(facets))
  }
}

/** White space that is ignored around a value with collapsed white space. */
const SPACE = '[\\t\\n\\r ]*'

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

function facetSchema(facets: Facets, numeric: boolean, binary: boolean): Schema {
  if (!numeric) return binary ? {} : lengthSchema(facets, 'Length')
  const schema: Schema = {}
  const bound = (keyword: string, text: string | undefined) => {
    // These keywords do not apply to strings, so bounds that are not exact numbers are omitted.
    if (text !== undefined && Number.isSafeInteger(Number(text))) schema[keyword] = Number(text)
  }
  bound('minimum', facets.minInclusive)
  bound('maximum', facets.maxInclusive)
  bound('exclusiveMinimum', facets.minExclusive)
  bound('exclusiveMaximum', facets.maxExclusive)
  return schema
}

function lengthSchema({ length, minLength, maxLength }: Facets, what: 'Length' | 'Items'): Schema {
  const min = length ?? minLength
  const max = length ?? maxLength
  return {
    ...(min === undefined ? {} : { [`min${what}`]: min }),
    ...(max === undefined ? {} : { [`max${what}`]: max })
  }
}
