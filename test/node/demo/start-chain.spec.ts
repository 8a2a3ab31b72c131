import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Child } from '../../../node/demo/child.ts'
import { startChain } from '../../../node/demo/start-chain.ts'

/** Less than a chain takes to listen, so the next one finds the same port free. */
const APART_MS = 40

describe('the demo’s chain', () => {
  it('gets another port if one that starts at the same time was faster', async () => {
    const home = await mkdtemp(join(tmpdir(), 'souk-start-chain-'))
    const starting: Array<Promise<Child>> = []
    try {
      for (const name of ['a', 'b', 'c']) {
        starting.push(startChain(join(home, `${name}.json`), process.env))
        await pause(APART_MS)
      }
      const chains = await Promise.all(starting)
      assert.equal(new Set(chains.map(({ info }) => info['url'])).size, chains.length)
    } finally {
      for (const chain of await Promise.allSettled(starting)) if (chain.status === 'fulfilled') await chain.value.stop()
      await rm(home, { recursive: true, force: true })
    }
  })

  it('says why it does not start, without a stack', async () => {
    const home = await mkdtemp(join(tmpdir(), 'souk-start-chain-'))
    try {
      const stateFile = join(home, 'chain.json')
      await writeFile(stateFile, 'not a chain')
      await assert.rejects(startChain(stateFile, process.env), (error: Error) => {
        assert.match(error.message, /^chain ended \(1\)\.\nThe play chain \(anvil\) ended: /)
        assert.doesNotMatch(error.message, /^ {4}at /m)
        return true
      })
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })
})
