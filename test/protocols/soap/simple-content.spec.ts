import assert from 'node:assert/strict'
import { assertXml, soapBench, type SoapBench, wsdlOf } from './soap-kit.ts'

const SCHEMA = `
  <xs:complexType name="Text"><xs:simpleContent><xs:extension base="xs:string"/></xs:simpleContent></xs:complexType>
  <xs:complexType name="Marked"><xs:simpleContent><xs:extension base="t:Text">
    <xs:attribute name="mark" type="xs:int"/></xs:extension></xs:simpleContent></xs:complexType>
  <xs:complexType name="Short"><xs:simpleContent><xs:restriction base="t:Text">
    <xs:maxLength value="5"/></xs:restriction></xs:simpleContent></xs:complexType>
  <xs:simpleType name="Bit"><xs:restriction base="xs:boolean"><xs:pattern value="0|1"/></xs:restriction></xs:simpleType>
  <xs:element name="echo"><xs:complexType>
    <xs:sequence>
      <xs:element name="text" type="t:Text" minOccurs="0"/>
      <xs:element name="bit" type="t:Bit" minOccurs="0"/>
    </xs:sequence>
    <xs:attribute name="version" type="xs:decimal" fixed="1.0"/>
  </xs:complexType></xs:element>`

describe('text of a SOAP element', () => {
  let bench: SoapBench
  before(async () => {
    bench = await soapBench(wsdlOf({ schema: SCHEMA }))
  })
  after(() => bench?.[Symbol.asyncDispose]())

  it('keeps the type that the sender chose', async () => {
    for (const text of ['plain', { $type: 'Marked', value: 'x', mark: 7 }, { $type: 'Short', value: 'x' }]) {
      assert.deepEqual(await bench.json({ operation: 'echo', text }), { text })
    }
  })

  it('stands beside the chosen type in the published schema', () => {
    const schemas = JSON.stringify(bench.inspection)
    for (const name of ['Marked', 'Short']) {
      assert.match(schemas, new RegExp(`"\\$type":\\{"const":"${name}"\\},"value":`))
    }
  })

  it('of a boolean is in the form that a pattern asks for', async () => {
    for (const [bit, sent] of [
      [true, '1'],
      [false, '0']
    ] as const) {
      assert.deepEqual(await bench.json({ operation: 'echo', bit }), { bit })
      assertXml(bench.sent()[0], `<t:echo><t:bit>${sent}</t:bit></t:echo>`)
    }
  })

  it('of an attribute is the one that the schema fixes', async () => {
    assert.deepEqual(await bench.json({ operation: 'echo', version: 1 }), { version: 1 })
    const wrong = bench.json({ operation: 'echo', version: 2 })
    await assert.rejects(wrong, { code: 'invalid_request', message: /must be 1\.0: the schema fixes it/ })
    assert.match(JSON.stringify(bench.inspection), /"version":\{"const":1\}/)
  })
})
