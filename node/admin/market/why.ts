import { asSoukError } from '../../../lib/index.ts'
import type { ListingState, Souk } from '../../../lib/interface/index.ts'
import type { WhyView } from './market-api.ts'

const STATES: Readonly<Record<ListingState, string>> = {
  published: 'The API is published and can be called.',
  deprecated: 'The API is deprecated and will end. It can still be called.',
  paused: 'The provider paused the API. Calls are refused until it is resumed.',
  retired: 'The provider ended the API for good.',
  draft: 'The provider has not published the API.'
}

const HINTS: Readonly<Record<string, string>> = {
  no_provider_record: 'check the name with souk search; souk peers shows whether this node is connected',
  network_unreachable: 'run souk doctor and souk peers: this node is not connected to the network',
  unreachable: 'try again: the provider may be restarting',
  not_served: 'the provider may have removed the API; find others with souk search',
  signature_refused: 'do not use this API: a node offers a manifest that the provider did not sign',
  expired: 'the provider must start its node, which signs the manifest again',
  rolled_back: 'the provider must serve its newest revision',
  name_conflict: 'call it as name@provider, or bind the name with souk pin',
  lookup_timeout: 'run souk doctor and souk peers'
}

/** Looks up an API without the cache and reports the step that failed. Rejects only with `invalid_request`. */
export async function why(souk: Pick<Souk, 'resolve'>, api: string, signal: AbortSignal): Promise<WhyView> {
  try {
    const { signed, owners } = await souk.resolve(api, { signal, refresh: true })
    const { state } = signed.manifest
    const isShown = state === 'published' || state === 'deprecated'
    const callable = isShown && owners.length > 0
    const step = isShown && !callable ? 'unreachable' : state === 'published' ? 'ok' : state
    const detail = isShown && !callable ? 'The API is known, but no node that serves it was found.' : STATES[state]
    const peers = owners.map(({ id }) => id)
    return { api, callable, step, detail, id: signed.id, owners: peers, candidates: [], hint: HINTS[step] ?? null }
  } catch (thrown) {
    const error = asSoukError(thrown)
    // An invalid name is an error of the client, so there is nothing to explain.
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
