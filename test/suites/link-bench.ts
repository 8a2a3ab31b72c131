import assert from 'node:assert/strict'
import { LINK_CLOSE_MS } from '../../lib/base/limits/link.ts'
import type { BulkSource, Channel, Link, PeerAddress } from '../../lib/interface/link.ts'
import { eventually } from '../helpers/eventually.ts'

/** Two links that can reach each other, not started. */
export interface LinkPair {
  readonly a: Link
  readonly b: Link
  /** The addresses of a and b for each other, known once the links run. */
  address(of: Link): PeerAddress
  /** An unreachable peer. */
  readonly nobody: PeerAddress
  start(): Promise<void>
  /** Advances the time of the links. */
  advance(ms: number): Promise<void>
  /** Releases everything, in any state. */
  dispose(): Promise<void>
}

export const NEVER = new AbortController().signal
export const MiB = 1024 * 1024
export const BOUND_MS = 5_000
export const PROTOCOL = '/test/echo/1.0.0'
export const TAG = Uint8Array.from({ length: 17 }, (_, i) => i)

/** Waits for the stop of a link, which waits for its peers by the clock of the test. */
export async function stopped(stopping: Promise<void>, advance: (ms: number) => Promise<void>): Promise<void> {
  let isOver = false
  const ended = stopping.finally(() => (isOver = true))
  await eventually('the stop', BOUND_MS, async () => {
    await advance(LINK_CLOSE_MS)
    return isOver ? true : undefined
  })
  await ended
}

/** All events of one end of a channel. */
export interface Heard {
  readonly channel: Channel
  readonly frames: Uint8Array[]
  readonly closes: Array<Error | undefined>
}

export interface Bulk {
  readonly peer: string
  readonly tag: Uint8Array
  readonly source: BulkSource
}

/** One link with everything it received. */
export class Side {
  readonly link: Link
  readonly heard: Heard[] = []
  readonly bulks: Bulk[] = []

  constructor(link: Link) {
    this.link = link
    link.onChannel = (channel) => {
      const heard: Heard = { channel, frames: [], closes: [] }
      channel.onFrame = (frame) => heard.frames.push(frame)
      channel.onClose = (error) => heard.closes.push(error)
      this.heard.push(heard)
    }
    link.onBulk = (peer, tag, source) => this.bulks.push({ peer, tag, source })
  }

  of(channel: Channel): Heard {
    const heard = this.heard.find((one) => one.channel === channel)
    assert.ok(heard !== undefined, 'the channel was never announced')
    return heard
  }

  channel(): Promise<Heard> {
    return eventually('a channel', BOUND_MS, () => this.heard[0])
  }

  bulk(): Promise<Bulk> {
    return eventually('a bulk stream', BOUND_MS, () => this.bulks.shift())
  }
}

export interface Bench {
  readonly pair: LinkPair
  readonly a: Side
  readonly b: Side
  connect(): Promise<{ ours: Heard; theirs: Heard }>
  /** A bulk stream from a to b. */
  openBulk(): Promise<{ sink: Awaited<ReturnType<Channel['openBulk']>>; source: BulkSource }>
}

export const count = (heard: Heard, frames: number) =>
  eventually(`${frames} frames`, BOUND_MS, () => (heard.frames.length >= frames ? true : undefined))

export const closed = (heard: Heard) =>
  eventually('the end', BOUND_MS, () => (heard.closes.length > 0 ? true : undefined))
