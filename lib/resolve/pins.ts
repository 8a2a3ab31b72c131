import { type ApiId, checkApiName, isProviderId } from '../base/api-name.ts'
import { boundedMap } from '../base/bounded-map.ts'
import { SoukError } from '../base/errors.ts'
import { MANIFEST_TTL_MS, RESOLUTIONS_MAX } from '../base/limits/directory.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import type { Documents } from '../interface/store.ts'

/** Protections against providers: revisions never go back, and names stay bound as the user pinned them. */
export interface Pins {
  /** True unless the manifest is older than the newest one seen of this API. */
  allows(signed: SignedManifest): Promise<boolean>
  /** Stores the manifest's revision as the newest. Durable when it resolves. Writes nothing where nothing changed. */
  raise(signed: SignedManifest): Promise<void>
  /** The cached result of `provider`. */
  known(name: string): { readonly provider: string | undefined } | undefined
  /** The provider that a bare name is pinned to on this node. */
  provider(name: string): Promise<string | undefined>
  /** @throws SoukError `invalid_request` */
  bind(name: string, provider: string): Promise<void>
}

const REVISIONS = 'revisions'
const NAMES = 'pins'

/** A provider signs the same revision again before it expires. The later signature is then newer. */
interface Mark {
  readonly revision: number
  readonly issuedAt: number
}

const isOlder = (a: Mark, b: Mark): boolean =>
  a.revision === b.revision ? a.issuedAt < b.issuedAt : a.revision < b.revision

export function createPins(documents: Documents): Pins {
  const marks = boundedMap<ApiId, Mark>(RESOLUTIONS_MAX)
  const bindings = boundedMap<string, { readonly provider: string | undefined }>(RESOLUTIONS_MAX)

  async function markOf(id: ApiId): Promise<Mark | undefined> {
    const known = marks.get(id)
    if (known !== undefined) return known
    const text = await documents.get(REVISIONS, id)
    // A concurrent `raise` may have finished during the read.
    if (text !== undefined && !marks.has(id)) marks.set(id, JSON.parse(text) as Mark)
    return marks.get(id)
  }

  return {
    async allows({ id, manifest }) {
      const mark = await markOf(id)
      return mark === undefined || !isOlder(manifest, mark)
    },

    async raise({ id, manifest: { revision, issuedAt } }) {
      const mark = await markOf(id)
      const raised = { revision, issuedAt }
      if (mark !== undefined && !isOlder(mark, raised)) return
      marks.set(id, raised)
      // Every older manifest has expired by then. Anybody can publish APIs, and have this node look them up.
      const expiresAt = issuedAt + MANIFEST_TTL_MS
      await documents.putAll([{ collection: REVISIONS, key: id, value: JSON.stringify(raised), expiresAt }])
    },

    known: (name) => bindings.get(name),

    async provider(name) {
      const known = bindings.get(name)
      if (known !== undefined) return known.provider
      const text = await documents.get(NAMES, name)
      const provider = text === undefined ? undefined : (JSON.parse(text) as string)
      if (!bindings.has(name)) bindings.set(name, { provider })
      return bindings.get(name)?.provider
    },

    async bind(name, provider) {
      if (!isProviderId(provider)) throw new SoukError('invalid_request', 'A name can be pinned to a provider id only.')
      await documents.put(NAMES, checkApiName(name), JSON.stringify(provider))
      bindings.set(name, { provider })
    }
  }
}
