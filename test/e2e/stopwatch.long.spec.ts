import assert from 'node:assert/strict'
import { startUpstream, type Upstream } from '../helpers/echo-api.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Ready, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

const NETWORK_MS = 120_000
/** The promise of the README: each side takes less. */
const SIDE_MS = 180_000
const PRICE = '0.01'
const ANY_PORTS = '--p2p-port 0 --admin-port 0 --ingress-port 0'

/** Networks that one command starts, and how it shows that it is ready. */
const NETWORKS = [
  { network: 'demo', start: 'demo', ready: /Ctrl-C/ },
  { network: 'dev', start: 'dev --port 0', ready: /Ctrl-C/ }
]

/** From an empty home: one command starts the network, then a stranger sells an API and another stranger buys it. */
for (const { network, start, ready } of NETWORKS) {
  describe(`by the stopwatch, on ${network}`, function () {
    this.timeout(NETWORK_MS + 2 * SIDE_MS)
    let home: SoukHome
    let api: Upstream

    before(async () => {
      home = await soukHome()
      api = await startUpstream()
      const running = home.asProcess.start(start)
      await eventually(`souk ${start}`, NETWORK_MS, () => {
        const lines = [...running.stdout, ...running.stderr]
        assert.ok(running.isRunning(), lines.join('\n'))
        return lines.some((line) => ready.test(line)) ? true : undefined
      })
    })
    tellWhenFailed(() => home)
    after(async () => {
      await home?.close()
      await api?.close()
    })

    /** Runs the commands of one person, each as a process, and tells how long they took. */
    const timed = async (profile: string, done: string, story: (person: Person) => Promise<void>): Promise<void> => {
      const startedAt = performance.now()
      let commands = 0
      await story({
        async run<View>(command: string, ...args: string[]): Promise<View> {
          commands++
          const line = `--profile ${profile} --json --no-input ${command}`
          const { code, stdout, stderr } = await home.asProcess.run(line, args, { boundMs: SIDE_MS })
          assert.equal(code, 0, `souk ${command}: ${stderr}`)
          return JSON.parse(stdout) as View
        },
        async up() {
          commands++
          const node = home.asProcess.start(`--profile ${profile} up --json --no-input ${ANY_PORTS}`)
          const line = await eventually('souk up', SIDE_MS, () => {
            assert.ok(node.isRunning(), node.stderr.join('\n'))
            return node.stdout[0]
          })
          return JSON.parse(line) as Ready
        }
      })
      const ms = performance.now() - startedAt
      console.log(`    ${network}: ${done} in ${Math.round(ms / 1_000)} s, with ${commands} commands`)
      assert.ok(ms < SIDE_MS, `${ms} ms`)
    }

    it('a seller has an API on sale, which other nodes have found', () =>
      timed('seller', 'on sale', async ({ run, up }) => {
        await run(`init --network ${network} --role sell`)
        await up()
        const sold = await run<{ known_by: string[] }>(`sell ${api.url} --name echo --price ${PRICE} --yes`)
        assert.ok(sold.known_by.length > 0, JSON.stringify(sold))
      }))

    it('a buyer pays for calls of it, and the seller earns', async () => {
      await timed('buyer', 'bought', async ({ run, up }) => {
        await run(`init --network ${network} --role buy`)
        const { ingress } = await up()
        const { key } = await run<{ key: string }>('key issue')
        const called = await fetch(`${ingress}/api/demo/api/echo`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-consumer-key': key },
          body: '{"n":1}'
        })
        assert.equal(called.status, 200, await called.text())
        assert.equal(called.headers.get('souk-charged'), PRICE)
      })
      const earned = await home.run('--profile seller --json earnings')
      assert.match(earned.stdout, /"gross":"0\.01"/)
    })

    it('the buyer subscribes at the first try, with a fee whose deposit takes blocks to count', async () => {
      const planned = await home.run('--profile seller --json plan set echo team --fee 2 --included 10')
      assert.equal(planned.code, 0, planned.stderr)
      const startedAt = performance.now()
      const { code, stdout, stderr } = await eventually('the plan at the buyer', SIDE_MS, async () => {
        const tried = await home.run('--profile buyer --json subscribe echo --plan team --max-price 0', [], {
          boundMs: SIDE_MS
        })
        return /This plan does not exist|has no plans/.test(tried.stderr) ? undefined : tried
      })
      assert.equal(code, 0, stderr)
      assert.equal((JSON.parse(stdout) as { charged: string }).charged, '2')
      console.log(`    ${network}: subscribed in ${Math.round((performance.now() - startedAt) / 1_000)} s`)
    })
  })
}

interface Person {
  /** Runs `souk` and returns its JSON. Fails if the command fails. */
  run<View>(command: string, ...args: string[]): Promise<View>
  up(): Promise<Ready>
}
