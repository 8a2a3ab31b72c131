import type { AdminClient } from '../../admin/client.ts'
import type { Terminal } from './terminal.ts'

/** What takes longer than this is seen to go on. */
const QUIET_MS = 1_000
const TICK_MS = 1_000

/** Shows on a terminal, in a line that goes again, that something goes on and for how long. */
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

/** The same for everything that a node is asked for. */
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
