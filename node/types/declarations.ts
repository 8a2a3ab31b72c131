import { limits } from '../../lib/index.ts'
import { descriptorOf } from '../../protocols/protocol-descriptors.ts'
import type { DescribedListingView } from '../admin/market/market-api.ts'
import { comment, property, TypeNames } from './names.ts'
import { SchemaTypes } from './schema-types.ts'

/** The member of a call that names the operation. The client adds it. */
const OPERATION = 'operation'

/**
 * The types of an API's operations, as `client.for` of `souk/client` takes them: the source of a TypeScript module.
 * @returns the source, and the name of its main type
 */
export async function declarationsOf(listing: DescribedListingView): Promise<{ name: string; source: string }> {
  const { id, name, protocol, revision, operations, definitions, sdl } = listing
  const names = new TypeNames()
  const main = names.add(name)
  const types = new SchemaTypes(names, definitions)
  const { request, unnamedOperation } = descriptorOf(protocol) ?? {}
  const graphql = request !== undefined && sdl !== null ? await sdlTypesOf(sdl, names) : undefined
  const members =
    request === undefined
      ? operations.map((operation) => {
          const key = operation.name === unnamedOperation && operations.length === 1 ? '' : operation.name
          const input = types.of(operation.input ?? {}, '    ', OPERATION)
          return member(key, operation.description, input, types.of(operation.output ?? {}, '    '))
        })
      : [member('', undefined, types.of(request.schema, '    '), responseOf(graphql?.data ?? 'unknown'))]
  const head =
    `// Types of ${id}, revision ${revision}, written by \`souk types ${name}\`.\n` +
    `// const api = createClient({ … }).for<${main}>('${name}')\n`
  const all = [
    `export interface ${main} {\n${members.join('')}}\n`,
    ...types.declarations(),
    ...(graphql?.declarations ?? [])
  ]
  return { name: main, source: [head, ...all].join('\n') }
}

function member(name: string, description: string | undefined, input: string, output: string): string {
  const text = comment(description, '  ', limits.TYPES_COMMENT_CHARS_MAX)
  return `${text}  ${property(name)}: {\n    input: ${input}\n    output: ${output}\n  }\n`
}

/** A GraphQL response. */
function responseOf(data: string): string {
  return `{\n      data?: ${data} | null\n      errors?: { message: string; path?: (string | number)[]; extensions?: { [name: string]: unknown } }[]\n    }`
}

async function sdlTypesOf(sdl: string, names: TypeNames) {
  const { sdlTypes } = await import('./sdl-types.ts')
  return sdlTypes(sdl, names)
}
