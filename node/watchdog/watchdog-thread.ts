import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { type Debugger, Session } from 'node:inspector'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { WASI as WasiClass } from 'node:wasi'
import { Worker, workerData } from 'node:worker_threads'

/** What the thread starts with. Limits come along: importing their file would cost the thread memory. */
export interface WatchdogInit {
  /** Beats of the main thread, and the ticks of this thread without a new beat that make a hang. */
  readonly shared: Int32Array<SharedArrayBuffer>
  readonly tickMs: number
  readonly lateTicks: number
  readonly stackMs: number
  readonly framesMax: number
  readonly nameCharsMax: number
  readonly exitMs: number
  readonly exitCode: number
}

const init = workerData as WatchdogInit
const { shared, tickMs, exitCode } = init
const [BEATS, TICKS_MAX] = [0, 1]

let seen = Atomics.load(shared, BEATS)
let silentTicks = 0
let lastTickAt = performance.now()
setTimeout(tick, tickMs)

function tick(): void {
  const now = performance.now()
  const isLate = now - lastTickAt > init.lateTicks * tickMs
  lastTickAt = now
  if (hasTurned()) silentTicks = 0
  else if (!isLate) silentTicks++
  if (silentTicks >= Atomics.load(shared, TICKS_MAX)) void onHang()
  else setTimeout(tick, tickMs)
}

/** Whether the main loop has turned since the last look. */
function hasTurned(): boolean {
  const beats = Atomics.load(shared, BEATS)
  const isNew = beats !== seen
  seen = beats
  return isNew
}

async function onHang(): Promise<void> {
  const stack = await mainStack()
  if (stack === 'debugged' || hasTurned()) {
    silentTicks = 0
    lastTickAt = performance.now()
    setTimeout(tick, tickMs)
    resumeMain()
    return
  }
  await killLater()
  const seconds = Math.round((silentTicks * tickMs) / 100) / 10
  const head = `The event loop has not turned for ${seconds} s. The process ends with exit code ${exitCode}, to be started again.`
  const where =
    stack === 'native'
      ? [`No stack: the main thread is in native code, which did not return within ${init.stackMs / 1_000} s.`]
      : ['The main thread is at:', ...stack.map((line) => `  ${line}`)]
  const text = [head, ...where].map((line) => `souk: ${line}\n`).join('')
  try {
    // process.stderr of a thread is written by the main thread, which hangs.
    writeSync(2, text)
  } catch {
    // Nobody reads stderr. That changes nothing.
  }
  exitProcess()
}

type Stack = readonly string[] | 'debugged' | 'native'

const files = new Map<string, string>()
/** Never disconnected: Node.js aborts when a session ends while another debugger holds the main thread. */
let session: Session | undefined
let isHeld = false
let isPauseOurs = false
let onPaused = (_frames: readonly Debugger.CallFrame[]): void => {}

/** Where the main thread is. `debugged`: somebody's debugger holds it. `native`: it reaches no JavaScript statement. */
async function mainStack(): Promise<Stack> {
  const found = Promise.withResolvers<Stack>()
  const timer = setTimeout(() => found.resolve('native'), init.stackMs)
  onPaused = (frames) => found.resolve(isPauseOurs ? print(frames) : 'debugged')
  const pause = () => {
    if (isHeld) return found.resolve('debugged')
    isPauseOurs = true
    session?.post('Debugger.pause')
  }
  try {
    // A main thread that is held already says so before it answers to `Debugger.enable`.
    if (session === undefined) {
      session = connect()
      session.post('Debugger.enable', pause)
    } else pause()
    return await found.promise
  } catch {
    return 'native'
  } finally {
    clearTimeout(timer)
    onPaused = resumeMain
  }
}

function connect(): Session {
  const made = new Session()
  made.connectToMainThread()
  made.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => files.set(scriptId, url))
  made.on('Debugger.resumed', () => {
    isHeld = false
  })
  made.on('Debugger.paused', ({ params }) => {
    isHeld = true
    onPaused(params.callFrames)
  })
  return made
}

function resumeMain(): void {
  if (isPauseOurs) session?.post('Debugger.resume')
  isPauseOurs = false
}

/** Function, file and line: never a value, which could be somebody's secret. */
function print(frames: readonly Debugger.CallFrame[]): string[] {
  return frames.slice(0, init.framesMax).map(({ functionName, location: { scriptId, lineNumber } }) => {
    const name = functionName.replace(/[^\w$.#<> ]/g, '?').slice(0, init.nameCharsMax)
    return `${name === '' ? '(anonymous)' : name} (${fileOf(files.get(scriptId) ?? '')}:${lineNumber + 1})`
  })
}

function fileOf(url: string): string {
  if (url.startsWith('node:')) return url
  // Code without a file may carry its own text as its address.
  if (!url.startsWith('file:')) return 'generated code'
  return fileURLToPath(url).replace(/[\n\r]/g, '?')
}

/**
 * Kills the process after a while, from a thread of its own: a full pipe holds up the last lines, and exit(3) waits for the
 * threads of libuv. Resolves when that thread runs: none can start once exit(3) has begun.
 */
async function killLater(): Promise<void> {
  const kill = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${init.exitMs})`
  try {
    await once(new Worker(kill, { eval: true, execArgv: [] }), 'online')
  } catch {
    // Without memory for another thread, the exit is all there is.
  }
}

/**
 * `process.exit` in a thread ends the thread only. WASI's `proc_exit` is exit(3) of the C library, which ends the process whatever
 * its main thread does.
 */
function exitProcess(): void {
  try {
    // Loaded here: it warns that it is experimental when it is loaded.
    const { WASI } = createRequire(import.meta.url)('node:wasi') as { WASI: typeof WasiClass }
    const wasi = new WASI({ version: 'preview1', returnOnExit: false })
    wasi.initialize({ exports: { memory: new WebAssembly.Memory({ initial: 0 }) } })
    const functions = wasi.wasiImport as { proc_exit(code: number): void }
    functions.proc_exit(exitCode)
  } catch {
    process.kill(process.pid, 'SIGKILL')
  }
}
