import assert from 'node:assert/strict'
import {
  type AsyncCommand,
  assert as assertProperty,
  asyncModelRun,
  asyncProperty,
  commands,
  constantFrom,
  integer,
  nat,
  option,
  tuple
} from 'fast-check'
import { isSoukError, limits, systemRandom } from '../../../lib/index.ts'
import type { Coherence } from '../../../node/accounts/coherence.ts'
import { createKeys, type KeyInfo, type Keys } from '../../../node/keys/keys.ts'
import { KEY_STATES, type KeyAction, type KeyState, keyState } from '../../../node/keys/state.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { memoryDocuments } from '../ingress/harness.ts'

const HOUR = 3_600_000

/** The expected state of a key, from the state table and the requested times only. */
interface ModelKey {
  readonly id: string
  readonly key: string
  readonly lineage: string
  state: KeyState
  /** The state that `enable` restores. */
  before: KeyState
  /** The time at which the key expires. */
  endsAt: number
}

interface Model {
  now: number
  readonly keys: ModelKey[]
}

interface Real {
  readonly clock: ManualClock
  readonly keys: Keys
  /** Another process on the same store. */
  readonly other: Keys
}

type Command = AsyncCommand<Model, Real>

/** Applies the table's moves that time causes. */
function passTime(model: Model, ms: number): void {
  model.now += ms
  for (const key of model.keys) {
    if (model.now < key.endsAt) continue
    const [next] = 'time' in KEY_STATES[key.state].moves ? ['expired' as const] : []
    key.state = next ?? key.state
  }
}

/** @returns the allowed next states; empty if the action was done before and may be repeated; undefined if it is an error */
function targets(state: KeyState, action: KeyAction): readonly KeyState[] | undefined {
  const moves: Readonly<Record<string, readonly KeyState[] | undefined>> = KEY_STATES[state].moves
  if (moves[action] !== undefined) return moves[action]
  const done: Record<KeyAction, readonly KeyState[]> = {
    rotate: [],
    disable: ['disabled'],
    enable: ['active', 'rotating'],
    revoke: ['revoked']
  }
  return done[action].includes(state) ? [] : undefined
}

async function agree(model: Model, { keys, other }: Real): Promise<void> {
  const listed = new Map((await keys.list()).map((info) => [info.id, info]))
  assert.equal(listed.size, model.keys.length)
  for (const { id, key, state, lineage } of model.keys) {
    const info = listed.get(id)
    assert.equal(info?.state, state)
    assert.equal(info.lineage, lineage)
    for (const at of [keys, other]) {
      const heard = await Promise.resolve()
        .then(() => at.verify(key))
        .catch((error: unknown) => (isSoukError(error) ? error.code : assert.fail(String(error))))
      const { refusal } = KEY_STATES[state]
      if (refusal === undefined) assert.equal(typeof heard === 'string' ? heard : heard.id, lineage)
      else assert.equal(heard, refusal)
    }
  }
}

class Issue implements Command {
  readonly lifeMs: number | undefined
  constructor(lifeMs: number | undefined) {
    this.lifeMs = lifeMs
  }
  check = () => true
  async run(model: Model, real: Real): Promise<void> {
    const expiresAt = this.lifeMs === undefined ? undefined : model.now + this.lifeMs
    const issued = await real.keys.issue(expiresAt === undefined ? {} : { expiresAt })
    model.keys.push(modelled(issued, expiresAt))
    await agree(model, real)
  }
  toString = () => `issue(${this.lifeMs ?? 'for good'})`
}

