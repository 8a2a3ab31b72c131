import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError
} from '@modelcontextprotocol/server'
import { asSoukError, deadline, formatApiRef, limits, parseApiRef, SoukError } from '../../lib/index.ts'
import type { Clock, Resolution, Souk } from '../../lib/interface/index.ts'
import { operationOf } from '../describe.ts'
import { OpenapiViews } from '../ingress/discovery/openapi-views.ts'
import { permitted } from '../keys/scope.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { ResourceBox } from './agent.ts'
import { listingPage } from './listing-page.ts'
import { matchesPattern } from './operation-pattern.ts'
import { plainLine } from './plain-text.ts'
import { parseResourceUri, type ResourceRef, resourceUri } from './resource-uri.ts'

export interface ResourcesInit {
  readonly souk: Pick<Souk, 'resolve' | 'descriptions'>
  readonly clock: Clock
}

/** The APIs whose documents are listed, and the key that limits which may be read. */
export interface ResourceScope {
  readonly holder?: Pick<KeyHolder, 'apis'>
  readonly apis: readonly string[]
  /** The agent named these APIs itself. */
  readonly isChosen?: boolean
  readonly operations?: readonly string[]
}

/** Position in the list: an API, and an entry of it. */
interface Position {
  readonly api: number
  readonly entry: number
}

/** Documents of APIs as resources. Everybody may read them, so they cost nothing. */
export class Resources {
  readonly #init: ResourcesInit
  readonly #openapi: OpenapiViews

  constructor(init: ResourcesInit) {
    this.#init = init
    this.#openapi = new OpenapiViews(init)
  }

  for(scope: ResourceScope): ResourceBox {
    return {
      list: (cursor, signal) => this.#list(scope, cursor, signal),
      read: (uri, signal) => this.#read(scope, uri, signal)
    }
  }

