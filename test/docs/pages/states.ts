import { CHANNEL_MOVES, type ChannelPhase } from '../../../lib/interface/channel.ts'
import { LISTING_MOVES, type ListingState } from '../../../lib/interface/manifest.ts'
import { SUBSCRIPTION_MOVES, type SubscriptionState } from '../../../lib/interface/subscription.ts'
import { KEY_STATES, type KeyState } from '../../../node/keys/state.ts'
import { code, NOTICE, table } from '../markdown.ts'

/** The meaning of each state. The type requires one for each state. */
const LISTING: Readonly<Record<ListingState, string>> = {
  draft: 'Registered, but not published.',
  published: 'Everyone can find and call the API.',
  paused: 'Visible, but calls are refused with `api_paused`. The provider paused it, or a health check failed.',
  deprecated: 'Callable as before. Each response announces the end date.',
  retired: 'Ended permanently. Calls are refused with `api_retired`. The name stays reserved for 180 days.'
}

const SUBSCRIPTION: Readonly<Record<SubscriptionState, string>> = {
  incomplete: 'Requested, but not yet confirmed by the seller. Only the consumer’s node has it.',
  trialing: 'In the free trial. Calls are accepted.',
  active: 'The period is paid. Calls are accepted.',
  paused: 'No calls and no charges. The holder paused it, or the period ended without a call since.',
  canceling: 'Calls are accepted until the period ends. It is not renewed.',
  canceled: 'Ended permanently.'
}

const KEY: Readonly<Record<KeyState, string>> = {
  active: 'Accepted.',
  rotating: 'Accepted until the overlap ends. A new key replaces it.',
  disabled: 'Refused until it is enabled.',
  expired: 'Refused, because it has expired.',
  revoked: 'Refused permanently.'
}

const CHANNEL: Readonly<Record<ChannelPhase, string>> = {
  open: 'Calls are paid through the channel.',
  closing: 'The payer signs nothing more. The owner claims its earnings and refunds the rest.',
  withdrawing: 'The payer withdraws its money without the owner, after the channel’s delay.',
  disputed: 'The owner’s books are wrong. No more calls are paid through the channel.',
  closed: 'All money is claimed or refunded.'
}

type Moves = Readonly<Record<string, readonly string[]>>

export function statesPage(): string {
  const keys = Object.entries(KEY_STATES).map(([state, { refusal, moves }]) => {
    const ways = Object.entries<readonly string[]>(moves).map(([by, to]) => `${to.map(code).join(' or ')} (${by})`)
    return [code(state), KEY[state as KeyState], refusal === undefined ? '–' : code(refusal), ways.join(', ') || '–']
  })
  const keyMoves = Object.fromEntries(
    Object.entries(KEY_STATES).map(([state, { moves }]) => [state, Object.values<readonly string[]>(moves).flat()])
  )
  return `${NOTICE}

# States

The states of listings, subscriptions, keys and channels. The tables come from the code, which allows no other transitions.

## A listing

Changed by \`souk api register\`, \`pause\`, \`resume\`, \`deprecate\`, \`retire\`.

${machine(LISTING_MOVES, LISTING)}

## A subscription

See [plans and subscriptions](../explanation/plans.md#a-subscription). In states that accept no calls, calls are refused with
\`subscription_inactive\`.

${machine(SUBSCRIPTION_MOVES, SUBSCRIPTION)}

## A consumer key

Changed by \`souk key rotate\`, \`disable\`, \`enable\`, \`revoke\`. *time* is the key's expiry. See [consumer keys](../how-to/keys.md).

${diagram(keyMoves)}

${table(['State', 'Meaning', 'Refused with', 'May become'], keys)}

## A payment channel

Recorded by both payer and owner; see [payments](../explanation/payments.md#channel-states).

${machine(CHANNEL_MOVES, CHANNEL)}
`
}

function machine(moves: Moves, meanings: Readonly<Record<string, string>>): string {
  const rows = Object.entries(moves).map(([state, next]) => {
    return [code(state), meanings[state] ?? '', next.map(code).join(', ') || '–']
  })
  return `${diagram(moves)}\n\n${table(['State', 'Meaning', 'May become'], rows)}`
}

function diagram(moves: Moves): string {
  const arrows = Object.entries(moves).flatMap(([state, next]) =>
    [...new Set(next)].map((to) => `  ${state} --> ${to}`)
  )
  const ends = Object.entries(moves).flatMap(([state, next]) => (next.length === 0 ? [`  ${state} --> [*]`] : []))
  const first = Object.keys(moves)[0] ?? ''
  return ['```mermaid', 'stateDiagram-v2', `  [*] --> ${first}`, ...arrows, ...ends, '```'].join('\n')
}
