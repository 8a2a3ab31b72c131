import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { systemClock } from '../../../../lib/base/clock.ts'
import { RECEIPT_PATH_MAX, RECEIPTS_SIGN_MS, RECEIPT_BYTES_MAX } from '../../../../lib/base/limits/pay.ts'
import { COMMIT_BATCH_MAX } from '../../../../lib/base/limits/store.ts'
import { toHex } from '../../../../lib/base/hex.ts'
import { keySigner } from '../../../../lib/pay/signing/key-signer.ts'
import { readReceipt, ReceiptCheck, receiptDigests, type ReceiptBody } from '../../../../lib/pay/signing/receipt.ts'
import { ReceiptSigner } from '../../../../lib/pay/payee/receipt-signer.ts'
import type { Signer } from '../../../../lib/interface/signer.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'

const digests = receiptDigests({
  chainId: 31337,
  settlement: { address: `0x${'40'.repeat(20)}`, codeHash: `0x${'00'.repeat(32)}` }
})
const [owner, other] = [keySigner(new Uint8Array(32).fill(1)), keySigner(new Uint8Array(32).fill(2))]

const bodyOf = (n: number): ReceiptBody => ({
  channelId: `0x${'ab'.repeat(32)}`,
  requestId: new Uint8Array(16).fill(n),
  requestHash: new Uint8Array(32).fill(n),
  api: 'ticker@12D3KooW',
  charged: BigInt(n),
  captured: 2n ** 62n + BigInt(n),
  reserved: 0n,
  status: 200,
  at: 1_750_000_000_000 + n,
  // Earlier versions wrote no rule.
  ...(n % 2 === 0 ? {} : { rule: 'partial-data' as const })
})

describe('receipt', () => {
  const counting = (signer: Signer) => {
    const count = { signatures: 0 }
    const sign = (digest: Uint8Array) => {
      count.signatures++
      return signer.sign(digest)
    }
    return { count, signer: { ...signer, sign } }
  }

  it('states the agreement and proves its signer, for any number of receipts signed together', async () => {
    for (const many of [1, 2, 3, 5, 8, 13, 64, 100]) {
      const { count, signer } = counting(owner)
      const receiptSigner = new ReceiptSigner(signer, digests, systemClock)
      const bodies = Array.from({ length: many }, (_, n) => bodyOf(n))
      const receipts = await Promise.all(bodies.map((body) => receiptSigner.sign(body)))
      assert.equal(count.signatures, 1)
      for (const [i, bytes] of receipts.entries()) {
        const receipt = readReceipt(bytes)
        assert.ok(receipt)
        assert.deepEqual(receipt.body, bodies[i])
        assert.ok(new ReceiptCheck(digests).isSigned(receipt, owner.address))
        assert.ok(!new ReceiptCheck(digests).isSigned(receipt, other.address))
      }
    }
  })

  it('of a later turn has a separate signature', async () => {
    const { count, signer } = counting(owner)
    const receiptSigner = new ReceiptSigner(signer, digests, systemClock)
    await receiptSigner.sign(bodyOf(1))
    await receiptSigner.sign(bodyOf(2))
    assert.equal(count.signatures, 2)
  })

  it('waits shortly after a signature for receipts of many running calls, but not of few', async () => {
    const { count, signer } = counting(owner)
    const clock = manualClock()
    const receiptSigner = new ReceiptSigner(signer, digests, clock)
    receiptSigner.underWay = 8
    await receiptSigner.sign(bodyOf(1))
    assert.equal(count.signatures, 1)
    const early = receiptSigner.sign(bodyOf(2))
    await new Promise(setImmediate)
    assert.equal(count.signatures, 1)
    // A quarter of the running calls.
    await Promise.all([early, receiptSigner.sign(bodyOf(3))])
    assert.equal(count.signatures, 2)

    const alone = receiptSigner.sign(bodyOf(4))
    await new Promise(setImmediate)
    assert.equal(count.signatures, 2)
    await clock.advance(RECEIPTS_SIGN_MS)
    assert.ok(readReceipt(await alone))
    await clock.advance(RECEIPTS_SIGN_MS)
    await receiptSigner.sign(bodyOf(5))
    assert.equal(count.signatures, 4)
    receiptSigner.underWay = 1
    await receiptSigner.sign(bodyOf(6))
    assert.equal(count.signatures, 5)
  })

  it('is rejected for all waiting callers if the key is not available, and for no later ones', async () => {
    let isAway = true
    const signer: Signer = {
      ...owner,
      sign: (digest) => (isAway ? Promise.reject(new Error('away')) : owner.sign(digest))
    }
    const receiptSigner = new ReceiptSigner(signer, digests, systemClock)
    const results = await Promise.allSettled([1, 2].map((n) => receiptSigner.sign(bodyOf(n))))
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected']
    )
    isAway = false
    assert.ok(readReceipt(await receiptSigner.sign(bodyOf(1))))
  })

  it('is invalid with any byte changed', async () => {
    const receiptSigner = new ReceiptSigner(owner, digests, systemClock)
    const [bytes] = await Promise.all([
      receiptSigner.sign(bodyOf(1)),
      receiptSigner.sign(bodyOf(2)),
      receiptSigner.sign(bodyOf(3))
    ])
    const original = readReceipt(bytes)
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Uint8Array.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ change
        const receipt = readReceipt(changed)
        const holds = receipt !== undefined && new ReceiptCheck(digests).isSigned(receipt, owner.address)
        // A field's tag may become an unknown one. The rest then still equals the signed data, or is invalid.
        if (holds) assert.deepEqual(receipt.body, original?.body)
      }),
      { numRuns: 300 }
    )
  })

  it('has a limited size, whatever unknown fields its owner adds', async () => {
    const bytes = await new ReceiptSigner(owner, digests, systemClock).sign(bodyOf(1))
    // Field 15, of this many bytes.
    const padding = (length: number) =>
      Buffer.concat([Buffer.of(0x7a, (length & 0x7f) | 0x80, length >> 7), new Uint8Array(length)])
    const withPadding = (length: number) => readReceipt(Uint8Array.from(Buffer.concat([bytes, padding(length)])))
    assert.deepEqual(withPadding(256)?.body, bodyOf(1))
    assert.equal(withPadding(RECEIPT_BYTES_MAX), undefined)
  })

  it('is never parsed from other bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const receipt = readReceipt(bytes)
        assert.ok(receipt === undefined || !new ReceiptCheck(digests).isSigned(receipt, owner.address))
      })
    )
  })

  it('is checked by its root: a valid one does not vouch for the next', async () => {
    const check = new ReceiptCheck(digests)
    const [mine, forged] = await Promise.all([
      new ReceiptSigner(owner, digests, systemClock).sign(bodyOf(1)),
      new ReceiptSigner(other, digests, systemClock).sign(bodyOf(2))
    ])
    assert.ok(check.isSigned(readReceipt(mine)!, owner.address))
    assert.ok(!check.isSigned(readReceipt(forged)!, owner.address))
    assert.ok(check.isSigned(readReceipt(mine)!, owner.address))
  })

  it('fits a tree as large as a commit', () => {
    assert.ok(2 ** RECEIPT_PATH_MAX >= COMMIT_BATCH_MAX)
    assert.equal(toHex(digests(new Uint8Array(32))).length, 66)
  })
})
