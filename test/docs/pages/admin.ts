import { z } from 'zod'
import { listingViewSchema } from '../../../node/admin/api.ts'
import { ADMIN_PREFIX, type AdminRoute } from '../../../node/admin/route.ts'
import { ADMIN_ROUTES } from '../../../node/admin/routes.ts'
import { upstreamShape } from '../../../node/admin/apis/upstream-input.ts'
import { describeSchema } from '../../../node/http/json-schema.ts'
import { anchor, code, NOTICE, table } from '../markdown.ts'

const UPSTREAM = Object.keys(upstreamShape)

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly string[]
  readonly const?: string | number
  readonly default?: string | number | boolean
  readonly pattern?: string
  readonly additionalProperties?: Schema | boolean
  readonly description?: string
}

export function adminPage(): string {
  const types = new Map<string, Schema>()
  // Described first, because other types refer to it as their base.
  described(listingViewSchema, 'output', types)
  const sections = Object.entries(ADMIN_ROUTES).map(([title, routes]) => section(title, routes, types))
  return `${NOTICE}

# Admin API

Under \`${ADMIN_PREFIX}\`, at the address that \`souk status\` shows (port 3000 by default), for programs on the node's own machine. The
[command line](cli.md) and the console use this API only. \`${ADMIN_PREFIX}/openapi.json\` is its OpenAPI 3.1 document.

## Authentication

- A program sends the token from the profile's file \`admin.token\`: \`Authorization: Bearer <token>\`. A user who can read that file
  has full control of the node.
- A browser signs in with a code from \`souk console\`, and gets a session cookie.
- \`Host\` must be \`127.0.0.1\` or \`localhost\` with the port. \`Origin\`, if sent, must match it, so pages of other sites have no access.

\`\`\`sh
curl -s http://127.0.0.1:3000/admin/v1/status -H "Authorization: Bearer $(cat ~/.local/share/souk/default/admin.token)"
\`\`\`

Requests and responses are JSON. Amounts are decimal strings in USDC, times milliseconds since the epoch. Requests with unknown
members are refused. Errors are problem documents with [a code](errors.md). Ignore unknown members in responses: a node of another
version may send more.

${sections.join('\n\n')}

## An upstream

The API's address and how to call it. Each member is an option of [\`souk api register\`](cli.md#souk-api-register). For credentials
see [how to sell a REST API](../how-to/rest.md#credentials).

${memberTable(inputRows(described(z.strictObject(upstreamShape), 'input', types)))}

## Types

Objects in responses. A member with \`?\` may be absent.

${[...types]
  .toSorted(([a], [b]) => a.localeCompare(b))
  .map(([name, schema]) => typeSection(name, schema, types))
  .join('\n\n')}
`
}

/** @param types - receives the views that the schema refers to */
function described(schema: z.ZodType, io: 'input' | 'output', types: Map<string, Schema>): Schema {
  const { schema: found, definitions } = describeSchema(schema, io)
  for (const [name, each] of Object.entries(definitions)) types.set(name, each)
  return found
}

function section(title: string, routes: readonly AdminRoute[], types: Map<string, Schema>): string {
  const rows = routes.map((route) => [code(nameOf(route)), route.summary, responseText(route, types)])
  const inputs = routes.flatMap((route) => [
    ...(route.body === undefined
      ? []
      : [inputTable(`${code(nameOf(route))} takes`, described(route.body, 'input', types))]),
    // A query holds texts only. The output types show which texts are numbers.
    ...(route.query === undefined
      ? []
      : [inputTable(`${code(nameOf(route))} takes in its query`, described(route.query, 'output', types))])
  ])
  return [`## ${title}`, table(['Route', 'What it does', 'Response'], rows), ...inputs].join('\n\n')
}

function nameOf({ method, path }: AdminRoute): string {
  return `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`
}

function responseText({ response, mediaType }: AdminRoute, types: Map<string, Schema>): string {
  if (response === undefined) return '–'
  const { description, ...schema } = described(response, 'output', types)
  if (description !== undefined) return description
  const text = typeText(schema)
  return mediaType === undefined ? text : `${code(mediaType.split(';')[0] ?? '')}: ${text}`
}