  /** The documents of the selected APIs, as pages. Omits an API that cannot be reached. */
  async #list(scope: ResourceScope, cursor: string | undefined, signal: AbortSignal): Promise<ListResourcesResult> {
    const { souk, clock } = this.#init
    const late = deadline(clock, limits.MCP_LOOKUP_MS, () => new SoukError('lookup_timeout'), signal)
    try {
      const apis = [...new Set(scope.apis)].slice(0, limits.MCP_APIS_MAX)
      let { api, entry } = positionOf(cursor)
      const found = await Promise.allSettled(
        apis.map(async (name, at) => (at < api ? undefined : souk.resolve(name, { signal: late.signal })))
      )
      if (scope.isChosen === true && !found.some(({ status }) => status === 'fulfilled')) {
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `None of these APIs was found: ${apis.join(', ')}. Check "api" in the URL.`
        )
      }
      const resources: Resource[] = []
      for (; api < apis.length; api++, entry = 0) {
        const each = found[api]
        if (each?.status !== 'fulfilled' || each.value === undefined) continue
        const room = limits.MCP_RESOURCES_PAGE - resources.length
        const all = await this.#entriesOf(each.value, scope, late.signal)
        resources.push(...all.slice(entry, entry + room))
        if (all.length > entry + room) return { resources, nextCursor: cursorOf({ api, entry: entry + room }) }
      }
      return { resources }
    } finally {
      late.clear()
    }
  }

  async #entriesOf(found: Resolution, { operations: patterns = [] }: ResourceScope, signal: AbortSignal) {
    if (found.signed.manifest.state === 'retired') return []
    const { manifest, id } = found.signed
    const all = await this.#init.souk.descriptions.operations(found, {}, signal).catch(() => [])
    const isWanted = (operation: string) =>
      patterns.length === 0 || patterns.some((pattern) => matchesPattern(operation, pattern))
    const entries: Resource[] = [
      described({ api: id, kind: 'listing' }, manifest.name, manifest.description, 'text/markdown')
    ]
    if (manifest.protocol === 'GraphQL') {
      entries.push(described({ api: id, kind: 'sdl' }, `${manifest.name}: schema`, 'GraphQL schema', GRAPHQL))
    } else if (manifest.api.described === undefined) {
      // Larger descriptions make larger documents than an agent can read.
      entries.push(described({ api: id, kind: 'openapi' }, `${manifest.name}: OpenAPI`, 'OpenAPI document', JSON_TYPE))
    }
    for (const { name: operation, summary = '' } of all) {
      if (!isWanted(operation)) continue
      entries.push(
        described({ api: id, kind: 'operation', operation }, `${manifest.name}: ${operation}`, summary, JSON_TYPE)
      )
    }
    return entries
  }

  /** @throws ResourceNotFoundError, SoukError */
  async #read({ holder }: ResourceScope, uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    const ref = parseResourceUri(uri)
    if (ref === undefined) throw notFound(uri, 'This server has only documents of APIs, such as souk://apis/{api}.')
    try {
      const api = formatApiRef(permitted(holder ?? {}, parseApiRef(ref.api)))
      const found = await this.#init.souk.resolve(api, { signal })
      return { contents: [{ uri, ...(await this.#documentOf(ref, found, signal)) }] }
    } catch (thrown) {
      const error = asSoukError(thrown)
      const isMissing = error.code === 'api_not_found' || error.code === 'operation_not_found'
      throw isMissing ? notFound(uri, error.message) : error
    }
  }

  async #documentOf(ref: ResourceRef, found: Resolution, signal: AbortSignal) {
    const { souk, clock } = this.#init
    if (ref.kind === 'operation') {
      const operation = await operationOf(souk, found, ref.operation, signal)
      return { mimeType: JSON_TYPE, text: fitting(JSON.stringify(operation, undefined, 2), found) }
    }
    if (ref.kind === 'openapi') {
      return { mimeType: JSON_TYPE, text: fitting(await this.#openapi.of(found, signal), found) }
    }
    if (ref.kind === 'sdl') {
      const sdl = await souk.descriptions.sdl(found, signal)
      if (sdl === undefined)
        throw new SoukError('api_not_found', `${found.signed.manifest.name} has no GraphQL schema.`)
      return { mimeType: GRAPHQL, text: beginning(sdl) }
    }
    const operations = await souk.descriptions.operations(found, { limit: limits.MCP_RESOURCES_PAGE }, signal)
    return { mimeType: 'text/markdown', text: beginning(listingPage(found.signed, operations, clock.now())) }
  }
}

const JSON_TYPE = 'application/json'
const GRAPHQL = 'application/graphql'

function described(ref: ResourceRef, name: string, description: string, mimeType: string): Resource {
  return {
    uri: resourceUri(ref),
    name: plainLine(name, limits.SUMMARIZED_NAME_CHARS_MAX),
    description: plainLine(description, limits.MCP_DESCRIPTION_CHARS_MAX),
    mimeType
  }
}

/** @throws SoukError `response_too_large`: half a JSON document is of no use */
function fitting(document: string, { signed }: Resolution): string {
  if (document.length <= limits.MCP_RESOURCE_BYTES_MAX) return document
  const most = limits.MCP_RESOURCE_BYTES_MAX
  throw new SoukError(
    'response_too_large',
    `This document has ${document.length} characters, more than the ${most} of a resource. Read single operations of ${signed.manifest.name}, or use souk_show.`
  )
}

function beginning(document: string): string {
  const most = limits.MCP_RESOURCE_BYTES_MAX
  return document.length <= most
    ? document
    : `# Cut off: the first ${most} of ${document.length} characters.\n${document.slice(0, most)}`
}

/** Opaque for clients. @throws ProtocolError */
function positionOf(cursor: string | undefined): Position {
  if (cursor === undefined) return { api: 0, entry: 0 }
  const [, api, entry] = /^(\d{1,3})\.(\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (api === undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is not valid. Start again without a cursor.')
  }
  return { api: Number(api), entry: Number(entry) }
}

function cursorOf({ api, entry }: Position): string {
  return Buffer.from(`${api}.${entry}`).toString('base64url')
}

function notFound(uri: string, detail: string): ResourceNotFoundError {
  const shown = plainLine(uri, limits.SUMMARIZED_NAME_CHARS_MAX)
  return new ResourceNotFoundError(uri, `There is no resource "${shown}". ${detail}`)
}
