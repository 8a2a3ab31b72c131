import { asSoukError, type Atoms, formatApiRef, formatRequestId, formatUsdc, limits } from '../../lib/index.ts'
import type { CallInit, CallLog, CallRecord, CallTiming, Clock, Souk, Store } from '../../lib/interface/index.ts'
import { GRAPHQL_ERRORS, hasErrorsOnly } from '../graphql-errors.ts'
import { Captures } from './captures.ts'
import type { Events } from './events.ts'
import { publishQuota } from './subscription-events.ts'
import { Feed } from './feed.ts'

/** A finished call, as `souk tail` shows it. */
export interface CallLine {
  /** `owner`: served by this node. `payer`: made from this node. */
  readonly role: 'owner' | 'payer'
  readonly request_id: string
  /** RFC 3339. */
  readonly timestamp: string
  readonly api: string
  readonly status: number
  /** Error code if the response is an error of Souk itself; `graphql_errors` for a GraphQL result without data. */
  readonly code: string | null
  readonly ms: number
  /** Durations that this node knows. For a served call: its own time and the API’s. */
  readonly timing: Partial<CallTiming>
  readonly charged: string
}

/** A finished call in the feed. Every call makes one and few are shown, so `callLine` makes the texts. */
export interface EndedCall extends Omit<CallLine, 'timestamp' | 'charged'> {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly charged: Atoms
}

export function callLine({ role, request_id, at, api, status, code, ms, timing, charged }: EndedCall): CallLine {
  const timestamp = new Date(at).toISOString()
  return { role, request_id, timestamp, api, status, code, ms, timing, charged: formatUsdc(charged) }
}

type Caller = Pick<Souk, 'call' | 'search' | 'resolve' | 'reputation' | 'descriptions' | 'pinned'>

/** Publishes finished calls, without their contents. */
export class WatchedCalls {
  readonly feed = new Feed<EndedCall>(limits.EVENTS_KEPT_MAX)
  readonly captures = new Captures()
  readonly #clock: Clock
  readonly #events: Pick<Events, 'emit'> | undefined

  /** @param events - gets an event when a subscription’s quota runs out */
  constructor(clock: Clock, events?: Pick<Events, 'emit'>) {
    this.#clock = clock
    this.#events = events
  }

  /** Wraps a store, so that calls recorded in it are published. */
  store(store: Store): Store {
    const calls: CallLog = {
      append: (record, effects) => {
        const appended = store.calls.append(record, effects)
        appended.then(
          () => this.feed.tell(this.#served(record)),
          () => undefined
        )
        return appended
      },
      find: (peer, requestId) => store.calls.find(peer, requestId),
      acknowledge: (peer, requestIds) => store.calls.acknowledge(peer, requestIds),
      recent: (query) => store.calls.recent(query),
      usage: () => store.calls.usage(),
      dropResponses: (before) => store.calls.dropResponses(before)
    }
    // Forward all other members unchanged.
    return new Proxy(store, {
      get(target, name) {
        if (name === 'calls') return calls
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      }
    })
  }

  /** Wraps a caller, so that its calls are published. */
  caller(souk: Caller): Caller {
    return {
      search: (query, signal) => souk.search(query, signal),
      resolve: (api, options) => souk.resolve(api, options),
      reputation: (id) => souk.reputation(id),
      pinned: (name) => souk.pinned(name),
      descriptions: souk.descriptions,
      call: watchedCall(souk, { feed: this.feed, captures: this.captures, clock: this.#clock, events: this.#events })
    }
  }

  #served({ requestId, at, api, status, code, outcome, ownerMs, upstreamMs, charged }: CallRecord): EndedCall {
    return {
      role: 'owner',
      request_id: formatRequestId(requestId),
      at,
      api,
      status,
      // Only a GraphQL result without data is void with a status of success.
      code: code ?? (outcome === 'void' && status < 400 ? GRAPHQL_ERRORS : null),
      ms: ownerMs + upstreamMs,
      timing: { owner: ownerMs, upstream: upstreamMs },
      charged
    }
  }
}

/** Receivers of finished calls. */
export interface CallWatch {
  readonly feed: Feed<EndedCall>
  readonly captures: Captures
  readonly clock: Clock
  readonly events: Pick<Events, 'emit'> | undefined
}

/** Wraps `call`, so that each call is published when its response begins or the call fails. */
export function watchedCall(souk: Pick<Souk, 'call'>, watch: CallWatch): Souk['call'] {
  const { feed, captures, clock, events } = watch
  return async (init) => {
    const startedAt = clock.elapsed()
    try {
      const reply = await souk.call(init)
      const { requestId, id: api, status, timing, charged, alert, quota } = reply
      const [request_id, ms, at] = [formatRequestId(requestId), clock.elapsed() - startedAt, clock.now()]
      captures.keep(request_id, init.body)
      const code = hasErrorsOnly(reply) ? GRAPHQL_ERRORS : null
      feed.tell({ role: 'payer', request_id, at, api, status, code, ms, timing, charged })
      if (events !== undefined && alert !== undefined && quota !== undefined && init.subscription !== undefined) {
        await publishQuota(events, alert, init.subscription, { api, quota })
      }
      return reply
    } catch (thrown) {
      const failed = failedCall(init, thrown, clock.elapsed() - startedAt, clock.now())
      if (failed.request_id !== '') captures.keep(failed.request_id, init.body)
      feed.tell(failed)
      throw thrown
    }
  }
}

function failedCall({ api: ref, requestId }: CallInit, thrown: unknown, ms: number, at: number): EndedCall {
  const { code, status } = asSoukError(thrown)
  const api = typeof ref === 'string' ? ref : formatApiRef(ref)
  const request_id = requestId === undefined ? '' : formatRequestId(requestId)
  return { role: 'payer', request_id, at, api, status, code, ms, timing: {}, charged: 0n }
}
