import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { type Debugger, Session } from 'node:inspector'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { WASI as WasiClass } from 'node:wasi'
import { Worker, workerData } from 'node:worker_threads'

/** The thread’s input. It includes limits, because importing the limits file would cost the thread memory. */
export interface WatchdogInit {
  /** Beats of the main thread, and the number of ticks without a beat that counts as a hang. */
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
// Returns the garbage of the thread’s start to the system: 3 MB, which V8 alone would keep.
globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' })

function tick(): void {
  const now = performance.now()
  const isLate = now - lastTickAt > init.lateTicks * tickMs
  lastTickAt = now
  if (hasTurned()) silentTicks = 0
  else if (!isLate) silentTicks++
  if (silentTicks >= Atomics.load(shared, TICKS_MAX)) void onHang()
  else setTimeout(tick, tickMs)
}

/** Whether the main loop has turned since the last check. */
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
    // A thread’s process.stderr is written by the main thread, which hangs.
    writeSync(2, text)
  } catch {
    // Ignore a closed stderr.
  }
  exitProcess()
}

type Stack = readonly string[] | 'debugged' | 'native'

const files = new Map<string, string>()
/** Never disconnected: Node.js aborts if a session ends while another debugger pauses the main thread. */
let session: Session | undefined
let isHeld = false
let isPauseOurs = false
let onPaused = (_frames: readonly Debugger.CallFrame[]): void => {}

/** Finds the stack of the main thread. `debugged`: another debugger pauses it. `native`: it reaches no JavaScript statement. */
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
    // A main thread that is paused already reports it before `Debugger.enable` returns.
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

/** Prints function, file and line, but no values, which could be secrets. */
function print(frames: readonly Debugger.CallFrame[]): string[] {
  return frames.slice(0, init.framesMax).map(({ functionName, location: { scriptId, lineNumber } }) => {
    const name = functionName.replace(/[^\w$.#<> ]/g, '?').slice(0, init.nameCharsMax)
    return `${name === '' ? '(anonymous)' : name} (${fileOf(files.get(scriptId) ?? '')}:${lineNumber + 1})`
  })
}

function fileOf(url: string): string {
  if (url.startsWith('node:')) return url
  // The URL of code without a file may contain its source text.
  if (!url.startsWith('file:')) return 'generated code'
  return fileURLToPath(url).replace(/[\n\r]/g, '?')
}

/**
 * Kills the process after a delay, from a thread of its own: a full pipe can block the last lines, and exit(3) waits for libuv’s threads.
 * Resolves when that thread has set its timer. A thread that still starts once exit(3) has begun aborts the process, with another exit code.
 */
async function killLater(): Promise<void> {
  const kill = `
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${init.exitMs})
    require('node:worker_threads').parentPort.postMessage('set')`
  try {
    await once(new Worker(kill, { eval: true, execArgv: [] }), 'message')
  } catch {
    // Without memory for a further thread, rely on the exit alone.
  }
}

/** In a thread, `process.exit` ends only the thread. WASI’s `proc_exit` calls exit(3), which ends the process even if the main thread hangs. */
function exitProcess(): void {
  try {
    // Load it only here, because loading prints an experimental warning.
    const { WASI } = createRequire(import.meta.url)('node:wasi') as { WASI: typeof WasiClass }
    const wasi = new WASI({ version: 'preview1', returnOnExit: false })
    wasi.initialize({ exports: { memory: new WebAssembly.Memory({ initial: 0 }) } })
    const functions = wasi.wasiImport as { proc_exit(code: number): void }
    functions.proc_exit(exitCode)
  } catch {
    process.kill(process.pid, 'SIGKILL')
  }
}
