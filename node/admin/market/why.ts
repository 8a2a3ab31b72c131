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

const DETAILS = {
  unreachable: 'The API is known, but no node that serves it was found.',
  payment: 'The API has a price, and this node cannot pay.'
} as const

const HINTS: Readonly<Record<string, string>> = {
  no_provider_record: 'check the name with souk search; souk peers shows whether this node is connected',
  network_unreachable: 'run souk doctor and souk peers: this node is not connected to the network',
  unreachable: 'try again: the provider may be restarting',
  address: 'the provider should run souk doctor: its node announces no address that others can dial',
  dial_direct: 'try again: the provider may be restarting, or its firewall blocks the port; it can run souk doctor',
  dial_relay: 'try again: the provider may be restarting, or between two relays; it can run souk doctor',
  handshake: 'the provider should run souk doctor: another program may have the address of its node',
  manifest: 'try again: the provider’s node may be overloaded',
  payment: 'souk wallet create, then souk wallet deposit; souk doctor shows what is missing',
  not_served: 'the provider may have removed the API; find others with souk search',
  signature_refused: 'do not use this API: a node offers a manifest that the provider did not sign',
  expired: 'the provider must start its node, which signs the manifest again',
  wrong_clock: 'run souk doctor on both machines, and set the clock of the one that is wrong',
  rolled_back: 'the provider must serve its newest revision',
  name_conflict: 'call it as name@provider, or bind the name with souk pin',
  lookup_timeout: 'run souk doctor and souk peers'
}

/**
 * Looks up an API without the cache and reports the step that failed. Rejects only with `invalid_request`.
 * @param canPay - this node has a wallet for priced calls
 */
export async function why(
  souk: Pick<Souk, 'resolve'>,
  api: string,
  canPay: boolean,
  signal: AbortSignal
): Promise<WhyView> {
  try {
    const { signed, owners } = await souk.resolve(api, { signal, refresh: true })
    const { state, price } = signed.manifest
    const isShown = state === 'published' || state === 'deprecated'
    const failed = !isShown
      ? undefined
      : owners.length === 0
        ? 'unreachable'
        : price > 0n && !canPay
          ? 'payment'
          : undefined
    const step = failed ?? (state === 'published' ? 'ok' : state)
    const detail = failed === undefined ? STATES[state] : DETAILS[failed]
    return {
      api,
      callable: isShown && failed === undefined,
      step,
      detail,
      id: signed.id,
      owners: owners.map(({ id }) => id),
      candidates: [],
      hint: HINTS[step] ?? null
    }
  } catch (thrown) {
    const error = asSoukError(thrown)
    // An invalid name is an error of the client, so there is nothing to explain.
    if (error.code === 'invalid_request') throw error
    const { reason, step: place, candidates } = error.members ?? {}
    const step = [place, reason].find((text) => typeof text === 'string') ?? error.code
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
