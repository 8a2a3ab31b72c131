import type { Chain } from '../../lib/interface/chain.ts'
import type { Ledger } from '../../lib/interface/ledger.ts'
import type { CallLog, Documents } from '../../lib/interface/store.ts'

/** A process that dies at a planned instant, as by kill -9: pending operations never complete, and new ones never start. */
export interface Mortal {
  readonly isDead: boolean
  /** The instants so far: before and after each disk write and each broadcast. */
  readonly lived: readonly string[]
  chain(chain: Chain): Chain
  documents(documents: Documents): Documents
  ledger(ledger: Ledger): Ledger
  calls(calls: CallLog): CallLog
  kill(): void
}

/** Decides whether the process dies at the next instant. */
export type Death = (lived: readonly string[], next: string) => boolean

/** @param dieAt the index of the instant, or a function that selects it; by default the process lives until it is killed */
export function mortal(dieAt: number | Death = Infinity): Mortal {
  const lived: string[] = []
  let isDead = false
  const never = new Promise<never>(() => undefined)
  const instant = (name: string): void => {
    if (typeof dieAt === 'number' ? lived.length === dieAt : dieAt(lived, name)) isDead = true
    else lived.push(name)
  }
  const around = <T extends object>(target: T, counted: readonly string[]): T =>
    new Proxy(target, {
      get(_, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function' || typeof name !== 'string') return member
        return async (...args: unknown[]): Promise<unknown> => {
          const isCounted = counted.includes(name)
          if (isCounted && !isDead) instant(`before ${name}`)
          if (isDead) return never
          const result: unknown = await Reflect.apply(member, target, args)
          if (isCounted && !isDead) instant(`after ${name}`)
          return isDead ? never : result
        }
      }
    })
  return {
    get isDead() {
      return isDead
    },
    lived,
    chain: (chain) => around(chain, ['broadcast']),
    documents: (documents) => around(documents, ['put', 'insert', 'replace', 'delete']),
    ledger: (ledger) => around(ledger, ['book', 'draw']),
    calls: (calls) => around(calls, ['append']),
    kill: () => (isDead = true)
  }
}
