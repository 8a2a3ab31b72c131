import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { SetupError } from '../../setup-error.ts'
import { mine } from './mine.ts'

/** A running local EVM node. */
export interface Anvil {
  readonly url: string
  close(): Promise<void>
}

export interface AnvilOptions {
  readonly port: number
  readonly host: string
  readonly chainId: number
  /** At intervals, as `mine` does it, or a block per transaction. */
  readonly mining: 'interval' | 'instant'
  /** Keeps the chain in this file between runs. */
  readonly stateFile?: string
}

/** Below the time for the process that waits for it, so that the error names the chain. */
const READY_MS = 60_000
const STOP_MS = 5_000
/**
 * Number of states kept in memory. Anvil would write older ones to the user’s home, and nothing reads them. Each contains the hashes
 * of all earlier blocks, so many of them fill the memory of a chain that runs for days.
 */
const STATES_KEPT = { interval: 32, instant: 512 }
/** Roughly Base’s fee, in wei. */
const BASE_FEE = 10_000_000

/** @throws SetupError `start_failed` if anvil is not installed or does not become ready */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const child = spawn(binary(), argumentsOf(options), { stdio: ['ignore', 'pipe', 'pipe'] })
  const killed = () => void child.kill('SIGKILL')
  process.once('exit', killed)
  try {
    const url = `http://${await listening(child)}`
    const ended = new AbortController()
    child.once('exit', () => ended.abort())
    if (options.mining === 'interval') void mine(url, ended.signal)
    const close = () => stop(child).finally(() => process.off('exit', killed))
    return { url, close }
  } catch (error) {
    await stop(child)
    process.off('exit', killed)
    throw error
  }
}

/** One slot per epoch makes `safe` and `finalized` follow the head instead of trailing it by 64 blocks. */
function argumentsOf({ port, host, chainId, mining, stateFile }: AnvilOptions): string[] {
  const numbers = {
    port,
    'chain-id': chainId,
    accounts: 0,
    'slots-in-an-epoch': 1,
    'block-base-fee-per-gas': BASE_FEE,
    'prune-history': STATES_KEPT[mining]
  }
  return [
    ...Object.entries(numbers).flatMap(([name, value]) => [`--${name}`, String(value)]),
    '--host',
    host,
    ...(mining === 'interval' ? ['--no-mining'] : []),
    ...(stateFile === undefined ? [] : ['--state', stateFile, '--state-interval', '5'])
  ]
}

/** The binary from npm’s package for this platform, else `anvil` on the PATH. */
function binary(): string {
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch as string] ?? process.arch
  const name = `@foundry-rs/anvil-${process.platform}-${architecture}/bin/anvil${process.platform === 'win32' ? '.exe' : ''}`
  try {
    // Resolve through the package that depends on it: package managers may not install the binary beside this package.
    const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
    return createRequire(wrapper).resolve(name)
  } catch {
    return 'anvil'
  }
}

async function listening(child: ChildProcess): Promise<string> {
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new Error('anvil has no output')
  const words: string[] = []
  stderr.setEncoding('utf8').on('data', (chunk: string) => words.push(chunk))
  const late = AbortSignal.timeout(READY_MS)
  const died = once(child, 'exit', { signal: late }).then(
    () => Promise.reject(new SetupError('start_failed', `The play chain (anvil) ended: ${words.join('').trim()}`)),
    (error: unknown) => Promise.reject(missing(error))
  )
  const address = new Promise<string>((resolve) => {
    createInterface({ input: stdout }).on('line', (line) => {
      const found = /^Listening on (?<address>\S+)$/.exec(line)?.groups?.['address']
      if (found !== undefined) resolve(found)
    })
  })
  const found = await Promise.race([address, died])
  died.catch(() => undefined)
  return found
}

function missing(error: unknown): Error {
  const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT'
  if (!isAbsent) return new SetupError('start_failed', 'The play chain (anvil) did not get ready.', { cause: error })
  return new SetupError('start_failed', 'The play chain needs anvil, which is not installed (43 MB).', {
    hint: 'npm install --global @foundry-rs/anvil@1.7.1'
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await exited
  clearTimeout(force)
}
