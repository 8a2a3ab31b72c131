import { Uint8ArrayList } from 'uint8arraylist'
import { concat } from 'uint8arrays/concat'
import { KiB } from '../base/limits/units.ts'

/** The parts of a list that this file uses. */
interface List {
  readonly byteLength: number
  readonly bufs: Uint8Array[]
  length: number
}

type Appended = Parameters<Uint8ArrayList['append']>[number]

/** Parts that are joined when the last ones of a list are smaller than this together. Each part takes about 115 bytes of its own. */
const JOINED_PARTS = 256
const JOINED_BYTES = 32 * KiB
/** V8 removes the first element of a shorter array without moving the others. */
const LONG_PARTS_MIN = 1_024
const CHANGED = Symbol.for('souk.long-lists')

/**
 * uint8arraylist 3 removes the consumed parts of a list one by one, and V8 moves all others each time. libp2p collects what it receives in
 * such lists: a peer that sends a message in 200,000 parts of one byte would hold the event loop for 23 s, and fill 23 MB of memory. This
 * function makes all lists of this process remove their parts at once, and join small parts that are appended.
 */
export function consumeAtOnce(): void {
  const lists = Uint8ArrayList.prototype
  if (CHANGED in lists) return
  const consume: (this: List, bytes: number) => void = Reflect.get(lists, 'consume')
  const consumeParts = function (this: List, bytes: number): void {
    const { bufs, byteLength } = this
    const taken = Math.trunc(bytes)
    if (bufs.length < LONG_PARTS_MIN || taken >= byteLength || !(taken > 0)) {
      consume.call(this, bytes)
      return
    }
    let left = taken
    let count = 0
    for (let part = bufs[0]; part !== undefined && part.length <= left; part = bufs[++count]) left -= part.length
    bufs.splice(0, count)
    this.length -= taken - left
    consume.call(this, left)
  }
  const append: (this: List, ...parts: Appended[]) => void = Reflect.get(lists, 'append')
  const appendJoined = function (this: List, ...parts: Appended[]): void {
    const before = this.bufs.length
    append.apply(this, parts)
    // Not at each call, so that few bytes are copied more than once.
    if (Math.trunc(this.bufs.length / JOINED_PARTS) > Math.trunc(before / JOINED_PARTS)) joinLast(this.bufs)
  }
  Object.defineProperties(lists, {
    consume: { value: consumeParts, writable: true, configurable: true },
    append: { value: appendJoined, writable: true, configurable: true },
    [CHANGED]: { value: true }
  })
}

function joinLast(parts: Uint8Array[]): void {
  const last = parts.slice(-JOINED_PARTS)
  const length = last.reduce((sum, part) => sum + part.length, 0)
  if (length < JOINED_BYTES) parts.splice(-JOINED_PARTS, JOINED_PARTS, concat(last, length))
}
