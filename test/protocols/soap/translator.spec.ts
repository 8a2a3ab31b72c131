import assert from 'node:assert/strict'
import { SOAP_INLINE_BYTES_MAX } from '../../../lib/base/limits/soap.ts'
import { answering } from '../../helpers/scripted-upstream.ts'
import { envelope, soapBench, wsdlOf, XML } from './soap-kit.ts'

const WSDL = wsdlOf({
  schema: `<xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="line" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="text" type="xs:string"/><xs:element name="n" type="xs:int"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>`
})
const lines = (count: number) => Array.from({ length: count }, (_, n) => ({ text: `line & ${n}`, n }))
const LARGE = lines(3_000)

describe('large SOAP documents', () => {
  it('are translated like small ones', async () => {
    await using bench = await soapBench(WSDL)
    assert(JSON.stringify(LARGE).length > SOAP_INLINE_BYTES_MAX)
    assert.deepEqual(await bench.json({ operation: 'echo', line: LARGE }), { line: LARGE })
    assert.deepEqual(await bench.json({ operation: 'echo', line: lines(2) }), { line: lines(2) })
  })

  it('are rejected with the same errors', async () => {
    await using bench = await soapBench(WSDL)
    await assert.rejects(bench.call({ operation: 'echo', line: [...LARGE, { text: 'x', n: 'y' }] }), {
      code: 'invalid_request',
      status: 400,
      message: /^\$\.line\[3000\]\.n must be an integer .*got "y"/,
      members: { path: '$.line[3000].n' }
    })
    await assert.rejects(bench.call({ operation: 'no', line: LARGE }), { code: 'operation_not_found' })
  })

  it('keep their faults', async () => {
    const fault = `<e:Fault xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><faultcode>e:Client</faultcode><faultstring>no</faultstring><detail>${'x'.repeat(SOAP_INLINE_BYTES_MAX)}</detail></e:Fault>`
    await using bench = await soapBench(WSDL, answering(500, XML, envelope(fault)))
    await assert.rejects(bench.call({ operation: 'echo' }), { code: 'soap_fault', status: 400, source: 'upstream' })
  })

  it('are aborted when the adapter closes', async () => {
    const bench = await soapBench(WSDL)
    const running = assert.rejects(bench.call({ operation: 'echo', line: LARGE }), { code: 'call_interrupted' })
    // The body is read in a separate turn before the thread gets it.
    await new Promise((resolve) => setImmediate(resolve))
    await bench[Symbol.asyncDispose]()
    await running
  })

  it('do not block small calls', async () => {
    await using bench = await soapBench(WSDL)
    const large = lines(20_000)
    await bench.call({ operation: 'echo', line: LARGE })
    const flight = { done: false }
    const running = bench.call({ operation: 'echo', line: large }).finally(() => (flight.done = true))
    let answered = 0
    while (!flight.done) {
      await bench.call({ operation: 'echo', line: lines(1) })
      answered++
    }
    await running
    assert(answered > 5, `only ${answered} small calls were answered meanwhile`)
  })
})
