import type { Tool } from '@modelcontextprotocol/server'
import { formatUsdc, limits } from '../../lib/index.ts'
import { type Manifest, type Operation, operationCount, type SignedManifest } from '../../lib/interface/index.ts'
import { descriptorOf } from '../../protocols/protocol-descriptors.ts'
import { plainText } from './plain-text.ts'
import { toolName } from './tool-name.ts'
import { inputSchema, responseSchema, withOwnNames } from './tool-schema.ts'

/** An operation of an API as a tool. */
export interface ApiTool {
  readonly name: string
  /** `name@provider`. */
  readonly api: string
  /** Name of its operation, if the API names operations. */
  readonly operation?: string
  /** The tool as agents see it. */
  describe(): Promise<Tool>
  /** Builds the body of the call in the API’s format. */
  body(given: Readonly<Record<string, unknown>>): unknown
}

/**
 * Makes tools of the operations of an API.
 * @param operations - names suffice, except to describe the tools
 * @param isTaken - whether another tool has this name
 * @param schemaBytesMax - of the input schema of one tool
 */
export function apiTools(
  { id, manifest }: SignedManifest,
  operations: readonly Operation[],
  isTaken: (name: string) => boolean,
  schemaBytesMax: number = limits.MCP_SCHEMA_BYTES_MAX
): ApiTool[] {
  const { protocol } = manifest
  const { request, unnamedOperation } = descriptorOf(protocol) ?? {}
  if (request !== undefined) {
    const name = toolName(id, manifest.name, request.name, isTaken)
    const describe = async (): Promise<Tool> => ({
      ...head(name, manifest, request.name),
      inputSchema: { type: 'object', properties: request.toolProperties },
      description: await aboutRequest(id, manifest, operations)
    })
    return [{ name, api: id, describe, body: (given) => given }]
  }
  const taken = new Set<string>()
  return operations.map((operation) => {
    const name = toolName(id, manifest.name, operation.name, (known) => isTaken(known) || taken.has(known))
    taken.add(name)
    const isUnnamed = unnamedOperation !== undefined && operationCount(manifest.api) === 1
    return {
      name,
      api: id,
      operation: operation.name,
      describe: async () => operationTool(name, id, manifest, operation, schemaBytesMax),
      body: (given) => {
        const named = withOwnNames(given, operation.input)
        return isUnnamed ? named : { ...named, operation: operation.name }
      }
    }
  })
}

/** The API name that is contained in a tool name. */
export function apiNameIn(tool: string): string | undefined {
  const end = tool.indexOf('_')
  return end > 0 ? tool.slice(0, end) : undefined
}

function operationTool(
  name: string,
  id: string,
  manifest: Manifest,
  operation: Operation,
  schemaBytesMax: number
): Tool {
  const takes = inputSchema(operation.input, schemaBytesMax)
  const gives = responseSchema(operation.output)
  const about = operation.description ?? manifest.description
  const large = takes === undefined ? ['The input schema is too large to show here. Use souk_show.'] : []
  return {
    ...head(name, manifest, operation.name),
    description: [brief(about), ...large, costs(id, manifest)].filter((part) => part !== '').join('\n\n'),
    inputSchema: takes ?? { type: 'object' },
    ...(gives === undefined ? {} : { outputSchema: gives })
  }
}

function head(name: string, { name: api, idempotent }: Manifest, operation: string) {
  const annotations = { openWorldHint: true, ...(idempotent ? { idempotentHint: true } : {}) }
  return {
    name,
    title: brief(`${api}: ${operation}`).replaceAll('\n', ' ').slice(0, limits.LABEL_CHARS_MAX),
    annotations
  }
}

async function aboutRequest(id: string, manifest: Manifest, operations: readonly Operation[]): Promise<string> {
  // Loaded on demand, because few APIs need the library of GraphQL.
  const { outlineOf } = await import('./outline.ts')
  const { sdl } = manifest.api
  const outline = outlineOf({ operations, ...(sdl === undefined ? {} : { sdl }) })
  return [brief(manifest.description), outline, costs(id, manifest)].filter((part) => part !== '').join('\n\n')
}

function costs(id: string, { price, protocol, payPerCall }: Manifest): string {
  if (payPerCall === false) return `Requires a subscription. souk_show lists the plans. API: ${id}.`
  const most = descriptorOf(protocol)?.isPriceCeiling === true ? 'at most ' : ''
  const cost = price === 0n ? 'Free of charge.' : `Costs ${most}${formatUsdc(price)} USDC. Failed calls are free.`
  return `${cost} API: ${id}.`
}

function brief(text: string): string {
  return plainText(text, limits.MCP_DESCRIPTION_CHARS_MAX)
}
