import assert from 'node:assert/strict'
import { sha256, utf8 } from '../../../lib/base/bytes.ts'
import { isProven, merkleTree } from '../../../lib/describe/merkle.ts'

const documentsOf = (count: number) => Array.from({ length: count }, (_, at) => utf8(`document ${at}`))

/** RFC 9162 §2.1.1, as it is written there. */
function rootOf(documents: readonly Uint8Array[]): Uint8Array {
  const [first] = documents
  if (documents.length === 1 && first !== undefined) return sha256(Buffer.concat([Buffer.of(0), first]))
  let split = 1
  while (split * 2 < documents.length) split *= 2
  return sha256(Buffer.concat([Buffer.of(1), rootOf(documents.slice(0, split)), rootOf(documents.slice(split))]))
}

describe('Merkle tree of a description', () => {
  it('has the root of RFC 9162, and proves each document and no other', () => {
    for (const count of [1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 100]) {
      const documents = documentsOf(count)
      const tree = merkleTree(documents)
      const { root } = tree
      assert.deepEqual(Buffer.from(root), Buffer.from(rootOf(documents)), String(count))
      for (const [leaf, document] of documents.entries()) {
        const path = tree.path(leaf)
        assert.ok(isProven(document, path, { leaf, documents: count, root }), `${leaf} of ${count}`)
        assert.ok(!isProven(utf8('other'), path, { leaf, documents: count, root }))
        assert.ok(!isProven(document, [...path, root], { leaf, documents: count, root }), 'a longer path')
        if (count > 1) {
          assert.ok(!isProven(document, path.slice(1), { leaf, documents: count, root }), 'a shorter path')
          const other = (leaf + 1) % count
          assert.ok(!isProven(document, path, { leaf: other, documents: count, root }), 'another place')
        }
      }
    }
  })

  it('does not take an inner node for a document', () => {
    const [a, b] = documentsOf(2) as [Uint8Array, Uint8Array]
    const leaf = (document: Uint8Array) => sha256(Buffer.concat([Buffer.of(0), document]))
    const inner = Buffer.concat([leaf(a), leaf(b)])
    const { root } = merkleTree([a, b])
    assert.ok(!isProven(inner, [], { leaf: 0, documents: 1, root }))
  })
})
