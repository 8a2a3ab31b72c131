import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DESCRIPTION_READ_MS } from '../../../lib/base/limits/descriptions.ts'
import { post } from '../../helpers/ingress-client.ts'
import { scriptedUpstream, type ScriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../../helpers/souk-home.ts'
import { HOSTILE } from '../../protocols/soap/wsdl/hostile-wsdls.ts'
import { serving, wsdlOf } from '../../protocols/soap/soap-kit.ts'

/** The p99 limit for calls of another API. It is high, because the test itself keeps a small machine busy. */
const WAIT_MS = 1_000

/** Registers each WSDL at a running node by command line, while another API of the node is called. */
export function registersHostile(names: readonly string[]): void {
  describe('a node that registers hostile WSDLs', function () {
    this.timeout(names.length * (DESCRIPTION_READ_MS + 10_000))
    let home: SoukHome
    let node: HomeNode
    let upstream: ScriptedUpstream
    let key: string

    before(async () => {
      home = await soukHome()
      const echo =
        '<xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="it" type="xs:int"/></xs:sequence></xs:complexType></xs:element>'
      upstream = await scriptedUpstream(serving({ '/svc?wsdl': wsdlOf({ schema: echo }) }))
      node = await home.up('node')
      const args = [`${upstream.url}/svc?wsdl`]
      await node.cli('api register --name plain --protocol SOAP --price 0 --endpoint', ...args)
      key = (await node.cli<{ key: string }>('key issue --label tests')).key
    })
    tellWhenFailed(() => home)
    after(async () => {
      await home.close()
      await upstream.close()
    })

    const call = async () => {
      const { json, ms } = await post(node.ingress, 'plain', { key, body: { operation: 'echo', it: 7 } })
      assert.deepEqual(json, { it: 7 })
      return ms
    }

    /** Durations of sequential calls while `doing` runs. */
    async function callsDuring(doing: Promise<unknown>): Promise<number[]> {
      const times: number[] = []
      const over = new AbortController()
      const ending = doing.finally(() => over.abort())
      while (!over.signal.aborted || times.length < 100) times.push(await call())
      await ending
      return times.toSorted((a, b) => a - b)
    }

    for (const name of names) {
      it(`serves other calls meanwhile: ${name}`, async () => {
        const { files, refused } = HOSTILE[name]?.() ?? assert.fail(name)
        const folder = join(home.directory, 'hostile')
        await mkdir(folder, { recursive: true })
        const file = join(folder, 'service.wsdl')
        await writeFile(file, typeof files === 'string' ? files : assert.fail('one file'), { mode: 0o600 })
        const args = ['--endpoint', `${upstream.url}/svc`, '--wsdl-file', file, '--replace']
        const registering = home.run('--profile node api register --name hostile --protocol SOAP --price 0', args)
        const times = await callsDuring(registering)
        const { code, stderr } = await registering
        if (refused === undefined) assert.equal(code, 0, stderr)
        else {
          assert.notEqual(code, 0)
          assert.match(stderr, refused)
        }
        const p99 = times[Math.floor(times.length * 0.99)] ?? Infinity
        if (process.env['SHOW'] !== undefined)
          console.log(
            `        ${times.length} calls, median ${times[times.length >> 1]?.toFixed(1)}, p99 ${p99.toFixed(1)}, most ${times.at(-1)?.toFixed(1)} ms`
          )
        assert(p99 < WAIT_MS, `99 of 100 calls took up to ${p99} ms`)
      })
    }

    it('serves the accepted API after a restart', async () => {
      await node.end()
      node = await home.up('node')
      await call()
      const { status, text } = await post(node.ingress, 'hostile', { key, body: { operation: 'echo' } })
      assert.equal(status, 200, text)
    })
  })
}
