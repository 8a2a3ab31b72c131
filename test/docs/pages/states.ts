import { CHANNEL_MOVES, type ChannelPhase } from '../../../lib/interface/channel.ts'
import { LISTING_MOVES, type ListingState } from '../../../lib/interface/manifest.ts'
import { SUBSCRIPTION_MOVES, type SubscriptionState } from '../../../lib/interface/subscription.ts'
import { KEY_STATES, type KeyState } from '../../../node/keys/state.ts'
import { code, NOTICE, table } from '../markdown.ts'

/** The meaning of each state. The type requires one for each state. */
const LISTING: Readonly<Record<ListingState, string>> = {
  draft: 'Registered, and shown to nobody yet.',
  published: 'Anybody finds it and calls it.',
  paused: 'Shown, and its calls are refused with `api_paused`: by its provider, or because a health check failed.',
  deprecated: 'Called as before; every response says when it ends.',
  retired: 'Over for good. Calls are refused with `api_retired`, and the name is held for 180 days.'
}

const SUBSCRIPTION: Readonly<Record<SubscriptionState, string>> = {
  incomplete: 'Asked for, and not known to be sold yet. Only the consumer’s node has it.',
  trialing: 'In its trial. Calls are taken.',
  active: 'Its period is paid for. Calls are taken.',
  paused: 'No calls and no bill: its holder paused it, or its period ended and nobody has called since.',
  canceling: 'Calls are taken until the period ends; it is not renewed.',
  canceled: 'Over for good.'
}

const KEY: Readonly<Record<KeyState, string>> = {
  active: 'Works.',
  rotating: 'Works until its overlap ends; another key has taken its place.',
  disabled: 'Refused until it is enabled again.',
  expired: 'Refused: its time is over.',
  revoked: 'Refused for good.'
}

const CHANNEL: Readonly<Record<ChannelPhase, string>> = {
  open: 'Calls are paid through it.',
  closing: 'The payer signs nothing more. The owner claims what it earned and gives the rest back.',
  withdrawing: 'The payer takes its money out without the owner, after the channel’s delay.',
  disputed: 'The owner showed books that nothing explains. Nothing is paid through it again.',
  closed: 'Nothing of it is anybody else’s any more.'
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

What can be in several states, and how it gets from one to the other. Each of these is one table in the code, and nothing moves in
another way.

## A listing

The API as its provider published it: \`souk api register\`, \`pause\`, \`resume\`, \`deprecate\`, \`retire\`.

${machine(LISTING_MOVES, LISTING)}

## A subscription

Between a consumer and a listing; see [plans and subscriptions](../explanation/plans.md#a-subscription). Calls are refused with
\`subscription_inactive\` where they are not taken.

${machine(SUBSCRIPTION_MOVES, SUBSCRIPTION)}

## A consumer key

\`souk key rotate\`, \`disable\`, \`enable\`, \`revoke\`; *time* is the key's own end. See [consumer keys](../how-to/keys.md).

${diagram(keyMoves)}

${table(['State', 'Meaning', 'Refused with', 'May become'], keys)}

## A payment channel

In the books of its payer and of its owner; see [payments](../explanation/payments.md#channel-states).

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
  const arrows = Object.entries(moves).flatMap(([state, next]) => next.map((to) => `  ${state} --> ${to}`))
  const ends = Object.entries(moves).flatMap(([state, next]) => (next.length === 0 ? [`  ${state} --> [*]`] : []))
  const first = Object.keys(moves)[0] ?? ''
  return ['```mermaid', 'stateDiagram-v2', `  [*] --> ${first}`, ...arrows, ...ends, '```'].join('\n')
}
