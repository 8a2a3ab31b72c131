import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startPaidPeers } from './paid-peers.ts'
import type { Passage } from './passage.ts'
import type { Player } from './player.ts'
import { warmUp } from './samples.ts'
import { measure, type Subject } from './subject.ts'
import type { Ratio, Suite, SuiteResult } from './suite.ts'

/** Calls that are counted, at least. */
const CALLS_MIN = 100
const WINDOW_MS = 1_000

type Kind = 'free' | 'paid'

/** The code of Souk that one call passes, in the consumer node and the owner node. */
export const walk: Suite = {
  name: 'walk',
  async run({ directory, say }) {
    const home = join(directory, 'walk')
    await mkdir(home, { recursive: true })
    await using peers = await startPaidPeers(home)
    say('depositing')
    await warmUp(peers.subjects.paid, [1], 1)
    await peers.finalize()
    const counted = async (kind: Kind) => {
      await warmUp(peers.subjects[kind], [1], CALLS_MIN)
      say(`counting ${kind} calls`)
      return passed(peers.subjects[kind])
    }
    return report({ free: await counted('free'), paid: await counted('paid') })
  }
}

/** Runs in one call, by function and process. */
async function passed(subject: Subject): Promise<Record<string, number>> {
  const nodes = subject.servers.slice(0, 2)
  const every = <T>(operation: string) => Promise.all(nodes.map((node: Player) => node.ask<T>(operation)))
  await every('watchPassage')
  let calls = 0
  while (calls < CALLS_MIN)
    calls += (await measure(subject, { concurrency: 1, warmUpMs: 0, measureMs: WINDOW_MS })).calls
  const passages = await every<Passage>('passage')
  const all = new Map<string, number>()
  for (const [name, runs] of passages.flatMap(Object.entries<number>)) all.set(name, (all.get(name) ?? 0) + runs)
  // Less than half a run a call: timers, batches, retries.
  return Object.fromEntries(
    [...all].map(([name, runs]) => [name, runs / calls] as const).filter(([, runs]) => runs >= 0.5)
  )
}

const fileOf = (name: string): string => name.slice(0, name.indexOf(':'))

function report(passages: Readonly<Record<Kind, Record<string, number>>>): SuiteResult {
  const count = (kind: Kind) => {
    const functions = Object.keys(passages[kind])
    return { functions: functions.length, files: new Set(functions.map(fileOf)).size }
  }
  const [free, paid] = [count('free'), count('paid')]
  const of = (kind: string, what: string) => `${what} of Souk that an ${kind} call passes, both nodes`
  const ratios: Ratio[] = [
    { name: 'unpaid_files', value: free.files, better: 'lower', aim: 60, of: of('unpaid', 'files') },
    { name: 'unpaid_functions', value: free.functions, better: 'lower', aim: 180, of: of('unpaid', 'functions') },
    { name: 'paid_files', value: paid.files, better: 'lower', aim: 75, of: of('paid', 'files').replace('an ', 'a ') }
  ]
  const areas = new Map<string, Record<Kind, number>>()
  for (const kind of ['free', 'paid'] as const) {
    for (const name of Object.keys(passages[kind])) {
      const area = fileOf(name).split('/').slice(0, 2).join('/')
      const counts = areas.get(area) ?? { free: 0, paid: 0 }
      counts[kind]++
      areas.set(area, counts)
    }
  }
  const rows = [...areas.keys()]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((area) => {
      const { free = 0, paid = 0 } = areas.get(area) ?? {}
      return [area, String(free), String(paid)]
    })
  return {
    ratios,
    table: [['', 'functions, unpaid', 'functions, paid'], ...rows],
    notes: [`Functions that run at least every second call, at concurrency 1, by V8's precise coverage.`],
    details: passages
  }
}
