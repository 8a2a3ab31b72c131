/**
 * Whether one more body is stored for a peer. Each peer may use as much as half of what is free: the share of all shrinks as the
 * space fills, nobody's responses give way to another's, and a newcomer always finds room (dynamic thresholds, as switches with
 * shared memory use them: Choudhury and Hahne, 1998).
 */
export function fitsShare(bytes: number, own: number, total: number, most: number): boolean {
  return own + bytes <= (most - total) / 2
}
