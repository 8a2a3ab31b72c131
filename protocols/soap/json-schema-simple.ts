import { isText } from './compile-simple.ts'
import type { Facets, SimpleType } from './model.ts'

export type Schema = { [keyword: string]: unknown }

/** JSON Schema of a simple type; `inner` gives that of a union's member or a list's item. */
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

/** What is ignored around a value whose white space is collapsed. */
const SPACE = '[\\t\\n\\r ]*'

/** Patterns say nothing of numbers in JSON, and are not checked against them by a validator. */
function patternSchema({ patterns = [] }: Facets, around: string): Schema {
  if (patterns.length === 0) return {}
  return { allOf: patterns.map(({ expression }) => ({ pattern: `^${around}(?:${expression})${around}$` })) }
}

/** Patterns are about the text in XML, which JSON does not have. */
function patternNote({ patterns = [] }: Facets): Schema {
  if (patterns.length === 0) return {}
  const sources = patterns.map(({ source }) => source.slice(0, 200))
  return { $comment: `The provider checks patterns of XML Schema: ${sources.join(' and ')}` }
}

function facetSchema(facets: Facets, numeric: boolean, binary: boolean): Schema {
  if (!numeric) return binary ? {} : lengthSchema(facets, 'Length')
  const schema: Schema = {}
  const bound = (keyword: string, text: string | undefined) => {
    // These keywords say nothing of strings, so bounds that no number can hold exactly stay out.
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
