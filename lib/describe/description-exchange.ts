import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { fromHex, toHex } from '../base/hex.ts'
import {
  DESCRIPTION_DOCUMENT_BYTES_MAX,
  DESCRIPTION_PROOF_HASHES_MAX,
  DESCRIPTION_PAGE_BYTES_MAX,
  DESCRIPTIONS_PEERS_MAX,
  DESCRIPTIONS_REPLY_BYTES_MAX,
  DESCRIPTIONS_REQUEST_BYTES_MAX,
  DESCRIPTIONS_REQUESTS_BURST,
  DESCRIPTIONS_REQUESTS_PER_SECOND
} from '../base/limits/descriptions.ts'
import { paced } from '../base/paced.ts'
import type { DescriptionRoot } from '../interface/published-api.ts'
import type { Link, PeerAddress } from '../interface/link.ts'
import { DESCRIPTION_REPLY, DESCRIPTION_REQUEST, type ProvenDocument } from './description-codec.ts'
import type { DocumentShelf } from './document-shelf.ts'
import { layoutOf } from './documents.ts'
import { isProven } from './merkle.ts'

export const DESCRIPTION_PROTOCOL = '/souk/description/1.0.0'

/** SHA-256. */
const ROOT_BYTES = 32
/** Bytes of a document in a reply besides its content: its path and framing. */
const PROOF_BYTES = DESCRIPTION_PROOF_HASHES_MAX * 36

export interface ServeInit {
  readonly link: Link
  readonly shelf: DocumentShelf
  readonly clock: Pick<Clock, 'elapsed'>
}

/** Serves documents to peers: as many of the requested ones as this node has and fit a reply, in the requested order. */
export function serveDescriptions({ link, shelf, clock }: ServeInit): void {
  const rate = { burst: DESCRIPTIONS_REQUESTS_BURST, perSecond: DESCRIPTIONS_REQUESTS_PER_SECOND }
  const answer = async (bytes: Uint8Array) => {
    const { root, leaves } = DESCRIPTION_REQUEST.decode(bytes)
    const documents: ProvenDocument[] = []
    let left = DESCRIPTIONS_REPLY_BYTES_MAX
    for (const leaf of new Set(leaves)) {
      const proven = shelf.get(toHex(root), leaf)
      if (proven === undefined) continue
      left -= proven.document.length + PROOF_BYTES
      if (left < 0) break
      documents.push(proven)
    }
    return DESCRIPTION_REPLY.encode({ documents })
  }
  link.serve(DESCRIPTION_PROTOCOL, paced(answer, { rate, peersMax: DESCRIPTIONS_PEERS_MAX, clock }), {
    requestBytesMax: DESCRIPTIONS_REQUEST_BYTES_MAX
  })
}

/**
 * Requests documents from one peer. Resolves to the valid ones.
 * @throws SoukError `owner_unreachable`, also for a document that does not belong to the root
 */
export async function fetchDocuments(
  link: Link,
  peer: PeerAddress,
  described: DescriptionRoot,
  leaves: readonly number[],
  signal: AbortSignal
): Promise<readonly ProvenDocument[]> {
  const root = fromHex(described.root, ROOT_BYTES)
  const bytes = await link.exchange(peer, DESCRIPTION_PROTOCOL, DESCRIPTION_REQUEST.encode({ root, leaves }), {
    responseBytesMax: DESCRIPTIONS_REPLY_BYTES_MAX,
    signal
  })
  const documents = decode(bytes)
  const wanted = new Set(leaves)
  const { pages } = layoutOf(described)
  for (const { leaf, document, path } of documents) {
    const isSmall = document.length <= (leaf < pages ? DESCRIPTION_PAGE_BYTES_MAX : DESCRIPTION_DOCUMENT_BYTES_MAX)
    const isValid =
      isSmall && wanted.delete(leaf) && isProven(document, path, { leaf, documents: described.documents, root })
    if (!isValid) throw new SoukError('owner_unreachable', 'A node returned an invalid description.')
  }
  return documents
}

function decode(bytes: Uint8Array): readonly ProvenDocument[] {
  try {
    return DESCRIPTION_REPLY.decode(bytes).documents
  } catch (cause) {
    throw new SoukError('owner_unreachable', 'A node returned an invalid response.', { cause })
  }
}
