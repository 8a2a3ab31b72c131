import { type GraphQLField, type GraphQLObjectType, buildSchema } from 'graphql'
import { limits } from '../../lib/index.ts'
import type { ApiDescription } from '../../lib/interface/index.ts'

/** A short form of a GraphQL API: the fields of its root types, with arguments and results. `souk_show` returns the whole schema. */
export function outlineOf({ sdl, operations }: ApiDescription): string {
  const lines = sdl === undefined ? undefined : rootFields(sdl)
  if (lines === undefined) {
    const names = operations.map(({ name }) => name).join(', ')
    return names === '' ? '' : fitted(`Fields: ${names}.`)
  }
  return fitted(['Summary (souk_show returns the whole schema):', ...lines].join('\n'))
}

/** Undefined if the text is not a schema: it is untrusted. */
function rootFields(sdl: string): string[] | undefined {
  try {
    const schema = buildSchema(sdl, { assumeValidSDL: true, noLocation: true })
    return [
      ...fieldsOf('query', schema.getQueryType()),
      ...fieldsOf('mutation', schema.getMutationType()),
      ...fieldsOf('subscription', schema.getSubscriptionType())
    ]
  } catch {
    return undefined
  }
}

function fieldsOf(root: string, type: GraphQLObjectType | null | undefined): string[] {
  return Object.values(type?.getFields() ?? {}).map((field) => `${root} ${signature(field)}`)
}

function signature({ name, args, type }: GraphQLField<unknown, unknown>): string {
  const given = args.map((each) => `${each.name}: ${String(each.type)}`).join(', ')
  return `${name}${given === '' ? '' : `(${given})`}: ${String(type)}`
}

function fitted(text: string): string {
  return text.length > limits.MCP_OUTLINE_CHARS_MAX ? `${text.slice(0, limits.MCP_OUTLINE_CHARS_MAX)}…` : text
}
