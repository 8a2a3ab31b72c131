import assert from 'node:assert/strict'
import { systemClock } from '../../../lib/base/clock.ts'
import { RECEIPTS_PAGE_MAX } from '../../../lib/base/limits/pay.ts'
import { systemRandom } from '../../../lib/base/random.ts'
import { formatRequestId, madeAt, requestIdBytes, requestIds } from '../../../lib/base/request-id.ts'
import type { ReceiptQuery, ReceiptRow } from '../../../lib/interface/receipts.ts'
import { readReceipt, ReceiptCheck, receiptDigests, signReceipts } from '../../../lib/pay/signing/receipt.ts'
import { RECEIPTS, receiptDocument } from '../../../lib/pay/payer/stored-receipts.ts'
import { PAYER_CHANNELS } from '../../../lib/pay/payer/payer-channel.ts'
import { MANUAL_START } from '../../helpers/manual-clock.ts'
import { API, schemeBench, type SchemeBench, type SchemeNode } from '../../helpers/scheme-bench.ts'

const PRICES = [100n, 200n, 300n, 400n, 500n]
/** The time of the bench's calls. */
const AT = MANUAL_START
const HOUR_MS = 3_600_000

describe('receipts', () => {
  let bench: SchemeBench
  let owner: SchemeNode
  let payer: SchemeNode

  before(async () => {
    bench = schemeBench()
    owner = await bench.start('D')
    payer = await bench.start('C')
    bench.play.wallets.set(payer.signer.address, 10_000_000n)
    for (const price of PRICES) {
      await bench.call(payer, owner, { price })
      await bench.call(payer, owner, { fate: 'void' })
    }
    // `stop` waits for asynchronous writes.
    await payer.paymentScheme.stop()
  })

  const all = async (node: SchemeNode, query: Omit<ReceiptQuery, 'limit'>, limit = 2): Promise<ReceiptRow[]> => {
    const rows: ReceiptRow[] = []
    let cursor: string | undefined
    do {
      const page = await node.paymentScheme.receipts({ ...query, limit, ...(cursor === undefined ? {} : { cursor }) })
      rows.push(...page.receipts)
      cursor = page.next
    } while (cursor !== undefined)
    return rows
  }
  const amounts = (rows: readonly ReceiptRow[]) => rows.map(({ charged }) => charged)

  it('are equal at payer and owner, newest first, page by page', async () => {
    const [paid, earned] = [await all(payer, { role: 'payer' }), await all(owner, { role: 'owner' })]
    assert.deepEqual(amounts(paid), PRICES.toReversed())
    const shared = ({ requestId, api, charged, status }: ReceiptRow) => ({ requestId, api, charged, status })
    assert.deepEqual(paid.map(shared), earned.map(shared))
    for (const { requestId, at } of paid) assert.equal(at, madeAt(requestIdBytes(requestId)))
    assert.deepEqual(new Set(paid.map(({ peer }) => peer)), new Set([owner.peer]))
    assert.deepEqual(new Set(earned.map(({ peer }) => peer)), new Set([payer.peer]))
    assert.deepEqual(new Set(paid.map(({ signature }) => signature)), new Set(['valid']))
    assert.deepEqual(new Set(earned.map(({ signature }) => signature)), new Set(['own']))
  })

  it("prove the owner's agreement to anybody", async () => {
    const [row] = await all(payer, { role: 'payer' })
    const read = readReceipt(row?.proof ?? new Uint8Array(0))
    assert.ok(read !== undefined)
    assert.ok(new ReceiptCheck(receiptDigests(bench.play.chain.parameters)).isSigned(read, owner.signer.address))
    assert.equal(read.body.charged, row?.charged)
  })

  it('are found by API and by time', async () => {
    for (const node of [payer, owner]) {
      const role = node === payer ? 'payer' : 'owner'
      assert.equal((await all(node, { role, api: API })).length, PRICES.length)
      assert.equal((await all(node, { role, api: API.split('@')[0]! })).length, PRICES.length)
      assert.equal((await all(node, { role, api: 'tick' })).length, 0)
      assert.equal((await all(node, { role, since: AT })).length, PRICES.length)
      // Of many ids at one time, the later ones have a slightly later time.
      assert.equal((await all(node, { role, since: AT + HOUR_MS })).length, 0)
      assert.equal((await all(node, { role, until: AT })).length, 0)
      assert.equal((await all(node, { role, since: AT + 86_400_000 })).length, 0)
    }
  })

  it('report a changed receipt, and one of a forgotten channel', async () => {
    const { documents } = payer.store
    const [first, second] = await documents.list(RECEIPTS)
    const bytes = Buffer.from(first!.value, 'base64')
    bytes[bytes.length - 10]! ^= 1
    await documents.put(RECEIPTS, first!.key, bytes.toString('base64'))
    await documents.put(RECEIPTS, second!.key, Buffer.from('no receipt').toString('base64'))
    const rows = await all(payer, { role: 'payer' })
    assert.deepEqual(amounts(rows), [500n, 400n, 300n, 100n])
    assert.equal(rows.at(-1)?.signature, 'invalid')
    const [channel] = await documents.list(PAYER_CHANNELS)
    await documents.delete(PAYER_CHANNELS, channel!.key)
    const [forgotten] = await all(payer, { role: 'payer' })
    assert.equal(forgotten?.signature, 'unknown')
    assert.equal(forgotten?.peer, undefined)
    await documents.put(PAYER_CHANNELS, channel!.key, channel!.value)
  })

  it('of owners with any clock are listed and found by the times of their calls', async () => {
    const { documents } = payer.store
    const { body } = readReceipt(Buffer.from((await documents.list(RECEIPTS)).at(-1)!.value, 'base64'))!
    const digest = receiptDigests(bench.play.chain.parameters)
    for (const [i, at] of [AT, 9e15, 0].entries()) {
      const time = AT - (i + 1) * HOUR_MS
      const requestId = requestIds({ ...systemClock, now: () => time }, systemRandom).next()
      const [receipt] = await signReceipts([{ ...body, requestId, at }], (root) => owner.signer.sign(digest(root)))
      const { collection, key, value } = receiptDocument(formatRequestId(requestId), receipt!)
      await documents.put(collection, key, value)
    }
    const found = await all(payer, { role: 'payer', until: AT })
    assert.deepEqual(
      found.map(({ at }) => at),
      [AT - HOUR_MS, AT - 2 * HOUR_MS, AT - 3 * HOUR_MS]
    )
    const since = await all(payer, { role: 'payer', since: AT - 2 * HOUR_MS, until: AT })
    assert.deepEqual(since, found.slice(0, 2))
    assert.deepEqual(await payer.paymentScheme.receipt(found[1]!.requestId), found[1])
  })

  it('reject an invalid page', async () => {
    const code = 'invalid_request'
    for (const limit of [0, -1, 1.5, RECEIPTS_PAGE_MAX + 1]) {
      await assert.rejects(payer.paymentScheme.receipts({ role: 'payer', limit }), { code })
    }
    for (const role of ['payer', 'owner'] as const) {
      for (const cursor of ['', 'x', '../..', '1e9']) {
        await assert.rejects(payer.paymentScheme.receipts({ role, limit: 1, cursor }), { code }, `${role} ${cursor}`)
      }
    }
  })
})
