import assert from 'node:assert/strict'
import { answering } from '../../helpers/scripted-upstream.ts'
import { assertXml, envelope, type SoapBench, soapBench, wsdlOf, XML } from './soap-kit.ts'

const echo = (content: string) =>
  `<xs:element name="echo"><xs:complexType><xs:sequence>${content}</xs:sequence></xs:complexType></xs:element>`
const XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"'

describe('an odd SOAP service', () => {
  const opened: SoapBench[] = []
  afterEach(async () => {
    for (const bench of opened.splice(0)) await bench[Symbol.asyncDispose]()
  })
  async function open(wsdl: string, answer?: string): Promise<SoapBench> {
    const bench = await soapBench(wsdl, answer === undefined ? undefined : answering(200, XML, envelope(answer)))
    opened.push(bench)
    return bench
  }

  it('may have an array type without brackets', async () => {
    const array = `<xs:complexType name="Ints"><xs:complexContent><xs:restriction base="enc:Array">
      <xs:attribute ref="enc:arrayType" wsdl:arrayType="xs:int"/></xs:restriction></xs:complexContent></xs:complexType>`
    const wsdl = wsdlOf({ schema: array + echo('<xs:element name="ints" type="t:Ints"/>') })
    const bench = await open(
      wsdl.replace('<wsdl:types>', '<wsdl:types xmlns:enc="http://schemas.xmlsoap.org/soap/encoding/">')
    )
    assert.deepEqual(await bench.json({ operation: 'echo', ints: [1, 2] }), { ints: [1, 2] })
    await assert.rejects(bench.json({ operation: 'echo', ints: ['x'] }), { code: 'invalid_request' })
  })

  it("may define types in XML Schema's own namespace", async () => {
    const own = `<xs:schema targetNamespace="http://www.w3.org/2001/XMLSchema"><xs:complexType name="ArrayOfint"><xs:sequence>
      <xs:element name="int" type="xs:int" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:schema>`
    const types = `${own}<xs:schema targetNamespace="urn:t" elementFormDefault="qualified">${echo('<xs:element name="ints" type="xs:ArrayOfint"/>')}</xs:schema>`
    const bench = await open(wsdlOf({ types }))
    assert.deepEqual(bench.inspection.warnings, [])
    assert.deepEqual(await bench.json({ operation: 'echo', ints: { int: [1, 2] } }), { ints: { int: [1, 2] } })
    await assert.rejects(bench.json({ operation: 'echo', ints: { int: ['x'] } }), { code: 'invalid_request' })
  })

  it('may have an element of a standard as its message', async () => {
    const wsdl = wsdlOf({ schema: '' })
      .replaceAll('element="t:echo"', 'element="wsa:EndpointReference"')
      .replace('<wsdl:types>', '<wsdl:types xmlns:wsa="http://www.w3.org/2005/08/addressing">')
      .replaceAll('<wsdl:message ', '<wsdl:message xmlns:wsa="http://www.w3.org/2005/08/addressing" ')
    const bench = await open(wsdl)
    assert.deepEqual(bench.inspection.warnings, [])
    const EndpointReference = { $any: [{ '{http://www.w3.org/2005/08/addressing}Address': 'urn:a' }] }
    assert.deepEqual(await bench.json({ operation: 'echo', EndpointReference }), { EndpointReference })
    assertXml(
      bench.sent()[0],
      '<a:EndpointReference xmlns:a="http://www.w3.org/2005/08/addressing"><a:Address>urn:a</a:Address></a:EndpointReference>'
    )
  })

  describe('with content of any type', () => {
    const wsdl = wsdlOf({
      schema: `${echo('<xs:element name="any" type="xs:anyType"/>')}
        <xs:complexType name="Point"><xs:sequence><xs:element name="x" type="xs:int"/></xs:sequence></xs:complexType>
        <xs:simpleType name="Color"><xs:restriction base="xs:string"><xs:enumeration value="red"/></xs:restriction></xs:simpleType>`
    })
    const values: readonly unknown[] = [
      [1, 'a', true, null],
      [[1], [], [{ $type: 'Point', x: 2 }]],
      { $type: 'Point', x: 1 },
      { $any: [{ '{urn:x}list': [1, 2] }, { '{urn:x}point': { $type: 'Point', x: 3 } }] }
    ]
    for (const value of values) {
      it(`keeps ${JSON.stringify(value)}`, async () => {
        const bench = await open(wsdl)
        assert.deepEqual(await bench.json({ operation: 'echo', any: value }), { any: value })
      })
    }

    it('takes a simple type by $type, of the schemas or built in', async () => {
      const bench = await open(wsdl)
      const any = async (value: unknown) => {
        await bench.json({ operation: 'echo', any: value })
        return bench.sent()[0]
      }
      const typed = (type: string, text: string) => `<t:echo><t:any xsi:type="${type}">${text}</t:any></t:echo>`
      assertXml(await any({ $type: 'Color', value: 'red' }), typed('t:Color', 'red'))
      assertXml(await any({ $type: 'date', value: '2026-01-02' }), typed('xsd:date', '2026-01-02'))
      await assert.rejects(any({ $type: 'Color', value: 'blue' }), { members: { path: '$.any.value' } })
    })
  })

  it('may respond with an element of another name, if it is the only one', async () => {
    const wsdl = wsdlOf({ schema: echo('<xs:element name="n" type="xs:int"/>') })
    const other = '<x:other xmlns:x="urn:t"><x:n>7</x:n></x:other>'
    assert.deepEqual(await (await open(wsdl, other)).json({ operation: 'echo', n: 1 }), { n: 7 })
    const two = await open(wsdl, other + other)
    await assert.rejects(two.json({ operation: 'echo', n: 1 }), { code: 'upstream_invalid_response' })
  })

  it('may have names that XML does not allow, with a warning', async () => {
    const names = ['area:Code', '1st', 'a b', 'é-1.x_', 'ok']
    const content = names.map((name) => `<xs:element name="${name}" type="xs:int" minOccurs="0"/>`).join('')
    const { inspection, json } = await open(wsdlOf({ schema: echo(content) }))
    assert.deepEqual(await json({ operation: 'echo', ok: 1 }), { ok: 1 })
    for (const name of names.slice(0, 3)) {
      const message = /is not known here; known: é-1\.x_, ok\.$/
      await assert.rejects(json({ operation: 'echo', [name]: 1 }), { code: 'invalid_request', message })
    }
    const told = inspection.warnings.map(
      (text) => /^element "(.*)" in .* has a name that XML does not allow/.exec(text)?.[1]
    )
    assert.deepEqual(told, names.slice(0, 3))
  })

  it('refuses what XML cannot name, where the schema requires it', async () => {
    const type = (content: string) => `<xs:complexType>${content}</xs:complexType>`
    const element = '<xs:element name="a:b" nillable="true" type="xs:int"/>'
    const attributes = ['required', 'optional'].map((use) => `<xs:attribute name="${use}:c" use="${use}"/>`).join('')
    const inner = (name: string, content: string) =>
      `<xs:element name="${name}" minOccurs="0">${type(content)}</xs:element>`
    const content = inner('x', `<xs:sequence>${element}</xs:sequence>`) + inner('y', attributes)
    const { inspection, json, upstream } = await open(wsdlOf({ schema: echo(content) }))
    assert.equal(inspection.warnings.length, 3)
    const rule = 'must be left out: XML does not allow its name'
    for (const [body, path] of [
      [{ x: { 'a:b': 1 } }, '$.x["a:b"]'],
      [{ y: { 'required:c': 'z' } }, '$.y["required:c"]']
    ] as const) {
      await assert.rejects(json({ operation: 'echo', ...body }), {
        message: `${path} ${rule}; got ${JSON.stringify(Object.values(Object.values(body)[0] ?? {})[0])}.`,
        members: { path }
      })
    }
    const others = { x: { 'a:b': null }, y: { 'optional:c': 'z' } }
    for (const [name, value] of Object.entries(others)) {
      await assert.rejects(json({ operation: 'echo', [name]: value }), { code: 'invalid_request' })
    }
    assert(upstream.received.every(({ method }) => method === 'GET'))
  })

  for (const [namespace, names] of [
    ['http://schemas.xmlsoap.org/soap/encoding/', ['id', 'href']],
    ['http://www.w3.org/2003/05/soap-encoding', ['id']]
  ] as const) {
    it(`may have the common attributes of ${namespace}`, async () => {
      const type = `<xs:element name="n"><xs:complexType><xs:attributeGroup ref="enc:commonAttributes"/></xs:complexType></xs:element>`
      const schema = echo(type)
      const bench = await open(wsdlOf({ schema }).replace('<wsdl:types>', `<wsdl:types xmlns:enc="${namespace}">`))
      assert.deepEqual(bench.inspection.warnings, [])
      const n = { ...Object.fromEntries(names.map((name) => [name, 'x'])), '@{urn:o}a': '1' }
      assert.deepEqual(await bench.json({ operation: 'echo', n }), { n })
    })
  }

  it('may have text where the schema has none', async () => {
    const wsdl = wsdlOf({ schema: echo('<xs:element name="n" type="xs:int"/>') })
    const bench = await open(wsdl, '<x:echo xmlns:x="urn:t">Careful: <x:n>7</x:n></x:echo>')
    assert.deepEqual(await bench.json({ operation: 'echo', n: 1 }), { n: 7, $text: 'Careful: ' })
  })

  it('may have text beside an element called value', async () => {
    const mixed = `<xs:element name="echo"><xs:complexType mixed="true"><xs:sequence><xs:element name="value" type="xs:int"/></xs:sequence></xs:complexType></xs:element>`
    const bench = await open(wsdlOf({ schema: mixed }))
    const json = { value: 7, $text: 'a' }
    assert.deepEqual(await bench.json({ operation: 'echo', ...json }), json)
  })

  it('may describe binary content as xop:Include', async () => {
    const content = `<xs:element name="file"><xs:complexType><xs:sequence><xs:element ref="xop:Include"/></xs:sequence>
      <xs:attribute name="name" type="xs:string"/></xs:complexType></xs:element>`
    const wsdl = wsdlOf({ schema: echo(content) }).replace(
      '<wsdl:types>',
      '<wsdl:types xmlns:xop="http://www.w3.org/2004/08/xop/include">'
    )
    const bench = await open(wsdl, '<x:echo xmlns:x="urn:t"><x:file name="a">AAAA</x:file></x:echo>')
    assert.deepEqual(bench.inspection.warnings, [])
    const file = { value: 'AAAA', name: 'a' }
    assert.deepEqual(await bench.json({ operation: 'echo', file }), { file })
    const { headers, body } = bench.upstream.received.at(-1) ?? assert.fail()
    assert.match(String(headers['content-type']), /^multipart\/related; type="application\/xop\+xml"/)
    assert.match(body.toString('latin1'), /:Include href="cid:/)
    await bench.json({ operation: 'echo', file: { Include: { '@href': 'http://x.invalid/y' } } })
    const sent = bench.upstream.received.at(-1)?.body.toString() ?? ''
    assert.match(sent, /:Include href="http:\/\/x\.invalid\/y"/)
  })

  it('with content of any type keeps what other services say of it', async () => {
    const wsdl = wsdlOf({ schema: echo('<xs:element name="any" type="xs:anyType"/>') })
    const array = `<x:echo xmlns:x="urn:t" ${XSI} xmlns:enc="http://schemas.xmlsoap.org/soap/encoding/"><x:any xsi:type="enc:Array" enc:arrayType="xsd:int[2]"><i xsi:type="xsd:int">1</i><i xsi:type="xsd:string">b</i></x:any></x:echo>`
    assert.deepEqual(await (await open(wsdl, array)).json({ operation: 'echo', any: 1 }), { any: [1, 'b'] })
  })
})
