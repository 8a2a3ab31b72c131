import assert from 'node:assert/strict'
import { isSoukError } from '../../../lib/base/errors.ts'
import { JSON_DEPTH_MAX } from '../../../lib/base/limits/call.ts'
import { SOAP_PROBLEMS_MAX } from '../../../lib/base/limits/soap.ts'
import { type SoapBench, soapBench, wsdlOf } from './soap-kit.ts'

const SCHEMA = `
<xs:element name="echo"><xs:complexType><xs:sequence>
  <xs:element name="s" type="xs:string" minOccurs="0"/>
  <xs:element name="n" type="t:Small" minOccurs="0"/>
  <xs:element name="d" type="t:Money" minOccurs="0"/>
  <xs:element name="l" type="xs:long" minOccurs="0"/>
  <xs:element name="t" type="xs:dateTime" minOccurs="0"/>
  <xs:element name="b" type="xs:base64Binary" minOccurs="0"/>
  <xs:element name="c" type="t:Color" minOccurs="0"/>
  <xs:element name="code" type="t:Code" minOccurs="0"/>
  <xs:element name="ints" type="t:Ints" minOccurs="0"/>
  <xs:element name="v" type="xs:int" fixed="3" minOccurs="0"/>
  <xs:element name="plate" type="t:Plate" minOccurs="0"/>
  <xs:element name="line" type="t:Line" minOccurs="0" maxOccurs="2"/>
  <xs:element name="pet" type="t:Pet" minOccurs="0"/>
  <xs:element name="deep" type="t:Deep" minOccurs="0"/>
  <xs:element name="open" type="xs:anyType" minOccurs="0"/>
  <xs:element name="group" minOccurs="0"><xs:complexType><xs:choice><xs:element name="x" type="xs:int"/><xs:element name="y" type="xs:int"/></xs:choice></xs:complexType></xs:element>
</xs:sequence><xs:attribute name="a" type="xs:int"/></xs:complexType></xs:element>
<xs:simpleType name="Small"><xs:restriction base="xs:int"><xs:minInclusive value="1"/><xs:maxExclusive value="10"/></xs:restriction></xs:simpleType>
<xs:simpleType name="Money"><xs:restriction base="xs:decimal"><xs:fractionDigits value="2"/><xs:totalDigits value="6"/></xs:restriction></xs:simpleType>
<xs:simpleType name="Color"><xs:restriction base="xs:string"><xs:enumeration value="red"/><xs:enumeration value="blue"/></xs:restriction></xs:simpleType>
<xs:simpleType name="Code"><xs:restriction base="xs:string"><xs:minLength value="2"/><xs:maxLength value="3"/></xs:restriction></xs:simpleType>
<xs:simpleType name="Plate"><xs:restriction base="xs:string"><xs:pattern value="[A-Z]{2}"/><xs:pattern value="\\d+"/></xs:restriction></xs:simpleType>
<xs:simpleType name="Ints"><xs:list itemType="xs:int"/></xs:simpleType>
<xs:complexType name="Line"><xs:sequence><xs:element name="sku" type="xs:string"/><xs:element name="qty" type="xs:int"/></xs:sequence><xs:attribute name="no" type="xs:int" use="required"/></xs:complexType>
<xs:complexType name="Pet" abstract="true"><xs:sequence/></xs:complexType>
<xs:complexType name="Dog"><xs:complexContent><xs:extension base="t:Pet"/></xs:complexContent></xs:complexType>
<xs:complexType name="Deep"><xs:sequence><xs:element name="deep" type="t:Deep" minOccurs="0"/></xs:sequence></xs:complexType>`

