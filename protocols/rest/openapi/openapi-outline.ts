import type { DescribedApi } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject } from '../../exact-json.ts'
import { METHODS } from './openapi-operations.ts'
import { type OpenapiTexts, readReferences, versionOf } from './openapi-document.ts'
import { objectOf } from './openapi-request-body.ts'
import { addressesIn, type DocumentHead, documentServers } from './openapi-servers.ts'

export interface OpenapiOutline extends DescribedApi {
  /** Addresses of other files that the document refers to, without those that are given. */
  readonly missing: readonly string[]
}

const DESCRIPTION_CHARS = 1_000
const SERVERS_SHOWN = 100

/** The parts of a document that a registration needs before it reads the rest. @throws SoukError `invalid_request` */
export function outlineOpenapi(texts: OpenapiTexts): OpenapiOutline {
  const references = readReferences(texts)
  const { root } = references
  return { ...aboutOf({ root, references, version: versionOf(root) }), missing: [...references.missing] }
}

export function aboutOf(document: DocumentHead): DescribedApi {
  const { root, references } = document
  const { title, description } = isObject(root['info']) ? root['info'] : {}
  const base = /^https?:/.test(references.url) ? references.url : undefined
  const servers = [...new Set([...documentServers(document), ...partServers(root, base)])]
  return {
    ...(typeof title === 'string' ? { title: title.slice(0, DESCRIPTION_CHARS) } : {}),
    ...(typeof description === 'string' ? { description: description.slice(0, DESCRIPTION_CHARS) } : {}),
    servers: servers.slice(0, SERVERS_SHOWN)
  }
}

/** The addresses that a document states for single paths or operations. */
function partServers(root: JsonObject, base: string | undefined): string[] {
  const items = pathsOf(root)
  const holders = [...items, ...items.flatMap((item) => Object.values(item).filter(isObject))]
  return holders.flatMap(({ servers }) => addressesIn(servers, base))
}

/** The first address of a document that states one for each path or operation; undefined if some have none, so that it is not theirs. */
export function serverOfParts(root: JsonObject, base: string | undefined): string | undefined {
  const states = (holder: unknown) => isObject(holder) && addressesIn(holder['servers'], base).length > 0
  const isStated = (item: JsonObject) => {
    const operations = METHODS.map((method) => item[method]).filter(isObject)
    return states(item) || operations.every(states)
  }
  return pathsOf(root).every(isStated) ? partServers(root, base)[0] : undefined
}

function pathsOf({ paths }: JsonObject): JsonObject[] {
  return Object.values(objectOf(paths)).filter(isObject)
}
