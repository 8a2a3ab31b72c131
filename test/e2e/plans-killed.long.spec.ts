import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createNode, createSqliteStore, isSoukError, type SoukNode } from '../../lib/index.ts'
import { freePort } from '../helpers/free-port.ts'

const INCLUDED = 300
const KILLS = 5
const WORKERS = 8
/** Lifetimes before each kill: enough for a few calls, short enough to interrupt some. */
const LIFE_MS = [40, 130, 70, 220, 20]

describe('an owner killed while it sells plans and counts calls', () => {
  const directory = mkdtempSync(join(tmpdir(), 'souk-plans-'))
  const path = join(directory, 'owner.db')
  let port: string
  let owner: ChildProcess | undefined
  let consumer: SoukNode

  async function boot(): Promise<string> {
    const program = join(import.meta.dirname, 'plans-killed/main.ts')
    owner = spawn(process.execPath, [program, path, 'plans-killed', port, String(INCLUDED)], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const [address] = (await once(owner.stdout ?? assert.fail(), 'data')) as [Buffer]
    return address.toString().trim()
  }

  async function kill(): Promise<void> {
    const dying = owner
    owner = undefined
    if (dying === undefined) return
    dying.kill('SIGKILL')
    await once(dying, 'exit')
  }

  before(async () => {
    port = String(await freePort())
    consumer = await createNode({ network: 'testnet', bootstrap: [await boot()] })
    await consumer.start()
  })
  after(async () => {
    await consumer?.stop()
    await kill()
    rmSync(directory, { recursive: true, force: true })
  })

  it('sells the subscription once and counts each included call once, over all kills', async () => {
    const { souk } = consumer
    const id = '018f0000-0000-7000-8000-0000000000aa'
    let succeeded = 0
    let isOver = false
    const work = async () => {
      while (!isOver) {
        try {
          // The owner may have no subscription yet, or the consumer may not know of it, so subscribe first.
          await souk.subscriptions.subscribe({ api: 'echo', plan: 'basic', maxPrice: '0', id })
          await souk.call({ api: 'echo', body: 1, subscription: id, timeoutMs: 5_000 })
          succeeded++
        } catch (error) {
          assert.ok(isSoukError(error), String(error))
          if (error.code === 'quota_exceeded') isOver = true
          await pause(5)
        }
      }
    }
    const killing = async () => {
      for (let i = 0; i < KILLS; i++) {
        await pause(LIFE_MS[i])
        await kill()
        await boot()
      }
    }
    await Promise.all([killing(), ...Array.from({ length: WORKERS }, work)])
    await kill()

    const store = createSqliteStore({ path })
    await store.open()
    const calls = await store.calls.recent({ limit: 10_000 })
    const sold = await store.documents.list('subscriptions-sold')
    await store.close()
    const captured = calls.filter(({ outcome }) => outcome === 'captured').length
    assert.equal(sold.length, 1)
    // The included calls, the purchase, and at most one repeated purchase per crash.
    assert.ok(captured > INCLUDED && captured <= INCLUDED + 1 + KILLS, `${captured} calls were captured`)
    const used = JSON.parse(await usedIn(path)) as number[]
    assert.deepEqual(used, [INCLUDED])
    assert.ok(succeeded <= INCLUDED, `${succeeded} calls succeeded`)
  })
})

async function usedIn(path: string): Promise<string> {
  const store = createSqliteStore({ path })
  await store.open()
  const [use] = await store.documents.list('plan-use')
  await store.close()
  return use?.value ?? assert.fail('no usage was recorded')
}
