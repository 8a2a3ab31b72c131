import { join } from 'node:path'
import { createSqliteStore, keySigner, systemRandom } from '../../../lib/index.ts'
import type { Address, ChannelId } from '../../../lib/interface/index.ts'
import { settlementDomain } from '../../../lib/pay/signing/settlement-domain.ts'
import { isSound, signVoucher } from '../../../lib/pay/signing/voucher.ts'
import { closedLoop, type LoadShape } from '../closed-loop.ts'
import { play } from '../role.ts'

export interface MoneyWorkArgs {
  /** Empty; its creator removes it. */
  readonly directory: string
  readonly contract: { readonly chainId: number; readonly address: Address }
}

const VOUCHERS = 256
const CHANNEL: ChannelId = `0x${'11'.repeat(32)}`

/** The two most expensive parts of payment, measured separately: signatures and disk writes. */
play(async ({ directory, contract }: MoneyWorkArgs) => {
  const domain = settlementDomain(contract)
  const signer = keySigner(systemRandom.fill(new Uint8Array(32)))
  const vouchers = await Promise.all(
    Array.from({ length: VOUCHERS }, (_, i) => signVoucher(domain, signer, CHANNEL, BigInt(i) * 100n))
  )
  const store = createSqliteStore({ path: join(directory, 'store.db') })
  await store.open()
  let entries = 0

  return {
    info: {},
    operations: {
      /** The owner's check of a new voucher: hash, recover, compare. */
      async verify(shape: LoadShape) {
        const { perSecond } = await closedLoop({ ...shape, concurrency: 1 }, async () => {
          for (const voucher of vouchers) {
            if (!isSound(domain, voucher, signer.address)) throw new Error('a sound voucher was refused')
          }
        })
        return perSecond * VOUCHERS
      },
      /** Entries of two postings; each is awaited until it is on disk. */
      async book(shape: LoadShape) {
        const { perSecond } = await closedLoop(shape, async () => {
          const postings = [
            { account: 'receivable/bench', amount: 100n },
            { account: 'earned/bench', amount: -100n }
          ]
          const reference = String(++entries).padStart(12, '0')
          if (!(await store.ledger.book({ kind: 'bench', reference, at: entries, postings })))
            throw new Error('an entry was not new')
        })
        return perSecond
      }
    },
    stop: () => store.close()
  }
})
