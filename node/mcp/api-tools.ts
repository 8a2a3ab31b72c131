import type { Tool } from '@modelcontextprotocol/server'
import { formatUsdc, limits } from '../../lib/index.ts'
import type { Manifest, Operation, SignedManifest } from '../../lib/interface/index.ts'
import { descriptorOf } from '../../protocols/protocol-descriptors.ts'
import { outlineOf } from './outline.ts'
import { toolName } from './tool-name.ts'
import { responseSchema, type InputSchema, inputSchema } from './tool-schema.ts'

/** An operation of an API as a tool. */
export interface ApiTool {
  readonly name: string
  /** `name@provider`. */
  readonly api: string
  /** The promised schema of its responses. */
  output(): InputSchema | undefined
  /** The tool as agents see it. */
  describe(): Tool
  /** Builds the body of the call in the API’s format. */
  body(given: Readonly<Record<string, unknown>>): unknown
}

/**
 * Makes tools of the operations of an API. Needs only the signed manifest, and nothing from the provider.
 * @param isTaken - whether another tool has this name
 */
export function apiTools({ id, manifest }: SignedManifest, isTaken: (name: string) => boolean): ApiTool[] {
  const { protocol, api } = manifest
  const { request, unnamedOperation } = descriptorOf(protocol) ?? {}
  if (request !== undefined) {
    const name = toolName(id, manifest.name, request.name, isTaken)
    const describe = (): Tool => ({
      ...head(name, manifest, request.name),
      inputSchema: { type: 'object', properties: request.toolProperties },
      description: aboutRequest(id, manifest)
    })
    return [{ name, api: id, output: () => undefined, describe, body: (given) => given }]
  }
  const taken = new Set<string>()
  return api.operations.slice(0, limits.MCP_TOOLS_PER_API_MAX).map((operation) => {
    const name = toolName(id, manifest.name, operation.name, (known) => isTaken(known) || taken.has(known))
    taken.add(name)
    const isUnnamed = unnamedOperation !== undefined && api.operations.length === 1
    return {
      name,
      api: id,
      output: () => responseSchema(operation.output),
      describe: () => operationTool(name, id, manifest, operation),
      body: (given) => (isUnnamed ? given : { ...given, operation: operation.name })
    }
  })
}

/** The API name that is contained in a tool name. */
export function apiNameIn(tool: string): string | undefined {
  const end = tool.indexOf('_')
  return end > 0 ? tool.slice(0, end) : undefined
}

function operationTool(name: string, id: string, manifest: Manifest, operation: Operation): Tool {
  const takes = inputSchema(operation.input)
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

function aboutRequest(id: string, manifest: Manifest): string {
  return [brief(manifest.description), outlineOf(manifest.api), costs(id, manifest)]
    .filter((part) => part !== '')
    .join('\n\n')
}

function costs(id: string, { price, protocol, payPerCall }: Manifest): string {
  if (payPerCall === false) return `Requires a subscription. souk_show lists the plans. API: ${id}.`
  const most = descriptorOf(protocol)?.isPriceCeiling === true ? 'at most ' : ''
  const cost = price === 0n ? 'Free of charge.' : `Costs ${most}${formatUsdc(price)} USDC. Failed calls are free.`
  return `${cost} API: ${id}.`
}

/** Untrusted text without control characters that move the cursor or hide lines. */
function brief(text: string): string {
  const plain = text.replaceAll(/[^\P{C}\n]/gu, '').trim()
  return plain.length > limits.MCP_DESCRIPTION_CHARS_MAX
    ? `${plain.slice(0, limits.MCP_DESCRIPTION_CHARS_MAX)}…`
    : plain
}
