import { SoukError } from '../../lib/base/errors.ts'
import { serveTasks } from '../../protocols/description-worker/serve-tasks.ts'

const task =
  <I, O>(run: (input: I) => O) =>
  () =>
    Promise.resolve(run)

/** The effects that a hostile description may have on its reader. */
export const HOSTILE_TASKS = {
  double: task((value: number) => value * 2),
  pid: task(() => process.pid),
  environment: task(() => Object.keys(process.env)),
  loop: task(() => {
    for (;;);
  }),
  sleep: task(() => new Promise<never>(() => {})),
  backtrack: task(() => /^(a+)+$/.test(`${'a'.repeat(60)}!`)),
  refuse: task(() => {
    throw new SoukError('invalid_request', 'No such thing.', { members: { at: 7 } })
  }),
  complain: task(() => {
    throw new SoukError('invalid_request', 'x'.repeat(1e6))
  }),
  fail: task(() => {
    throw new TypeError('cannot read a of undefined')
  }),
  recurse: task(() => {
    const deeper = (depth: number): number => deeper(depth + 1) + 1
    return deeper(0)
  }),
  objects: task(() => {
    const all: unknown[] = []
    for (;;) all.push({ one: `${all.length}` })
  }),
  array: task(() => {
    const all: unknown[] = []
    for (;;) all.push(Array.from<number>({ length: 3e7 }).fill(1.5))
  }),
  map: task(() => {
    const all: unknown[] = []
    for (;;) all.push(new Map(Array.from({ length: 1e6 }, (_, n) => [n, n])))
  }),
  outgrow: task((bytes: number) => Buffer.alloc(bytes, 1).length),
  repeat: task(() => {
    const text = 'x'.repeat(1e6)
    return Array.from({ length: 100 }, () => ({ text }))
  }),
  share: task(() => {
    const shared = { text: 'x'.repeat(1e6) }
    return Array.from({ length: 100 }, () => shared)
  }),
  exit: task(() => process.exit(0)),
  crash: task(() => process.kill(process.pid, 'SIGSEGV'))
}

serveTasks(HOSTILE_TASKS)
