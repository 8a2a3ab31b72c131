import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import fastify from 'fastify'
import { z } from 'zod'
import { upstreamShape } from '../../../node/admin/upstream-input.ts'
import { ADMIN_ROUTE_DOCS, type AdminRouteDoc } from '../../../node/admin/route-docs.ts'
import { adminRoutes } from '../../../node/admin/server.ts'
import { anchor, code, NOTICE, read, ROOT, table } from '../markdown.ts'
import { anything } from '../anything.ts'
import { commentsOf, type DocumentedType, typesIn } from '../types.ts'

const PREFIX = '/admin/v1'
/** Every schema of the admin API, with the name that the code has for it. */
const SCHEMAS = new Map<unknown, string>()
for (const file of await readdir(resolve(ROOT, 'node/admin'))) {
  const exported = (await import(`../../../node/admin/${file}`)) as Readonly<Record<string, unknown>>
  for (const [name, value] of Object.entries(exported)) SCHEMAS.set(value, name)
}

/** Where else types of its answers are. */
const TYPED = [
  'node/standing-view.ts',
  'node/events/watch-calls.ts',
  'node/profile/profile-backup.ts',
  'lib/interface/souk.ts'
]

export async function adminPage(): Promise<string> {
  const routes = await realRoutes()
  const docs = Object.values(ADMIN_ROUTE_DOCS).flatMap((group) => Object.entries(group))
  checkSame(
    routes,
    docs.map(([route]) => route)
  )
  const source = await adminSource()
  const types = new Map(typesIn(source).map((type) => [type.name, type]))
  const named = namedIn(docs.map(([, { answer = '' }]) => answer).join(' '), types)
  return `${NOTICE}

# Admin API

Under \`${PREFIX}\`, at the address that \`souk status\` shows (port 3000 by default), for programs on the node's own machine. The
[command line](cli.md) and the console use nothing else.

## Who may ask

- A program sends the token of the profile's file \`admin.token\`: \`Authorization: Bearer <token>\`. Whoever can read that file runs the
  node.
- A browser is let in once by a code (\`souk console\`), and has a cookie then.
- \`Host\` has to be \`127.0.0.1\` or \`localhost\` with the port, and \`Origin\`, where there is one, the same: other sites get nothing.

\`\`\`sh
curl -s http://127.0.0.1:3000/admin/v1/status -H "Authorization: Bearer $(cat ~/.local/share/souk/default/admin.token)"
\`\`\`

Bodies and answers are JSON. Amounts are decimal strings in USDC, times milliseconds since the epoch. Members that are not listed
are refused. What goes wrong is a problem document with a code of [the table](errors.md). A node of another version may answer with
members that are not here; ignore what you do not know.

${Object.entries(ADMIN_ROUTE_DOCS)
  .map(([title, group]) => section(title, group, source, types))
  .join('\n\n')}

## An upstream

Where an API is and how it is called. Each member is an option of [\`souk api register\`](cli.md#souk-api-register); credentials
are told in [how to sell a REST API](../how-to/rest.md#credentials).

${upstreamTable(source)}

## Types

What answers are made of. A member with \`?\` may be absent.

${[...named]
  .toSorted((a, b) => a.name.localeCompare(b.name))
  .map((type) => typeSection(type, types))
  .join('\n\n')}
`
}

/** As Fastify has them: \`GET /apis/{name}\`. */
async function realRoutes(): Promise<string[]> {
  const app = fastify()
  const routes: string[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const path = url.slice(PREFIX.length).replaceAll(/:(\w+)/g, '{$1}')
    for (const each of [method].flat()) if (each !== 'HEAD') routes.push(`${each} ${path}`)
  })
  await adminRoutes(app, anything())
  await app.close()
  return routes
}

function checkSame(routes: readonly string[], documented: readonly string[]): void {
  const silent = routes.filter((route) => !documented.includes(route))
  const gone = documented.filter((route) => !routes.includes(route))
  if (silent.length + gone.length === 0) return
  throw new Error(`node/admin/route-docs.ts says nothing of ${silent.join(', ')}; there is no ${gone.join(', ')}.`)
}

async function adminSource(): Promise<string> {
  const names = await readdir(resolve(ROOT, 'node/admin'))
  const paths = [...names.filter((name) => name.endsWith('.ts')).map((name) => `node/admin/${name}`), ...TYPED]
  return (await Promise.all(paths.toSorted().map(read))).join('\n')
}

