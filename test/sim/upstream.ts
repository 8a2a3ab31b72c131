import { text, utf8 } from '../../lib/base/bytes.ts'
import { SoukError } from '../../lib/base/errors.ts'
import type { Adapter, AdapterReply } from '../../lib/interface/adapter.ts'
import type { Invariants } from './invariants.ts'
import type { Life } from './life.ts'
import type { Rng } from './rng.ts'
import type { World } from './world.ts'

/** The outcome of a request at a provider's API. */
type Mood = 'works' | 'refuses' | 'fails' | 'hangs'

export interface UpstreamInit {
  readonly world: World
  readonly rng: Rng
  readonly invariants: Invariants
  readonly life: Life
  /** True if it responds at once, without faults. */
  readonly isCalm: () => boolean
  readonly delayMs: number
}

/** The API behind an owner. It counts its requests and survives the owner's process. */
export function upstream({ world, rng, invariants, life, isCalm, delayMs }: UpstreamInit): Adapter {
  const moods: readonly Mood[] = ['works', 'works', 'works', 'works', 'works', 'works', 'refuses', 'fails', 'hangs']
  return {
    protocol: 'REST',
    description: { operations: [] },
    async call({ body }, signal) {
      // Like a client with an aborted signal: nothing is sent.
      signal.throwIfAborted()
      const { id } = JSON.parse(text(body as Uint8Array)) as { id: string }
      const mood = isCalm() ? 'works' : rng.pick(moods)
      world.note('upstream', `is asked for ${id.slice(-6)} and ${mood}`)
      invariants.onReached(id, life)
      return new Promise<AdapterReply>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('given up')), { once: true })
        if (mood === 'hangs') return
        void world.after(rng.between(1, isCalm() ? 5 : delayMs), () => {
          if (mood === 'works') invariants.onSucceeded(id)
          if (life.isDead) return
          if (mood === 'fails') reject(new SoukError('upstream_unreachable'))
          else resolve(reply(id, mood === 'works'))
        })
      })
    }
  }
}

export const answerTo = (id: string): string => JSON.stringify({ answer: id })

function reply(id: string, success: boolean): AdapterReply {
  return { status: success ? 200 : 500, headers: [], body: utf8(answerTo(id)), success, upstreamMs: 1 }
}
