import assert from 'node:assert/strict'
import { soapFactory } from '../../../protocols/soap/soap-factory.ts'
import { FOREVER, jsonOf, plainCall } from '../../helpers/adapter-bench.ts'
import { rpc, soapBench, wsdlOf } from './soap-kit.ts'

/** A definition with every dependency on its context. */
const SCHEMA = `<xs:include schemaLocation="more.xsd"/>
  <xs:simpleType name="Code"><xs:restriction base="xs:string"><xs:pattern value="[a-z]+"/></xs:restriction></xs:simpleType>
  <xs:complexType name="Base" abstract="true"><xs:sequence><xs:element name="id" type="xs:long"/></xs:sequence></xs:complexType>
  <xs:complexType name="One"><xs:complexContent><xs:extension base="t:Base"><xs:attributeGroup ref="t:marks"/></xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="Two"><xs:complexContent><xs:extension base="t:Base"><xs:group ref="t:pair"/></xs:extension></xs:complexContent></xs:complexType>
  <xs:attributeGroup name="marks"><xs:attribute name="mark" type="t:Code"/><xs:attribute ref="t:global"/></xs:attributeGroup>
  <xs:attribute name="global" type="xs:int"/>
  <xs:group name="pair"><xs:sequence><xs:element name="left" type="xs:string"/><xs:element name="right" type="xs:string"/></xs:sequence></xs:group>
  <xs:element name="head" type="xs:string"/><xs:element name="stand-in" type="xs:string" substitutionGroup="t:head"/>
  <xs:element name="echo"><xs:complexType><xs:sequence xmlns:own="urn:t">
    <xs:element name="it" type="own:Base" minOccurs="0"/><xs:element ref="t:head" minOccurs="0"/>
    <xs:element name="more" type="t:More" minOccurs="0"/><xs:element name="lost" type="gone:Type" minOccurs="0"/>
  </xs:sequence></xs:complexType></xs:element>
  <xs:element name="unused" type="xs:string"/>`
const FILES = {
  '/svc?wsdl': `\ufeff${wsdlOf({ schema: SCHEMA }).replaceAll('\n', '\r\n')}`,
  '/more.xsd':
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:complexType name="More"><xs:sequence><xs:element name="deep" type="Deep"/></xs:sequence></xs:complexType><xs:complexType name="Deep"><xs:attribute name="x" type="xs:boolean"/></xs:complexType></xs:schema>'
}
const VALUES = [
  { it: { $type: 'One', id: '9007199254740993', mark: 'abc', global: 7 } },
  { it: { $type: 'Two', id: 1, left: 'l', right: 'r' }, 'stand-in': 'text' },
  { more: { deep: { x: true } } }
]
const NO_MAPPING = { version: 1, revision: 1, operations: {} }

