import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react'
import type { CallLine, TailItem } from '../../admin/events/webhook-api.ts'
import { open, Problem } from './client.ts'
import { queries } from './queries.ts'

/** Number of recent calls held in memory. */
const CALLS_MAX = 500
/** Shortest time between two redraws, and between two reads of sums: a busy node has many calls per second. */
const SHOW_MS = 250
const SUMS_MS = 2_000
const AGAIN_MS = 2_000

/** Resources of `queries.ts` that an event may have changed, by the first word of its type. */
const CHANGED: Readonly<Record<string, readonly string[]>> = {
  listing: ['apis', 'search', 'listings', 'doctor', 'status'],
  key: ['keys'],
  cap: ['keys'],
  account: ['accounts'],
  subscription: ['subscriptions', 'subscribers'],
  wallet: ['wallet', 'doctor'],
  settlement: ['earnings', 'wallet', 'channels'],
  webhook: ['webhooks']
}
const CHANGED_BY_CALLS = ['apis', 'status', 'series', 'receipts', 'listings', 'subscriptions'] as const

/** The event stream of the node. Keeps its calls, and refetches resources that its events changed. */
class LiveStream {
  readonly #client: QueryClient
  readonly #listeners = new Set<() => void>()
  #coming: CallLine[] = []
  #calls: readonly CallLine[] = []
  #shows: ReturnType<typeof setTimeout> | undefined
  #sums: ReturnType<typeof setTimeout> | undefined

  constructor(client: QueryClient) {
    this.#client = client
  }

  /** Reads the stream until aborted. Reconnects after a failure. */
  async run(signal: AbortSignal): Promise<void> {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      try {
        const items = itemsOf(await open('GET /events', { query: { calls: '1', recent: '1' }, signal }))
        this.#coming = []
        // Events may have been missed, so refetch everything.
        if (!isFirst) void this.#client.invalidateQueries()
        for await (const item of items) this.#take(item)
      } catch (error) {
        if (error instanceof Problem && error.code === 'admin_token_invalid') {
          void this.#client.invalidateQueries({ queryKey: ['session'] })
          return
        }
      }
      await new Promise((done) => setTimeout(done, AGAIN_MS))
    }
  }

  /** Cancels pending timers. */
  end(): void {
    clearTimeout(this.#shows)
    clearTimeout(this.#sums)
    this.#shows = undefined
    this.#sums = undefined
  }

  readonly calls = (): readonly CallLine[] => this.#calls

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #take(item: TailItem): void {
    if (item.type === 'call') {
      this.#coming.unshift(item as unknown as CallLine)
      this.#coming.length = Math.min(this.#coming.length, CALLS_MAX)
      this.#shows ??= setTimeout(() => this.#show(), SHOW_MS)
      this.#sums ??= setTimeout(() => this.#readSums(), SUMS_MS)
    } else {
      this.#invalidate(CHANGED[item.type.split('.')[0] ?? ''] ?? [])
    }
  }

  #show(): void {
    this.#shows = undefined
    this.#calls = [...this.#coming]
    for (const listener of this.#listeners) listener()
  }

  #readSums(): void {
    this.#sums = undefined
    this.#invalidate(CHANGED_BY_CALLS)
  }

  #invalidate(names: readonly string[]): void {
    for (const name of names) void this.#client.invalidateQueries({ queryKey: [name] })
  }
}

const Stream = createContext<LiveStream | undefined>(undefined)

/** Keeps its children up to date with the node. */
export function Live({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient()
  const [stream] = useState(() => new LiveStream(client))
  const { data: session } = useQuery(queries.session())
  const isOut = session?.entered === false
  useEffect(() => {
    if (isOut) return undefined
    const stop = new AbortController()
    void stream.run(stop.signal)
    return () => {
      stop.abort()
      stream.end()
    }
  }, [stream, isOut])
  return <Stream value={stream}>{children}</Stream>
}

const NOTHING = (): readonly CallLine[] => NONE
const NONE: readonly CallLine[] = []
const NOBODY = () => () => undefined

/** Recent calls of the node, newest first. A call appears when it ends. */
export function useCalls(): readonly CallLine[] {
  const stream = useContext(Stream)
  return useSyncExternalStore(stream?.listen ?? NOBODY, stream?.calls ?? NOTHING)
}

/** Values of the `data:` lines. Each value is one line. */
async function* itemsOf({ body }: Response): AsyncGenerator<TailItem, undefined> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    const lines = (rest + read.value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice('data: '.length)) as TailItem
  }
  return undefined
}
