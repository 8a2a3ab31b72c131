import assert from 'node:assert/strict'
import { type ChannelBench, channelBench } from '../../helpers/channel-bench.ts'
import { lifeBench, type Shared, shared } from '../../helpers/life-bench.ts'
import { type Mortal, mortal } from '../../helpers/mortal.ts'

const USDC = 1_000_000n
/** A price that makes a few calls worth the gas of a claim. */
const PRICE = 50_000n
const SPENT = 18n * PRICE

/** Lifecycles that run at once. Withdrawals wait for the chain's time, which all nodes share. */
const AT_ONCE = { close: 6, withdraw: 1 }

/** Kills one side of a channel at each of its writes and transactions on the way to the channel's end. */
export function survivesKills(who: 'payer' | 'owner', leave: 'close' | 'withdraw'): void {
  let bench: ChannelBench
  let common: Shared

  /** Runs one whole lifecycle on separate nodes and restarts a killed one. Returns whether it died. */
  async function live(dieAt: number): Promise<boolean> {
    const own = await lifeBench(bench, common)
    const nodes = {
      owner: await own.start('D'),
      payer: await own.start('C', { usdc: 2n * USDC, gas: leave === 'withdraw' })
    }
    const restart = async (process?: Mortal): Promise<void> => {
      nodes[who] = await own.start(who === 'owner' ? 'D' : 'C', { of: nodes[who], ...(process && { process }) })
    }
    const ask = (): void => {
      if (own.channel(nodes.payer).state === 'open') nodes.payer.paymentScheme[leave](id).catch(() => undefined)
    }
    const isLeft = () => own.channel(nodes.payer, id).state === 'closed'
    const ripen = async (): Promise<void> => {
      const { withdrawableAt } = own.channel(nodes.payer, id)
      if (withdrawableAt === undefined || (await own.onChain(id)).claimed < SPENT) return
      if ((await bench.chain.block('latest'))!.at < withdrawableAt) await own.wait(901)
    }
    for (let i = 0; i < 18; i++) await own.call(nodes.payer, nodes.owner, PRICE)
    const id = own.channel(nodes.payer).channelId
    await own.stop(nodes[who])
    const process = mortal(dieAt)
    await restart(process)
    ask()
    await own.until('it dies or it is over', async () => {
      await ripen()
      return process.isDead || isLeft()
    })
    const hasDied = process.isDead
    if (hasDied) {
      own.kill(nodes[who])
      await restart()
      ask()
    }
    await own.until('it is over', async () => {
      await ripen()
      return isLeft()
    })
    await own.until('its owner knows', async () => {
      await bench.client.mine({ blocks: 1 })
      return own.channel(nodes.owner, id).state === 'closed'
    })
    const at = `${who} ${leave} ${process.lived.at(-1)} (${dieAt})`
    assert.equal(await bench.usdc(nodes.payer.signer.address), 2n * USDC - SPENT, at)
    const { inside, spent, unclaimed } = await own.books(nodes.payer, id)
    assert.deepEqual({ inside, spent, unclaimed }, { inside: 0n, spent: SPENT, unclaimed: 0n }, at)
    const { claimed, balance } = await own.onChain(id)
    assert.deepEqual({ claimed, balance }, { claimed: SPENT, balance: SPENT }, at)
    // A surviving process might still die when it is stopped, and then never finish.
    if (!hasDied) own.kill(nodes[who])
    await own.close()
    return hasDied
  }

  describe(`a channel whose ${who} is killed at any instant`, function () {
    this.timeout(240_000)
    before(async () => {
      bench = await channelBench()
      common = await shared(bench)
    })
    after(() => bench.close())

    it(`has the same end after a ${leave}, and is paid back once`, async () => {
      let next = 0
      let isOver = false
      const liveOn = async (): Promise<void> => {
        while (!isOver) if (!(await live(next++))) isOver = true
      }
      await Promise.all(Array.from({ length: AT_ONCE[leave] }, liveOn))
      assert.ok(next > 4)
    })
  })
}
