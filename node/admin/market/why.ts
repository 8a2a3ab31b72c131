import { asSoukError } from '../../../lib/index.ts'
import type { ListingState, Souk } from '../../../lib/interface/index.ts'
import type { WhyView } from './market-api.ts'

const STATES: Readonly<Record<ListingState, string>> = {
  published: 'It is published, and can be called.',
  deprecated: 'Its provider is about to end it; it can still be called.',
  paused: 'Its provider paused it: calls are refused for now.',
  retired: 'Its provider ended it for good.',
  draft: 'Its provider has not published it.'
}

const HINTS: Readonly<Record<string, string>> = {
  no_provider_record: 'check the name with souk search; souk peers shows whether this node is connected',
  network_unreachable: 'souk doctor; souk peers: this node has to be connected before it finds anything',
  unreachable: 'try again: its provider may be restarting',
  not_served: 'its provider may have removed it; souk search shows what there is',
  signature_refused: 'do not call it by other ways: somebody offers what its provider did not sign',
  expired: 'its provider has to sign again, by running its node',
  rolled_back: 'its provider has to serve its newest revision',
  name_conflict: 'name one as name@provider, or bind the name with souk pin',
  lookup_timeout: 'souk doctor; souk peers'
}

/** Looks an API up afresh and says how far that came. Never rejects for what it finds. */
export async function why(souk: Pick<Souk, 'resolve'>, api: string, signal: AbortSignal): Promise<WhyView> {
  try {
    const { signed, owners } = await souk.resolve(api, { signal, refresh: true })
    const { state } = signed.manifest
    const isShown = state === 'published' || state === 'deprecated'
    const callable = isShown && owners.length > 0
    const step = isShown && !callable ? 'unreachable' : state === 'published' ? 'ok' : state
    const detail = isShown && !callable ? 'It is known, but no node that serves it was found.' : STATES[state]
    const peers = owners.map(({ id }) => id)
    return { api, callable, step, detail, id: signed.id, owners: peers, candidates: [], hint: HINTS[step] ?? null }
  } catch (thrown) {
    const error = asSoukError(thrown)
    // What is no name at all is the asker's mistake, and nothing to be explained.
    if (error.code === 'invalid_request') throw error
    const { reason, candidates } = error.members ?? {}
    const step = typeof reason === 'string' ? reason : error.code
    return {
      api,
      callable: false,
      step,
      detail: error.message,
      id: null,
      owners: [],
      candidates: Array.isArray(candidates) ? candidates : [],
      hint: HINTS[step] ?? null
    }
  }
}