function inputTable(title: string, schema: Schema): string {
  const { properties = {} } = schema
  const hasUpstream = UPSTREAM.every((name) => name in properties)
  const more = hasUpstream ? ', and the members of [an upstream](#an-upstream)' : ''
  return `${title}${more}:\n\n${memberTable(inputRows(schema, hasUpstream ? UPSTREAM : []))}`
}

function inputRows({ properties = {}, required = [] }: Schema, without: readonly string[] = []): string[][] {
  return Object.entries(properties)
    .filter(([name]) => !without.includes(name))
    .map(([name, member]) => {
      const { default: usual, description = '' } = member
      const said = [description, usual === undefined ? '' : `Default: ${code(String(usual))}.`]
      const isRequired = required.includes(name) && usual === undefined
      return [code(name), `${typeText(member)}${isRequired ? ', required' : ''}`, said.join(' ').trim()]
    })
}

/** Omits the third column if it is empty. */
function memberTable(rows: ReadonlyArray<readonly string[]>): string {
  if (rows.some(([, , about]) => about !== '')) return table(['Member', 'Type', ''], rows)
  return table(
    ['Member', 'Type'],
    rows.map((row) => row.slice(0, 2))
  )
}

function typeText(schema: Schema): string {
  const { $ref, type, anyOf, oneOf, enum: values, const: only, items, prefixItems, properties, pattern } = schema
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? ''
    return `[${name}](#${anchor(name)})`
  }
  if (values !== undefined) return values.map(code).join(', ')
  if (only !== undefined) return code(String(only))
  const choices = anyOf ?? oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeText))].join(' or ')
  if (prefixItems !== undefined) return `[${prefixItems.map(typeText).join(', ')}]`
  if (type === 'array') return `list of ${items === undefined ? 'any' : typeText(items)}`
  if (properties !== undefined) return objectText(schema)
  if (type === 'string' && pattern?.includes('{1,6}') === true) return 'USDC'
  return [type ?? 'any JSON'].flat().join(' or ')
}

/** Describes an object by its members, with links to views. */
function objectText({ properties = {}, required = [] }: Schema): string {
  const members = Object.entries(properties).map(([name, member]) => {
    const inner = typeText(member)
    const isTold = inner.includes('](#') || member.const !== undefined
    return `${name}${required.includes(name) ? '' : '?'}${isTold ? `: ${inner}` : ''}`
  })
  return `{ ${members.join(', ')} }`
}

function typeSection(name: string, schema: Schema, types: ReadonlyMap<string, Schema>): string {
  const { description, properties = {}, required = [] } = schema
  const base = baseOf(schema, types)
  const inherited = base === undefined ? [] : Object.keys(types.get(base)?.properties ?? {})
  const rows = Object.entries(properties)
    .filter(([member]) => !inherited.includes(member))
    .map(([member, each]) => [
      code(`${member}${required.includes(member) ? '' : '?'}`),
      typeText(each),
      each.description ?? ''
    ])
  return [
    `### ${name}`,
    ...(description === undefined ? [] : [description]),
    ...(base === undefined ? [] : [`All of [${base}](#${anchor(base)}), and:`]),
    memberTable(rows)
  ].join('\n\n')
}

/** The largest type whose members are a proper subset of this one's. */
function baseOf({ properties = {} }: Schema, types: ReadonlyMap<string, Schema>): string | undefined {
  const sizeOf = (name: string) => Object.keys(types.get(name)?.properties ?? {}).length
  const names = [...types].flatMap(([name, { properties: of = {} }]) => {
    const members = Object.entries(of)
    const isBase = members.every(([member, each]) => JSON.stringify(properties[member]) === JSON.stringify(each))
    return isBase && members.length < Object.keys(properties).length ? [name] : []
  })
  return names.filter((name) => sizeOf(name) > 1).toSorted((a, b) => sizeOf(b) - sizeOf(a))[0]
}
