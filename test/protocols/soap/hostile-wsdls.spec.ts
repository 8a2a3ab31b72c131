import assert from 'node:assert/strict'
import { isSoukError } from '../../../lib/base/errors.ts'
import { DESCRIPTION_READ_MS } from '../../../lib/base/limits.ts'
import { soapFactory } from '../../../protocols/soap/soap-factory.ts'
import { HOSTILE } from './hostile-wsdls.ts'
import { soapBench, wsdlOf } from './soap-kit.ts'

/** Starting the process that reads, on a machine that is busy. */
const SLACK_MS = 20_000
/** A call that the schema makes much of ends by its own limit, after five seconds of processor time. */
const CALL_MS = 40_000

describe('a hostile WSDL', () => {
  for (const [name, make] of Object.entries(HOSTILE)) {
    it(name, async function () {
      const { files, refused, warning, calls = [] } = make()
      this.timeout(DESCRIPTION_READ_MS + SLACK_MS + calls.length * CALL_MS)
      const started = performance.now()
      const opening = soapBench(files)
      if (refused !== undefined) {
        await assert.rejects(opening, (error) => {
          assert(isSoukError(error), String(error))
          assert.match(error.message, refused)
          assert(error.status >= 400 && error.status < 500, error.code)
          return true
        })
        return
      }
      await using bench = await opening
      assert(performance.now() - started < DESCRIPTION_READ_MS + SLACK_MS)
      if (warning !== undefined) assert.match(bench.inspection.warnings.join('\n'), warning)
      for (const call of calls) {
        const before = performance.now()
        const outcome = await bench.call({ operation: 'echo', ...call }).catch((error: unknown) => error)
        if (outcome instanceof Error) assert(isSoukError(outcome) && outcome.code !== 'internal_error', String(outcome))
        assert(performance.now() - before < CALL_MS)
      }
    })
  }

  it('that an earlier version took is read again within the limits, and refused by them', async () => {
    const { files } = HOSTILE['a chain of 30,000 groups']?.() ?? assert.fail()
    const text = typeof files === 'string' ? files : assert.fail()
    const description = { operations: [{ name: 'echo' }] }
    const snapshot = (wsdl: string) =>
      JSON.stringify({ version: 1, files: [{ url: 'http://x.invalid/svc?wsdl', text: wsdl }], description })
    await assert.rejects(async () => soapFactory.renewed?.(snapshot(text)), { code: 'description_too_complex' })
    const good = wsdlOf({ schema: '<xs:element name="echo" type="xs:string"/>' })
    const renewed = (await soapFactory.renewed?.(snapshot(good))) ?? assert.fail()
    await soapFactory.open({ endpoint: 'http://x.invalid/' }, renewed).close?.()
  })

  it('with a schema in the documentation of a definition is taken', async () => {
    const inner = '<xs:schema><xs:element name="inner"/></xs:schema>'
    const schema = `<xs:element name="echo" type="t:T"/><xs:complexType name="T"><xs:annotation><xs:appinfo>${inner}</xs:appinfo></xs:annotation>
      <xs:sequence><xs:element name="it" type="xs:int"/></xs:sequence></xs:complexType>`
    await using bench = await soapBench(wsdlOf({ schema }))
    assert.deepEqual(await bench.json({ operation: 'echo', it: 7 }), { it: 7 })
  })
})
