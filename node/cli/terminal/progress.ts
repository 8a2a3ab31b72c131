import type { AdminClient } from '../../admin/client.ts'
import type { Terminal } from './terminal.ts'

/** Operations that take longer than this show progress. */
const QUIET_MS = 1_000
const TICK_MS = 1_000

/** Shows a temporary line with the operation and its duration, on a terminal. */
export async function during<T>(terminal: Terminal, what: string, work: Promise<T>): Promise<T> {
  const { progress } = terminal
  if (progress === undefined) return work
  const startedAt = performance.now()
  let ticking: NodeJS.Timeout | undefined
  const tell = () => progress(`${what}… ${Math.round((performance.now() - startedAt) / 1000)} s`)
  const quiet = setTimeout(() => {
    tell()
    ticking = setInterval(tell, TICK_MS)
  }, QUIET_MS)
  try {
    return await work
  } finally {
    clearTimeout(quiet)
    clearInterval(ticking)
    progress('')
  }
}

/** Shows progress for all requests to a node. */
export function withProgress(client: AdminClient, terminal: Terminal): AdminClient {
  return new Proxy(client, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        const answer: unknown = Reflect.apply(member, target, args)
        return answer instanceof Promise ? during(terminal, 'Waiting for the node', answer) : answer
      }
    }
  })
}
