import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { BUILTINS } from '../../../protocols/soap/schema/builtin.ts'
import { canonicalDecimal, compareDecimals, plainDecimal } from '../../../protocols/soap/schema/decimal.ts'
import { LEXICAL } from '../../../protocols/soap/schema/temporal.ts'
import { type SoapBench, soapBench, wsdlOf } from './soap-kit.ts'

const type = (name: string) => BUILTINS.get(name) ?? assert.fail(name)

describe('SOAP scalars', () => {
  for (const name of Object.keys(LEXICAL)) {
    it(`tells the form of a ${name} by an example that is one`, () => {
      const [, example] = /, such as "(.*)"$/.exec(type(name).expects) ?? []
      assert.equal(type(name).write(example), example ?? assert.fail('no example'))
    })
  }

  const read: ReadonlyArray<readonly [type: string, text: string, json: unknown]> = [
    ['int', '+007', 7],
    ['long', '9007199254740991', 9007199254740991],
    ['long', '9007199254740993', '9007199254740993'],
    ['unsignedLong', '18446744073709551615', '18446744073709551615'],
    ['integer', '-123456789012345678901234567890', '-123456789012345678901234567890'],
    ['decimal', '12.50', 12.5],
    ['decimal', '0.1', 0.1],
    ['decimal', '-0.0', 0],
    ['decimal', '.5', 0.5],
    ['decimal', '123456789.123456789123', '123456789.123456789123'],
    ['decimal', '0.00000000001', 1e-11],
    ['double', '1e3', 1000],
    ['double', 'INF', 'INF'],
    ['double', 'NaN', 'NaN'],
    ['boolean', '1', true],
    ['boolean', 'false', false],
    ['dateTime', '2026-01-01T00:00:00', '2026-01-01T00:00:00'],
    ['dateTime', '2026-01-01T00:00:00.1234567+05:30', '2026-01-01T00:00:00.1234567+05:30'],
    ['date', '0000-00-00', '0000-00-00'],
    ['base64Binary', 'AA\n==', 'AA=='],
    ['hexBinary', 'aB', 'aB']
  ]
  for (const [name, text, json] of read) {
    it(`reads xs:${name} ${JSON.stringify(text)} as ${JSON.stringify(json)}`, () =>
      assert.deepEqual(type(name).read(text), json))
  }

  const written: ReadonlyArray<readonly [type: string, json: unknown, text: string | undefined]> = [
    ['int', '7', '7'],
    ['int', 2147483648, undefined],
    ['int', 1e21, undefined],
    ['long', 2 ** 60, undefined],
    ['long', String(2n ** 60n), String(2n ** 60n)],
    ['decimal', 1e21, '1000000000000000000000'],
    ['decimal', 1.5e-7, '0.00000015'],
    ['decimal', '1e5', undefined],
    ['decimal', Number.NaN, undefined],
    ['double', 1e-300, '1e-300'],
    ['double', 'inf', undefined],
    ['boolean', 1, 'true'],
    ['boolean', '0', 'false'],
    ['boolean', 'yes', undefined],
    ['date', '2026-1-1', undefined],
    ['time', '10:00:00Z', '10:00:00Z'],
    ['date', '2024-13-01', undefined],
    ['date', '2024-00-01', undefined],
    ['date', '2024-04-31', undefined],
    ['date', '2024-02-30', undefined],
    ['date', ' 2024-02-29+14:00', '2024-02-29+14:00'],
    ['date', '12000-12-31', '12000-12-31'],
    ['date', '02024-01-01', undefined],
    ['date', '2024-01-01+14:01', undefined],
    ['date', '2024-01-01-05:60', undefined],
    ['dateTime', '2024-06-31T00:00:00', undefined],
    ['dateTime', '2024-06-30T24:00:00.0Z', '2024-06-30T24:00:00.0Z'],
    ['dateTime', '2024-06-30T24:00:01', undefined],
    ['dateTime', '2024-06-30T23:60:00', undefined],
    ['dateTimeStamp', '2024-06-30T23:59:00', undefined],
    ['time', '25:00:00', undefined],
    ['time', '10:00:60.5', undefined],
    ['gYear', '2024-05:00', '2024-05:00'],
    ['gYear', '2024-15:00', undefined],
    ['gYearMonth', '2024-12-05:00', '2024-12-05:00'],
    ['gYearMonth', '2024-13', undefined],
    ['gMonth', '--13', undefined],
    ['gMonth', '--12--', '--12--'],
    ['gMonthDay', '--02-29', '--02-29'],
    ['gMonthDay', '--02-30', undefined],
    ['gDay', '---31', '---31'],
    ['gDay', '---32', undefined],
    ['duration', 'P1DT2H', 'P1DT2H'],
    ['duration', 'PT', undefined],
    ['base64Binary', 'AAA', undefined],
    ['hexBinary', 'abc', undefined],
    ['string', null, undefined],
    ['language', ' en-GB ', 'en-GB'],
    ['language', 'en_GB', undefined],
    ['language', '', undefined],
    ['NMTOKEN', '1.0-a:b', '1.0-a:b'],
    ['NMTOKEN', 'a b', undefined],
    ['Name', 'a:b', 'a:b'],
    ['Name', '-a', undefined],
    ['NCName', 'größe_1', 'größe_1'],
    ['NCName', 'a:b', undefined],
    ['ID', '1a', undefined],
    ['IDREF', 'a1', 'a1'],
    ['ENTITY', 5, undefined],
    ['QName', '{urn:t}name', '{urn:t}name'],
    ['QName', 'name', 'name'],
    ['QName', 't:name', undefined],
    ['QName', '{urn:t}', undefined],
    ['anyURI', 'any text', 'any text']
  ]
  for (const [name, json, text] of written) {
    it(`writes ${JSON.stringify(json)} as xs:${name} ${text ?? 'not at all'}`, () =>
      assert.equal(type(name).write(json), text))
  }

  it('are checked as names before the service is called, but for values that the schema lists', async () => {
    const listed =
      '<xs:simpleType><xs:restriction base="xs:NCName"><xs:enumeration value="N/A"/><xs:enumeration value="a"/></xs:restriction></xs:simpleType>'
    const schema = `<xs:element name="echo"><xs:complexType><xs:sequence>
      <xs:element name="tokens" type="xs:NMTOKENS" minOccurs="0"/><xs:element name="kind" type="xs:QName" minOccurs="0"/>
      <xs:element name="listed" minOccurs="0">${listed}</xs:element></xs:sequence><xs:attribute name="id" type="xs:ID"/></xs:complexType></xs:element>`
    await using bench = await soapBench(wsdlOf({ schema }))
    const sent = { tokens: ['1', 'b:c'], kind: '{urn:kinds}big', listed: 'N/A', id: 'a1' }
    assert.deepEqual(await bench.json({ operation: 'echo', ...sent }), sent)
    const calls = bench.upstream.received.length
    for (const broken of [{ tokens: ['a/b'] }, { kind: 'k:big' }, { listed: 'b' }, { id: '1' }]) {
      const refused = { code: 'invalid_request', members: { path: `$.${Object.keys(broken)[0]}` } }
      await assert.rejects(bench.json({ operation: 'echo', ...broken }), refused)
    }
    assert.equal(bench.upstream.received.length, calls)
  })

  it('loses no decimal and no integer', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,25})(\.\d{0,24}[1-9])?$/)
    fc.assert(
      fc.property(digits, (text) => {
        const back = type('decimal').write(type('decimal').read(text)) ?? assert.fail()
        assert.equal(canonicalDecimal(back), canonicalDecimal(text))
      })
    )
    fc.assert(
      fc.property(fc.bigInt(), (value) => {
        assert.equal(type('integer').write(type('integer').read(String(value))), String(value))
      })
    )
  })

  it('loses no number, and orders decimals as numbers', () => {
    // JSON has no negative zero.
    const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value))
    fc.assert(fc.property(number, (value) => assert.equal(Number(plainDecimal(value)), value)))
    fc.assert(
      fc.property(number, (value) => assert.equal(type('double').read(type('double').write(value) ?? ''), value))
    )
    fc.assert(
      fc.property(fc.integer(), fc.integer(), fc.nat(99), (a, b, cents) => {
        assert.equal(Math.sign(compareDecimals(`${a}.5${cents}`, `${b}.5${cents}`)), Math.sign(a - b))
      })
    )
  })

  describe('within a message', () => {
    let bench: SoapBench
    before(async () => {
      const fields = ['string', 'token', 'int', 'long', 'decimal', 'double', 'boolean', 'base64Binary', 'anyURI']
      const content = fields.map((name) => `<xs:element name="${name}" type="xs:${name}" minOccurs="0"/>`).join('')
      bench = await soapBench(
        wsdlOf({
          schema: `<xs:element name="echo" type="t:Node"/><xs:complexType name="Node"><xs:sequence>${content}
            <xs:element name="none" type="xs:int" nillable="true" minOccurs="0"/>
            <xs:element name="node" type="t:Node" minOccurs="0" maxOccurs="unbounded"/>
            <xs:choice minOccurs="0"><xs:element name="left" type="xs:string"/><xs:element name="right" type="xs:int"/></xs:choice>
            </xs:sequence><xs:attribute name="at" type="xs:string"/></xs:complexType>`
        })
      )
    })
    after(() => bench[Symbol.asyncDispose]())

    it('JSON to XML and back is the same JSON', async () => {
      const text = fc
        .string({ unit: 'binary' })
        .filter((one) => !/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(one) && one.isWellFormed()) // oxlint-disable-line no-control-regex -- what XML cannot carry
      const node = (depth: number): fc.Arbitrary<object> =>
        fc
          .record(
            {
              string: text,
              token: fc.stringMatching(/^[a-z]+( [a-z]+)?$/),
              int: fc.integer(),
              long: fc.oneof(fc.maxSafeInteger(), fc.constant('9223372036854775807')),
              decimal: fc.oneof(fc.integer(), fc.constant('0.12345678901234567891')),
              double: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
              boolean: fc.boolean(),
              base64Binary: fc.base64String(),
              anyURI: fc.webUrl(),
              none: fc.constantFrom(null, 5),
              at: text,
              side: fc.constantFrom({ left: 'x' }, { right: 1 }, {}),
              node: depth === 0 ? fc.constant([]) : fc.array(node(depth - 1), { maxLength: 2 })
            },
            { requiredKeys: ['node', 'side'] }
          )
          .map(({ side, ...rest }) => ({ ...rest, ...side }))
      await fc.assert(
        fc.asyncProperty(node(3), async (json) => {
          assert.deepEqual(await bench.json({ operation: 'echo', ...json }), json)
        }),
        { numRuns: 150 }
      )
    })
  })

  describe('with a range of dates or times', () => {
    const cases: ReadonlyArray<
      readonly [type: string, facets: string, fits: readonly string[], broken: readonly string[]]
    > = [
      ['date', 'minInclusive 2020-01-31', ['2020-01-31', '2020-02-01', '2020-01-30Z'], ['2020-01-30', '-0001-02-01']],
      ['date', 'maxExclusive 2020-03-01Z', ['2020-02-29Z', '2020-03-01+14:00', '2021-01-01'], ['2020-03-01Z']],
      ['dateTime', 'maxInclusive 2020-12-31T24:00:00', ['2021-01-01T00:00:00.0'], ['2021-01-01T00:00:00.001']],
      [
        'dateTime',
        'minExclusive 2020-01-01T00:00:00.5Z',
        ['2020-01-01T02:00:00.51+02:00'],
        ['2020-01-01T02:00:00.50+02:00']
      ],
      ['time', 'minInclusive 08:00:00', ['08:00:00', '23:59:59.9'], ['07:59:59.9', '24:00:00']],
      ['gYear', 'minInclusive 2000', ['2000', '12000'], ['1999', '-2000']],
      ['gYearMonth', 'maxInclusive 2000-11', ['2000-11', '1999-12'], ['2000-12']],
      ['gMonth', 'minInclusive --06', ['--06', '--12', '--07--'], ['--05']],
      ['gMonthDay', 'maxInclusive --02-29', ['--02-29'], ['--03-01']],
      ['gDay', 'maxExclusive ---15', ['---14'], ['---15']]
    ]
    for (const [type, facet, fits, broken] of cases) {
      it(`are checked: ${type}, ${facet}`, async () => {
        const [name = '', bound = ''] = facet.split(' ')
        const schema = `<xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="at"><xs:simpleType>
          <xs:restriction base="xs:${type}"><xs:${name} value="${bound}"/></xs:restriction></xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element>`
        await using bench = await soapBench(wsdlOf({ schema }))
        const [operation] = bench.inspection.description.operations
        assert(JSON.stringify(operation?.input).includes(`XML Schema: ${facet}`))
        assert(!JSON.stringify(operation?.output).includes(facet))
        for (const at of fits) assert.deepEqual(await bench.json({ operation: 'echo', at }), { at })
        for (const at of broken) {
          const refused = { code: 'invalid_request', members: { path: '$.at' }, message: /^\$\.at must be / }
          await assert.rejects(bench.json({ operation: 'echo', at }), refused, at)
        }
      })
    }
  })

  it('normalises white space before it checks other facets', async () => {
    const restricted = (name: string, facets: string) =>
      `<xs:element name="${name}" minOccurs="0"><xs:simpleType><xs:restriction base="xs:string">${facets}</xs:restriction></xs:simpleType></xs:element>`
    const three = '<xs:whiteSpace value="collapse"/><xs:length value="3"/>'
    const tabbed = '<xs:pattern value="a b"/><xs:whiteSpace value="replace"/>'
    const content = `${restricted('three', three)}${restricted('tabbed', tabbed)}`
    const schema = `<xs:element name="echo"><xs:complexType><xs:sequence>${content}</xs:sequence></xs:complexType></xs:element>`
    await using bench = await soapBench(wsdlOf({ schema }))
    const sent = { operation: 'echo', three: ' abc ', tabbed: 'a\tb' }
    assert.deepEqual(await bench.json(sent), { three: 'abc', tabbed: 'a b' })
    await assert.rejects(bench.json({ operation: 'echo', three: ' ab ' }), { code: 'invalid_request' })
    await assert.rejects(bench.json({ operation: 'echo', tabbed: ' a b' }), { code: 'invalid_request' })
  })
})
