import { Uint8ArrayList } from 'uint8arraylist'

/** The parts of a list that this file uses. */
interface List {
  readonly byteLength: number
  readonly bufs: Uint8Array[]
  length: number
}

/** V8 removes the first element of a shorter array without moving the others. */
const LONG_PARTS_MIN = 1_024
const CHANGED = Symbol.for('souk.long-lists')

/**
 * uint8arraylist 3 removes the consumed parts of a list one by one, and V8 moves all others each time. libp2p collects what it receives in
 * such lists: a peer that sends a message in 200,000 parts of one byte would hold the event loop for 23 s. This function makes all lists
 * of this process remove their parts at once.
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
  Object.defineProperties(lists, {
    consume: { value: consumeParts, writable: true, configurable: true },
    [CHANGED]: { value: true }
  })
}
