/**
 * True if one more body may be stored for a peer. Each peer may use up to half of the free space. So all shares shrink as the
 * space fills, no response is evicted for another peer's, and a new peer always finds space (dynamic thresholds of shared-memory
 * switches: Choudhury and Hahne, 1998).
 */
export function fitsShare(bytes: number, own: number, total: number, most: number): boolean {
  return own + bytes <= (most - total) / 2
}
