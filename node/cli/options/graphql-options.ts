import type { Command } from 'commander'
import type { RegisterInput } from '../../admin/api.ts'
import { UsageError } from '../terminal/usage-error.ts'
import { readTextFile } from './text-file.ts'

type GraphqlInput = NonNullable<RegisterInput['graphql']>

/** Options of GraphQL APIs. */
export interface GraphqlFlags {
  readonly subscriptions?: string
  readonly schemaFile?: string
  readonly hide?: string[]
  /** False with `--no-introspection`. */
  readonly introspection: boolean
  readonly graphqlFile?: string
}

export function addGraphqlOptions(command: Command): Command {
  return command
    .option('--subscriptions <url>', 'GraphQL: endpoint for subscriptions, ws: or http: (default: the endpoint)')
    .option(
      '--schema-file <file>',
      'GraphQL: the schema, SDL or introspection JSON (default: introspection of the endpoint)'
    )
    .option('--hide <name>', 'GraphQL: Type or Type.field to hide from consumers; may be repeated', collect)
    .option('--no-introspection', 'GraphQL: do not publish the schema, and refuse introspection')
    .option('--graphql-file <file>', 'GraphQL: JSON with limits, costs, unit price and trusted documents')
}

/** Member `graphql` of the request. Flags override the file. @throws UsageError */
export async function graphqlInputOf(flags: GraphqlFlags): Promise<Pick<RegisterInput, 'graphql'>> {
  const { subscriptions, schemaFile, hide, introspection, graphqlFile } = flags
  const graphql: GraphqlInput = {
    ...(graphqlFile === undefined ? {} : await read(graphqlFile)),
    ...(subscriptions === undefined ? {} : { subscriptions }),
    ...(schemaFile === undefined ? {} : { schema: await readTextFile(schemaFile) }),
    ...(hide === undefined ? {} : { hidden: hide }),
    ...(introspection ? {} : { introspection })
  }
  return Object.keys(graphql).length === 0 ? {} : { graphql }
}

async function read(path: string): Promise<GraphqlInput> {
  const text = await readTextFile(path)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // The error below covers this case.
  }
  throw new UsageError(`${path} is not a JSON object such as {"depth_max": 10, "costs": {"Query.search": 5}}.`)
}

function collect(name: string, before: string[] = []): string[] {
  return [...before, name]
}