function section(
  title: string,
  group: Readonly<Record<string, AdminRouteDoc>>,
  source: string,
  types: ReadonlyMap<string, DocumentedType>
): string {
  const rows = Object.entries(group).map(([route, { summary, answer }]) => [
    code(route),
    summary,
    answer === undefined ? '–' : linked(answer, types)
  ])
  const inputs = Object.entries(group).flatMap(([route, { body, query }]) => [
    ...(body === undefined
      ? []
      : [inputTable(`${code(route)} takes`, toJson(body, 'input'), commentsOf(source, nameOf(body)))]),
    ...(query === undefined
      ? []
      : [inputTable(`${code(route)} takes in its query`, toJson(query, 'output'), commentsOf(source, nameOf(query)))])
  ])
  return [`## ${title}`, table(['Route', 'What it does', 'Answer'], rows), ...inputs].join('\n\n')
}

interface JsonSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly enum?: readonly string[]
  readonly const?: string | number
  readonly default?: string | number | boolean
  readonly pattern?: string
  readonly additionalProperties?: JsonSchema | boolean
}

/** Texts of a query become numbers: what they become says more than that they are texts. */
function toJson(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema
}

function inputTable(title: string, schema: JsonSchema, comments: ReadonlyMap<string, string>): string {
  const { properties = {}, required = [] } = schema
  const upstream = Object.keys(upstreamShape)
  const hasUpstream = upstream.every((name) => name in properties)
  const rows = Object.entries(properties)
    .filter(([name]) => !hasUpstream || !upstream.includes(name))
    .map(([name, member]) =>
      memberRow(name, member, { isRequired: required.includes(name), about: comments.get(name) })
    )
  const more = hasUpstream ? ', and the members of [an upstream](#an-upstream)' : ''
  return `${title}${more}:\n\n${memberTable(rows)}`
}

function memberRow(
  name: string,
  member: JsonSchema,
  { isRequired, about = '' }: { isRequired: boolean; about?: string | undefined }
): string[] {
  const { default: usual } = member
  const said = [about, usual === undefined ? '' : `Default: ${code(String(usual))}.`]
  return [
    code(name),
    `${typeText(member)}${isRequired && usual === undefined ? ', required' : ''}`,
    said.join(' ').trim()
  ]
}

/** Without the column of remarks where there are none. */
function memberTable(rows: ReadonlyArray<readonly string[]>): string {
  if (rows.some(([, , about]) => about !== '')) return table(['Member', 'Type', ''], rows)
  return table(
    ['Member', 'Type'],
    rows.map((row) => row.slice(0, 2))
  )
}

function upstreamTable(source: string): string {
  const { properties = {}, required = [] } = toJson(z.strictObject(upstreamShape), 'input')
  const comments = commentsOf(source, 'upstreamShape')
  const rows = Object.entries(properties).map(([name, member]) =>
    memberRow(name, member, { isRequired: required.includes(name), about: comments.get(name) })
  )
  return memberTable(rows)
}

/** The name under which the code has a schema: comments on its members stand there. */
function nameOf(schema: z.ZodType): string {
  const name = SCHEMAS.get(schema)
  if (name === undefined)
    throw new Error('A schema of node/admin/route-docs.ts is not exported by a file of node/admin.')
  return name
}

function typeText(schema: JsonSchema): string {
  const { type, anyOf, enum: values, const: only, items, properties, pattern } = schema
  if (values !== undefined) return values.map(code).join(', ')
  if (only !== undefined) return code(String(only))
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeText))].join(' or ')
  if (type === 'array') return `list of ${items === undefined ? 'any' : typeText(items)}`
  if (properties !== undefined) return `object: ${Object.keys(properties).map(code).join(', ')}`
  if (type === 'string' && pattern?.includes('{1,6}') === true) return 'USDC'
  return type ?? 'any JSON'
}

function linked(text: string, types: ReadonlyMap<string, DocumentedType>): string {
  return text.replaceAll(/\w+/g, (word) => (types.has(word) ? `[${word}](#${anchor(word)})` : word))
}

/** Those that a text names, and those that these name. */
function namedIn(text: string, types: ReadonlyMap<string, DocumentedType>): Set<DocumentedType> {
  const named = new Set<DocumentedType>()
  const look = (words: string) => {
    for (const [word] of words.matchAll(/\w+/g)) {
      const type = types.get(word)
      if (type === undefined || named.has(type)) continue
      named.add(type)
      look([...type.bases, ...type.members.map((member) => member.type)].join(' '))
    }
  }
  look(text)
  return named
}

function typeSection(
  { name, about, bases, members }: DocumentedType,
  types: ReadonlyMap<string, DocumentedType>
): string {
  const all =
    bases.length === 0
      ? ''
      : `All of ${bases.map((base) => linked(base, types)).join(' and ')}${members.length === 0 ? '.' : ', and:'}`
  const rows = members.map((member) => [
    code(`${member.name}${member.isOptional ? '?' : ''}`),
    linked(member.type, types),
    member.about
  ])
  const parts = [`### ${name}`, about, all, ...(rows.length === 0 ? [] : [memberTable(rows)])]
  return parts.filter((part) => part !== '').join('\n\n')
}