/** The input, the path in the error, and its text. */
const REFUSED: ReadonlyArray<readonly [json: Record<string, unknown>, path: string, says: RegExp]> = [
  [{ nope: 1 }, '$.nope', /is not known here; known: s, n,/],
  [{ '@nope': 1 }, '$.@nope', /is not known here/],
  [{ constructor: 1 }, '$.constructor', /is not known here/],
  [{ s: 5 }, '$.s', /must be a string; got 5/],
  [{ s: ['x'] }, '$.s', /must be a string; got an array/],
  [{ v: 4 }, '$.v', /must be 3: the schema fixes it; got 4/],
  [{ plate: 'A1' }, '$.plate', /must match the pattern .*; got "A1"/],
  [{ s: 'a\u0000b' }, '$.s', /control characters/],
  [{ s: '\ud800' }, '$.s', /control characters/],
  [{ a: 'x' }, '$.a', /must be an integer/],
  [{ n: 0 }, '$.n', /must be at least 1; got 0/],
  [{ n: 10 }, '$.n', /must be less than 10; got 10/],
  [{ n: 1.5 }, '$.n', /must be an integer/],
  [{ n: true }, '$.n', /must be an integer/],
  [{ d: 1.234 }, '$.d', /at most 2 digits after the point; got 1.234/],
  [{ d: '12345.67' }, '$.d', /at most 6 digits/],
  [{ l: '9223372036854775808' }, '$.l', /must be an integer/],
  [{ t: '2026-01-01' }, '$.t', /XML Schema dateTime, such as "2026-01-31T09:30:00Z"; got "2026-01-01"/],
  [{ b: 'no base64!' }, '$.b', /base64/],
  [{ c: 'green' }, '$.c', /must be one of red, blue; got "green"/],
  [{ code: 'x' }, '$.code', /at least 2 characters/],
  [{ code: 'xxxx' }, '$.code', /at most 3 characters/],
  [{ ints: [1, 'x'] }, '$.ints', /each of its items must be an integer/],
  [{ line: { sku: 'a', qty: 1 } }, '$.line[0].no', /is required/],
  [
    {
      line: [
        { no: 1, sku: 'a', qty: 1 },
        { no: 2, sku: 'b' }
      ]
    },
    '$.line[1].qty',
    /is required/
  ],
  [{ line: [{ no: 1, sku: 'a', qty: 1 }, 'x'] }, '$.line[1]', /must be an object; got "x"/],
  [{ line: Array.from({ length: 3 }, (_, no) => ({ no, sku: 'a', qty: 1 })) }, '$.line', /only 2 times/],
  [{ line: [{ no: 1, sku: null, qty: 1 }] }, '$.line[0].sku', /not nillable/],
  [{ group: { x: 1, y: 2 } }, '$.group.y', /together/],
  [{ group: {} }, '$.group', /must have one of x, y/],
  [{ pet: {} }, '$.pet', /Pet is abstract/],
  [{ pet: { $type: 'Deep' } }, '$.pet', /"\$type" that the schema does not allow/],
  [{ pet: { $type: 7 } }, '$.pet', /string as "\$type"/],
  [{ open: { x: 1 } }, '$.open', /\$any, value and @names/],
  [{ open: { $any: [{ 'a b': 1 }] } }, '$.open[0]', /named as an XML element/],
  [{ open: { '@a"><b': 'x' } }, '$.open["@a\\"><b"]', /not a name that an attribute can have/],
  [{ open: { '@xmlns': 'urn:x' } }, '$.open.@xmlns', /not a name/],
  [{ open: [{ x: 1 }] }, '$.open[0]', /\$any, value and @names/],
  [{ open: { $type: 'int', value: 'x' } }, '$.open.value', /must be an integer/],
  [{ open: { $type: 'int', value: 1, more: 1 } }, '$.open.more', /known: \$type, value/]
]

describe('SOAP refusals', () => {
  let bench: SoapBench
  before(async () => {
    bench = await soapBench(wsdlOf({ schema: SCHEMA }))
  })
  after(() => bench[Symbol.asyncDispose]())

  for (const [json, path, says] of REFUSED) {
    it(`rejects ${JSON.stringify(json).slice(0, 70)} with the path and the rule`, async () => {
      const before = bench.upstream.received.length
      await assert.rejects(bench.json({ operation: 'echo', ...json }), (error: unknown) => {
        assert(isSoukError(error), String(error))
        assert.equal(error.code, 'invalid_request')
        assert.equal(error.members?.path, path)
        assert.match(error.message, says)
        assert(error.message.startsWith(path))
        return true
      })
      assert.equal(bench.upstream.received.length, before, 'the service was reached')
    })
  }

  it('reports all problems at once, each with its path, as far as they fit', async () => {
    const line = [{ no: 'x', sku: 'a', qty: 1 }, 'y']
    await assert.rejects(
      bench.json({ operation: 'echo', s: 7, line, nope: 1, group: { x: 1, y: 2 } }),
      (error: unknown) => {
        assert(isSoukError(error), String(error))
        const problems = error.members?.problems as ReadonlyArray<{ readonly path: string; readonly problem: string }>
        assert.deepEqual(problems.map(({ path }) => path).toSorted(), [
          '$.group.y',
          '$.line[0].no',
          '$.line[1]',
          '$.nope',
          '$.s'
        ])
        for (const { path, problem } of problems)
          assert(problem.startsWith(`${path} `) && error.message.includes(problem))
        assert.equal(error.members?.path, problems[0]?.path)
        return true
      }
    )
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`nope${i}`, 1]))
    await assert.rejects(bench.json({ operation: 'echo', ...many }), (error: unknown) => {
      assert(isSoukError(error), String(error))
      assert.equal(Array.isArray(error.members?.problems) && error.members.problems.length, SOAP_PROBLEMS_MAX)
      return true
    })
  })

  it('rejects an endlessly recursive value', async () => {
    let deep: object = {}
    for (let i = 0; i < JSON_DEPTH_MAX; i++) deep = { deep }
    await assert.rejects(bench.json({ operation: 'echo', deep }), { code: 'invalid_request' })
  })

  it('lists the operations if the requested one is missing', async () => {
    await assert.rejects(bench.json({ operation: 'toString' }), {
      code: 'operation_not_found',
      status: 404,
      message: 'The API has no operation "toString". Available: echo.'
    })
    await assert.rejects(bench.json({ s: 'x' }), {
      code: 'invalid_request',
      message: /\$\.operation is required.*Available: echo/
    })
    await assert.rejects(bench.json({ operation: 7 }), { code: 'invalid_request' })
    await assert.rejects(bench.json([]), { code: 'invalid_request' })
  })

  it('accepts only POST without a sub-path', async () => {
    const request = { method: 'POST', path: '', headers: [], body: Buffer.from('{"operation":"echo"}') }
    const { signal } = new AbortController()
    await assert.rejects(bench.adapter.call({ ...request, method: 'GET' }, signal), { code: 'method_not_allowed' })
    await assert.rejects(bench.adapter.call({ ...request, path: '/x' }, signal), { code: 'invalid_request' })
  })
})