describe('a SOAP snapshot', () => {
  for (const [what, files] of [
    ['several files', FILES],
    ['rpc style', { '/svc?wsdl': rpc('encoded') }]
  ] as const) {
    it(`has the same model as the WSDL: ${what}`, async () => {
      await using bench = await soapBench(files)
      const { description, snapshot } = bench.inspection
      // A mapping describes the API again from the snapshot.
      const mapped = await soapFactory.mapping?.with(snapshot, NO_MAPPING)
      assert.deepEqual(mapped?.description, description)
      const again = await soapFactory.mapping?.with(mapped?.snapshot ?? '', { ...NO_MAPPING, revision: 2 })
      assert.deepEqual(again?.description, description)
    })
  }

  it('serves calls', async () => {
    await using bench = await soapBench(FILES)
    for (const value of VALUES) assert.deepEqual(await bench.json({ operation: 'echo', ...value }), value)
    await assert.rejects(bench.json({ operation: 'echo', it: { $type: 'One', id: 1, mark: '7' } }), /mark/)
  })

  it('with names that a WSDL may not have any more is renewed and opens', async () => {
    await using bench = await soapBench(FILES)
    const { snapshot, description } = bench.inspection
    // The parser of earlier versions accepted every Unicode letter.
    const documented = '<xs:annotation><xs:documentation><µ/><constructor/></xs:documentation></xs:annotation>'
    const files = filesOf(snapshot).map(({ url, text }) => ({
      url,
      text: text.replace(/<xs:schema[^>]*>/, `$&${documented}`)
    }))
    const renewed = await soapFactory.renewed?.(JSON.stringify({ version: 1, files, description }))
    const adapter = soapFactory.open({ endpoint: 'http://x.invalid/' }, renewed ?? assert.fail())
    assert.deepEqual(filesOf(renewed ?? ''), files)
    await adapter.close?.()
  })

  it('of version 1, which contains only the texts, is renewed and opens', async () => {
    await using bench = await soapBench(FILES)
    const { snapshot, description } = bench.inspection
    const old = JSON.stringify({ version: 1, files: filesOf(snapshot), description })
    const endpoint = `${bench.upstream.url}/svc?wsdl`
    const adapter = soapFactory.open({ endpoint }, (await soapFactory.renewed?.(old)) ?? assert.fail())
    for (const value of VALUES) {
      assert.deepEqual(await jsonOf(await adapter.call(plainCall({ operation: 'echo', ...value }), FOREVER)), value)
    }
    await adapter.close?.()
    assert.deepEqual(soapFactory.mapping?.of(old), soapFactory.mapping?.of(snapshot))
    assert.deepEqual(
      await soapFactory.mapping?.with(old, NO_MAPPING),
      await soapFactory.mapping?.with(snapshot, NO_MAPPING)
    )
  })

  it('with a plan of another version is planned again, with its mapping', async () => {
    await using bench = await soapBench(FILES)
    const { snapshot } = bench.inspection
    const mapped = await soapFactory.mapping?.with(snapshot, NO_MAPPING)
    for (const current of [snapshot, mapped?.snapshot ?? assert.fail()]) {
      assert.equal(await soapFactory.renewed?.(current), current)
      const older = current.replace('"planned":7,', '').replace('"plan":{"version":7', '"plan":{"version":3')
      assert.throws(() => soapFactory.open({ endpoint: bench.upstream.url }, older), { code: 'invalid_request' })
      assert.equal(await soapFactory.renewed?.(older), current)
    }
  })

  it('opens in a process that serves calls', async () => {
    await using bench = await soapBench(FILES)
    const adapter = soapFactory.open({ endpoint: bench.upstream.url }, bench.inspection.snapshot)
    const answer = await adapter.call(plainCall({ operation: 'echo', ...VALUES[0] }), FOREVER)
    assert.deepEqual(await jsonOf(answer), VALUES[0])
    await adapter.close?.()
  })

  it('is parsed only for the needs of calls', async () => {
    await using bench = await soapBench(FILES)
    const broken = bench.inspection.snapshot.replace('<xs:element name="unused"', '<<<<<<<<<<<<<<<<<<<<<<<<<')
    const adapter = soapFactory.open({ endpoint: bench.upstream.url }, broken)
    const answer = await adapter.call(plainCall({ operation: 'echo', ...VALUES[1] }), FOREVER)
    assert.deepEqual(await jsonOf(answer), VALUES[1])
    await adapter.close?.()
  })

  it('that is invalid or incomplete is rejected', async () => {
    await using bench = await soapBench(FILES)
    const { snapshot } = bench.inspection
    const others = ['', '{', '{}', 'null', '{"version":3}', snapshot.slice(0, -1), snapshot.split('\n')[0] ?? '']
    for (const text of others) {
      assert.throws(() => soapFactory.open({ endpoint: bench.upstream.url }, text), { code: 'invalid_request' })
    }
  })
})

function filesOf(snapshot: string): Array<{ url: string; text: string }> {
  const end = snapshot.indexOf('\n')
  const { files } = JSON.parse(snapshot.slice(0, end)) as { files: Array<{ url: string; length: number }> }
  let at = end + 1
  return files.map(({ url, length }) => ({ url, text: snapshot.slice(at, (at += length)) }))
}
