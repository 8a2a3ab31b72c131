import { fromHex } from '../../lib/base/hex.ts'
import type { ChannelConfig, ChannelId, Voucher } from '../../lib/interface/channel.ts'
import type { ChannelWatch, OwnedChannel, OwnerBooks, Redeemer } from '../../lib/interface/redeem.ts'
import type { Signer } from '../../lib/interface/signer.ts'
import type { Submitter } from '../../lib/interface/submitter.ts'
import { createChannelWatch } from '../../lib/pay/chain/channel-watch.ts'
import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import { createRedeemer, type RedeemerInit } from '../../lib/pay/settle/redeemer.ts'
import { createSubmitter } from '../../lib/pay/chain/submitter.ts'
import { signVoucher } from '../../lib/pay/signing/voucher.ts'
import { createMemoryStore } from '../../lib/store/memory/store.ts'
import type { ChannelBench } from './channel-bench.ts'
import { eventually } from './eventually.ts'
import { hastyClock } from './hasty-clock.ts'
import { mortal } from './mortal.ts'

const BOUND_MS = 10_000
let accounts = 1_000
const newSigner = () => keySigner(fromHex(`0x${(accounts++).toString(16).padStart(64, '0')}`, 32))

interface Process {
  readonly redeemer: Redeemer
  readonly submitter: Submitter
  readonly watch: ChannelWatch
}

interface StartInit extends Pick<RedeemerInit, 'policy'>, Partial<Pick<RedeemerInit, 'clock'>> {
  readonly life?: ReturnType<typeof mortal>
}

/** An owner with a provider, books that tests write, and processes on the same store. */
export async function redeemerBench(bench: ChannelBench) {
  const { chain, domain, factory, authorizer } = bench
  const store = createMemoryStore()
  await store.open()
  const signer = newSigner()
  const provider = newSigner().address
  const treasury = bench.parameters.treasury ?? bench.stranger.address
  await bench.client.setAutomine(true)
  await bench.fundGas(signer.address)
  const treasuryBefore = await bench.usdc(treasury)
  const channels = new Map<ChannelId, OwnedChannel>()
  const books: OwnerBooks = { channels: () => channels.values(), closed: () => [], payouts: () => [provider] }
  const running = new Set<Process>()

  /** Opens a channel with a deposit and earnings. @param by signs the voucher */
  async function earn(
    captured: bigint,
    { deposit, ceiling = captured, by = authorizer }: { deposit: bigint; ceiling?: bigint; by?: Signer }
  ) {
    const receiver = factory.splitterOf(provider)
    const config: ChannelConfig = await bench.open(deposit, { receiver, receiverAuthorizer: signer.address })
    const channelId = domain.channelId(config)
    const book = (voucher: Voucher, captured: bigint) =>
      void channels.set(channelId, { channelId, config, voucher, captured })
    book(await signVoucher(domain, by, channelId, ceiling), captured)
    const raise = async (total: bigint) => book(await signVoucher(domain, authorizer, channelId, total), total)
    return { config, channelId, raise }
  }

  async function stop(process: Process): Promise<void> {
    running.delete(process)
    process.watch.stop()
    await process.redeemer.stop()
    await process.submitter.stop()
  }

  return {
    signer,
    books,
    provider,
    earn,
    stop,
    killed: (process: Process) => void running.delete(process),

    /** Starts a process. It is stopped at the end unless it was killed. */
    async start({ life = mortal(), policy, clock = hastyClock }: StartInit = {}) {
      const shared = {
        chain: life.chain(chain),
        clock,
        documents: life.documents(store.documents),
        onError: () => undefined
      }
      const submitter = createSubmitter({ ...shared, signer })
      const watch = createChannelWatch({ ...shared, channels: () => channels.keys() })
      const rest = { signer, submitter, watch, books, factory, ...(policy && { policy }) }
      const redeemer = createRedeemer({ ...shared, ...rest })
      const process = { redeemer, submitter, watch }
      await submitter.start()
      void watch.start()
      if (await begun(redeemer, life)) running.add(process)
      return process
    },
    async close() {
      await Promise.all([...running].map(stop))
    },
    /** Waits for this many polls of the chain and their effects. */
    looked: async (watch: ChannelWatch, times: number) => {
      let looks = 0
      const unwatch = watch.onLook(() => void looks++)
      await eventually(`${times} looks`, BOUND_MS, () => (looks > times ? true : undefined))
      unwatch()
    },
    /** The provider's balance, and the treasury's increase since the start. */
    paid: async () => ({
      provider: await bench.usdc(provider),
      treasury: (await bench.usdc(treasury)) - treasuryBefore
    })
  }
}

/** Detects the death during start, which the process cannot report. */
async function begun(redeemer: Redeemer, life: ReturnType<typeof mortal>): Promise<boolean> {
  let hasStarted = false
  const starting = redeemer.start().then(() => (hasStarted = true))
  await Promise.race([
    starting,
    eventually('it starts', BOUND_MS, () => (life.isDead || hasStarted ? true : undefined))
  ])
  return hasStarted
}
