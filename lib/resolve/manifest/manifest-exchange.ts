import { apiId } from '../../base/api-name.ts'
import type { Clock } from '../../base/clock.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import {
  MANIFEST_PEERS_MAX,
  MANIFEST_REPLY_BYTES_MAX,
  MANIFEST_REQUEST_BYTES_MAX,
  MANIFEST_REQUESTS_BURST,
  MANIFEST_REQUESTS_PER_SECOND,
  PAGE_MAX
} from '../../base/limits/directory.ts'
import { paced } from '../../base/paced.ts'
import type { Link, PeerAddress } from '../../interface/link.ts'
import type { SignedManifest } from '../../interface/manifest.ts'
import { MANIFEST_REPLY, MANIFEST_REQUEST, type ManifestReply, type ManifestRequest } from './exchange-codec.ts'
import { verifyManifest } from './verify-manifest.ts'

export const MANIFEST_PROTOCOL = '/souk/manifest/1.0.0'

/** Part of a reply reserved for framing around the envelopes. */
const FRAMING_BYTES = 1024

/** Manifests of the APIs this node serves, its own and those of providers that delegated to it. */
export type LocalManifests = () => Iterable<SignedManifest>

export interface ServeInit {
  readonly link: Link
  readonly local: LocalManifests
  readonly clock: Pick<Clock, 'elapsed'>
}

/** Serves peers that ask for manifests. Drafts are not shown. */
export function serveManifests({ link, local, clock }: ServeInit): void {
  const rate = { burst: MANIFEST_REQUESTS_BURST, perSecond: MANIFEST_REQUESTS_PER_SECOND }
  const reply = async (bytes: Uint8Array) => {
    const request = MANIFEST_REQUEST.decode(bytes)
    const shown = [...local()].filter(({ manifest }) => manifest.state !== 'draft')
    return MANIFEST_REPLY.encode(answer(request, shown))
  }
  link.serve(MANIFEST_PROTOCOL, paced(reply, { rate, peersMax: MANIFEST_PEERS_MAX, clock }), {
    requestBytesMax: MANIFEST_REQUEST_BYTES_MAX
  })
}

/** Sorted by name, then by provider, as many as fit. */
function answer(request: ManifestRequest, shown: readonly SignedManifest[]): ManifestReply {
  const isAsked = isWanted(request)
  const asked = shown.filter(isAsked).sort(byName)
  const manifests: Uint8Array[] = []
  let bytes = FRAMING_BYTES
  for (const { envelope } of asked.slice(0, PAGE_MAX)) {
    bytes += envelope.length
    if (bytes > MANIFEST_REPLY_BYTES_MAX) break
    manifests.push(envelope)
  }
  return { manifests, hasMore: manifests.length < asked.length }
}

function byName(a: SignedManifest, b: SignedManifest): number {
  const [first, second] = a.manifest.name === b.manifest.name ? [a.id, b.id] : [a.manifest.name, b.manifest.name]
  return first < second ? -1 : 1
}

function isWanted({ name, provider, after = '' }: ManifestRequest): (signed: SignedManifest) => boolean {
  if (name === '') return ({ manifest }) => manifest.provider === provider && manifest.name > after
  return ({ id, manifest }) => manifest.name === name && (provider === undefined || id === apiId(name, provider))
}

export interface FetchInit {
  readonly link: Link
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface FetchedManifests {
  readonly manifests: readonly SignedManifest[]
  /** Why manifests were rejected. */
  readonly refusals: readonly string[]
  readonly hasMore: boolean
}

/**
 * Queries one peer. Each manifest is verified; invalid and unrequested ones are left out.
 * @throws SoukError `owner_unreachable`
 */
export async function fetchManifests(
  peer: PeerAddress,
  request: ManifestRequest,
  { link, clock, signal }: FetchInit
): Promise<FetchedManifests> {
  const bytes = await link.exchange(peer, MANIFEST_PROTOCOL, MANIFEST_REQUEST.encode(request), {
    responseBytesMax: MANIFEST_REPLY_BYTES_MAX,
    signal
  })
  const reply = decode(bytes)
  const now = clock.now()
  const refusals: string[] = []
  const verified = await Promise.all(
    reply.manifests.map(async (envelope) =>
      // Copied, because the envelope is stored, and a view would keep the whole reply in memory.
      verifyManifest(envelope.slice(), { now }).catch(
        (error: unknown) => void refusals.push(asSoukError(error).message)
      )
    )
  )
  const manifests = verified.filter((signed) => signed !== undefined && wasAsked(request, signed))
  return { manifests: manifests as SignedManifest[], refusals, hasMore: reply.hasMore }
}

function wasAsked(request: ManifestRequest, signed: SignedManifest): boolean {
  return signed.manifest.state !== 'draft' && isWanted(request)(signed)
}

function decode(bytes: Uint8Array): ManifestReply {
  try {
    return MANIFEST_REPLY.decode(bytes)
  } catch (error) {
    throw new SoukError('owner_unreachable', 'A node returned an invalid response.', { cause: error })
  }
}
