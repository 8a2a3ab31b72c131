import { Pool } from 'undici'
import { closedLoop, type LoadShape } from '../closed-loop.ts'
import { openLoop, type PaceShape } from '../open-loop.ts'
import { payload } from '../payload.ts'
import { play } from '../role.ts'

export interface HttpLoad extends LoadShape {
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The request body, and the expected response. Default: a separate payload per worker, both ways. */
  readonly body?: string
  readonly answer?: string
}

/** Calls at fixed times. */
export interface HttpPace extends PaceShape, Pick<HttpLoad, 'origin' | 'path' | 'headers'> {
  readonly connections: number
}

/** A typical client: undici with persistent connections; each response is read in full and checked. */
play(() => {
  const pools = new Map<string, Pool>()
  const poolOf = (origin: string, connections: number): Pool => {
    const key = `${origin} ${connections}`
    const pool = pools.get(key) ?? new Pool(origin, { connections, pipelining: 1 })
    pools.set(key, pool)
    return pool
  }

  async function run({ origin, path, headers, body: given, answer, ...shape }: HttpLoad) {
    const pool = poolOf(origin, shape.concurrency)
    const bodies = Array.from({ length: shape.concurrency }, (_, worker) =>
      given === undefined ? payload(worker) : Buffer.from(given)
    )
    const expected = answer === undefined ? undefined : Buffer.from(answer)
    const sent = { 'content-type': 'application/json', ...headers }
    return closedLoop(shape, async (worker) => {
      const body = bodies[worker] ?? payload(worker)
      const response = await pool.request({ method: 'POST', path, headers: sent, body })
      const received = await response.body.bytes()
      if (response.statusCode === 200 && (expected ?? body).equals(received)) return
      throw new Error(`${origin}${path} answered ${response.statusCode}: ${Buffer.from(received).toString()}`)
    })
  }
  async function pace({ origin, path, headers, connections, ...shape }: HttpPace) {
    const pool = poolOf(origin, connections)
    const sent = { 'content-type': 'application/json', ...headers }
    const body = payload(0)
    return openLoop(shape, async () => {
      const response = await pool.request({ method: 'POST', path, headers: sent, body })
      const received = await response.body.bytes()
      if (response.statusCode !== 200 || !body.equals(received)) throw new Error(`${origin}${path} answered wrongly`)
    })
  }
  return {
    info: {},
    operations: { run, pace },
    stop: () => Promise.all([...pools.values()].map((pool) => pool.destroy()))
  }
})
