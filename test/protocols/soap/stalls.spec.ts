import assert from 'node:assert/strict'
import { assertCpuBelow } from '../../helpers/cpu-time.ts'
import { isSoukError, type ErrorCode } from '../../../lib/base/errors.ts'
import { answering } from '../../helpers/scripted-upstream.ts'
import { envelope, soapBench, wsdlOf, XML } from './soap-kit.ts'

const WSDL = wsdlOf({
  schema: `<xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="a" type="xs:string" minOccurs="0" maxOccurs="unbounded"/><xs:any minOccurs="0" maxOccurs="unbounded" processContents="lax"/></xs:sequence></xs:complexType></xs:element>`
})
/** The maximum blocking of the event loop. */
const STALL_MS_MAX = 100
const MILLION = 1_000_000

describe('hostile SOAP documents do not stall the loop', () => {
  const answers: ReadonlyArray<readonly [what: string, xml: string, code: ErrorCode | undefined]> = [
    ['an entity bomb', `<!DOCTYPE a [<!ENTITY b "${'x'.repeat(MILLION)}">]><a>&b;</a>`, 'upstream_invalid_response'],
    ['tags without an end', '<a>'.repeat(MILLION), 'upstream_invalid_response'],
    ['a tag without an end', `<a ${'b'.repeat(4 * MILLION)}`, 'upstream_invalid_response'],
    [
      '200,000 attributes',
      `<a ${Array.from({ length: 200_000 }, (_, i) => `b${i}=""`).join(' ')}/>`,
      'upstream_invalid_response'
    ],
    [
      'many attributes in each of many tags',
      envelope(`<a ${Array.from({ length: 5_000 }, (_, i) => `b${i}=""`).join(' ')}/>`.repeat(100)),
      'upstream_invalid_response'
    ],
    ['comments without an end', '<!--'.repeat(MILLION), 'upstream_invalid_response'],
    ['references without an end', envelope(`<echo xmlns="urn:t"><a>${'&amp;'.repeat(MILLION)}</a></echo>`), undefined],
    ['half a million elements', envelope(`<echo xmlns="urn:t">${'<a/>'.repeat(500_000)}</echo>`), undefined],
    [
      'namespaces without an end',
      envelope(Array.from({ length: 100_000 }, (_, i) => `<x xmlns="urn:${i}"/>`).join('')),
      'upstream_invalid_response'
    ],
    ['an HTML page of a megabyte', `<html><body>${'<p>sorry<br>'.repeat(100_000)}`, 'upstream_invalid_response']
  ]
  for (const [what, xml, code] of answers) {
    it(`responses with ${what}`, async () => {
      await using bench = await soapBench(WSDL, answering(200, XML, xml))
      await stalls(() => bench.call({ operation: 'echo' }), code)
    })
  }

  const calls: ReadonlyArray<readonly [what: string, body: unknown, code: ErrorCode | undefined]> = [
    [
      '50,000 unknown fields',
      { operation: 'echo', ...Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, i])) },
      'invalid_request'
    ],
    ['200,000 items', { operation: 'echo', a: Array.from({ length: 200_000 }, () => 'x') }, undefined],
    [
      'items of the wrong kind',
      { operation: 'echo', a: Array.from({ length: 200_000 }, () => ({})) },
      'invalid_request'
    ],
    [
      'open content in 20,000 namespaces',
      { operation: 'echo', $any: Array.from({ length: 20_000 }, (_, i) => ({ [`{urn:${i}}x`]: 'y' })) },
      undefined
    ]
  ]
  for (const [what, body, code] of calls) {
    it(`calls with ${what}`, async () => {
      await using bench = await soapBench(WSDL, answering(200, XML, envelope('<echo xmlns="urn:t"/>')))
      await stalls(() => bench.call(body), code)
    })
  }
})

const stalls = (call: () => Promise<unknown>, code: ErrorCode | undefined): Promise<void> =>
  assertCpuBelow(STALL_MS_MAX, async () => assert.equal(await outcome(call), code))

async function outcome(call: () => Promise<unknown>): Promise<ErrorCode | undefined> {
  try {
    await call()
    return undefined
  } catch (error) {
    assert(isSoukError(error), String(error))
    return error.code
  }
}