class Do implements Command {
  readonly action: KeyAction
  readonly which: number
  readonly overlapMs: number
  constructor(action: KeyAction, which: number, overlapMs: number) {
    this.action = action
    this.which = which
    this.overlapMs = overlapMs
  }
  check = ({ keys }: Readonly<Model>) => keys.length > 0
  async run(model: Model, real: Real): Promise<void> {
    const key = model.keys[this.which % model.keys.length]
    assert.ok(key !== undefined)
    const wanted = targets(key.state, this.action)
    const doing =
      this.action === 'rotate'
        ? real.keys.rotate(key.id, { overlapMs: this.overlapMs })
        : real.keys[this.action](key.id)
    if (wanted === undefined) {
      await assert.rejects(doing, { code: 'invalid_request' })
      return agree(model, real)
    }
    const told = await doing
    if (wanted.length > 0) this.#model(model, key, told)
    await agree(model, real)
  }
  #model(model: Model, key: ModelKey, told: KeyInfo & { key?: string }): void {
    if (this.action === 'rotate') {
      const old = { ...key }
      key.state = this.overlapMs === 0 ? 'revoked' : 'rotating'
      key.endsAt = Math.min(key.endsAt, model.now + this.overlapMs)
      model.keys.push({ ...modelled(told as KeyInfo & { key: string }, told.expiresAt), lineage: old.lineage })
      passTime(model, 0)
    } else if (this.action === 'disable') [key.before, key.state] = [key.state, 'disabled']
    else if (this.action === 'enable') key.state = key.before
    else key.state = 'revoked'
  }
  toString = () => `${this.action}(${this.which}, ${this.overlapMs})`
}

class Wait implements Command {
  readonly ms: number
  constructor(ms: number) {
    this.ms = ms
  }
  check = () => true
  async run(model: Model, real: Real): Promise<void> {
    passTime(model, this.ms)
    await real.clock.advance(this.ms)
    await agree(model, real)
  }
  toString = () => `wait(${this.ms})`
}

function modelled({ id, key, lineage }: KeyInfo & { key: string }, expiresAt: number | undefined): ModelKey {
  return { id, key, lineage, state: 'active', before: 'active', endsAt: expiresAt ?? Infinity }
}

/** The coherence of processes that all respond. */
function together(): Coherence {
  const heard = new Set<(text: string | undefined) => void>()
  return {
    mayKeep: () => true,
    changed: async (_topic: string, text: string) => heard.forEach((hear) => hear(text)),
    listen: (_topic: string, hear: (text: string | undefined) => void) => {
      heard.add(hear)
      return () => void heard.delete(hear)
    }
  }
}

describe('the states of a consumer key', () => {
  it('follow the table for any sequence of actions, in every process that shares them', async function () {
    const hours = integer({ min: 0, max: 30 }).map((count) => count * HOUR)
    const action = constantFrom<KeyAction[]>('rotate', 'disable', 'enable', 'revoke')
    const steps = [
      option(hours, { nil: undefined }).map((life) => new Issue(life === undefined ? life : life + HOUR)),
      tuple(action, nat(9), hours).map(([what, which, overlap]) => new Do(what, which, overlap)),
      tuple(action, nat(9), hours).map(([what, which, overlap]) => new Do(what, which, overlap)),
      hours.map((ms) => new Wait(ms))
    ]
    await assertProperty(
      asyncProperty(commands(steps, { maxCommands: 25 }), async (cmds) => {
        const clock = manualClock()
        const shared = { documents: memoryDocuments(), coherence: together(), clock, random: systemRandom }
        const create = () => createKeys({ ...shared, secret: Buffer.alloc(32, 1), network: 'dev' })
        const real: Real = { clock, keys: create(), other: create() }
        await asyncModelRun(() => ({ model: { now: clock.now(), keys: [] as ModelKey[] }, real }), cmds)
      }),
      { numRuns: 60 }
    )
  })

  it('lead only to states of the table, and revoked is final', () => {
    const known = Object.keys(KEY_STATES)
    for (const { moves } of Object.values(KEY_STATES)) {
      for (const next of Object.values(moves).flat()) assert.ok(known.includes(next))
    }
    assert.deepEqual(KEY_STATES.revoked.moves, {})
  })

  it('depend only on the stored times', () => {
    const now = 1_000
    assert.equal(keyState({}, now), 'active')
    assert.equal(keyState({ retiresAt: now + 1 }, now), 'rotating')
    assert.equal(keyState({ retiresAt: now }, now), 'expired')
    assert.equal(keyState({ retiresAt: now + 1, expiresAt: now }, now), 'expired')
    assert.equal(keyState({ disabledAt: 1, expiresAt: now }, now), 'expired')
    assert.equal(keyState({ disabledAt: 1, retiresAt: now + 1 }, now), 'disabled')
    assert.equal(keyState({ disabledAt: 1, expiresAt: now, revokedAt: 1 }, now), 'revoked')
    assert.ok(limits.KEY_OVERLAP_MS <= limits.KEY_OVERLAP_MS_MAX)
  })
})
