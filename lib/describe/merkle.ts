import { equals } from 'uint8arrays/equals'
import { sha256 } from '../base/bytes.ts'

/** Merkle tree of RFC 9162 §2.1. Different prefixes keep a document from passing as an inner node. */
const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)

const leafHash = (document: Uint8Array): Uint8Array => sha256(Buffer.concat([LEAF, document]))
const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(Buffer.concat([NODE, left, right]))

export interface MerkleTree {
  readonly root: Uint8Array
  /** The hashes that prove one document, from its neighbour upwards. */
  path(leaf: number): Uint8Array[]
}

/** @param documents - at least one */
export function merkleTree(documents: readonly Uint8Array[]): MerkleTree {
  const levels: Uint8Array[][] = [documents.map(leafHash)]
  for (let level = levels[0] ?? []; level.length > 1; levels.push(level)) level = parents(level)
  const root = levels.at(-1)?.[0]
  if (root === undefined) throw new RangeError('A tree needs a document.')
  return {
    root,
    path(leaf) {
      return levels.slice(0, -1).flatMap((level, height) => level[(leaf >> height) ^ 1] ?? [])
    }
  }
}

/** The last node of an odd level moves up unchanged, which gives the same tree as RFC 9162's recursive definition. */
function parents(level: readonly Uint8Array[]): Uint8Array[] {
  const above: Uint8Array[] = []
  for (let at = 0; at < level.length; at += 2) {
    const [left, right] = [level[at], level[at + 1]]
    if (left !== undefined) above.push(right === undefined ? left : nodeHash(left, right))
  }
  return above
}

/** Verifies a document's path (RFC 9162 §2.1.3.2). */
export function isProven(
  document: Uint8Array,
  path: readonly Uint8Array[],
  { leaf, documents, root }: { readonly leaf: number; readonly documents: number; readonly root: Uint8Array }
): boolean {
  if (leaf < 0 || leaf >= documents) return false
  let hash = leafHash(document)
  let used = 0
  for (let [at, last] = [leaf, documents - 1]; last > 0; at >>= 1, last >>= 1) {
    // A node without a right neighbour moves up unchanged.
    if (at === last && at % 2 === 0) continue
    const neighbour = path[used++]
    if (neighbour === undefined) return false
    hash = at % 2 === 1 ? nodeHash(neighbour, hash) : nodeHash(hash, neighbour)
  }
  return used === path.length && equals(hash, root)
}
