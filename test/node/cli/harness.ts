import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../../node/main.ts', import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly home: string
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  /** Modules to load before, as `--import` takes them. */
  readonly preload?: string
}

/** One command as a process of its own, run to its end. */
export async function souk(args: readonly string[], options: RunOptions): Promise<Ran> {
  const child = start(args, options)
  child.stdin.end(options.stdin ?? '')
  return ended(child)
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<Ran> {
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

function start(args: readonly string[], { home, env = {}, preload }: RunOptions): ChildProcessWithoutNullStreams {
  const { PATH } = process.env
  return spawn(process.execPath, [...(preload === undefined ? [] : ['--import', preload]), MAIN, ...args], {
    env: { PATH, SOUK_HOME: home, ...env }
  })
}

export interface Ready {
  readonly peer: string
  readonly network: string
  readonly admin: string
  readonly ingress: string | null
  readonly p2p: readonly string[]
  readonly profile: string
}

export interface NodeProcess {
  readonly ready: Ready
  /** Ends it as Ctrl-C does. */
  stop(signal?: NodeJS.Signals): Promise<Ran>
}

/** `souk up --json`, on free ports, once it is ready. */
export async function startNode(home: string, args: readonly string[] = []): Promise<NodeProcess> {
  const ports = ['--p2p-port', '0', '--ingress-port', '0', '--admin-port', '0']
  // Most of what is tested has nothing to do with money.
  const child = start(['up', '--json', '--no-input', '--till', 'metered', ...ports, ...args], { home })
  const end = ended(child)
  const line = await Promise.race([firstLine(child), end])
  if (typeof line !== 'string') throw new Error(`souk up ended with ${line.code}: ${line.stderr}`)
  return {
    ready: JSON.parse(line) as Ready,
    stop(signal = 'SIGINT') {
      child.kill(signal)
      return end
    }
  }
}

function firstLine(child: ChildProcessWithoutNullStreams): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer | string) => {
      text += chunk.toString()
      const end = text.indexOf('\n')
      if (end >= 0) resolve(text.slice(0, end))
    })
  })
}

export interface Upstream {
  readonly url: string
  close(): Promise<void>
}

/** A provider's REST API: gives back what it gets, or three events where those are asked for. */
export async function startUpstream(): Promise<Upstream> {
  const server = createServer((request, response) => {
    if (request.headers.accept?.includes('text/event-stream') === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: 1\n\ndata: 2\n\ndata: 3\n\n')
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const isRefused = body.includes('"refuse"')
      response.writeHead(isRefused ? 422 : 200, { 'content-type': 'application/json' })
      response.end(isRefused ? '{"error":"no"}' : `{"echo":${body === '' ? 'null' : body}}`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}
