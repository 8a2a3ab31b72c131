import assert from 'node:assert/strict'
import { readXmlDocument } from '../../../../protocols/soap/xml/document.ts'
import { XmlError } from '../../../../protocols/soap/xml/error.ts'
import type { Span } from '../../../../protocols/soap/xml/document.ts'
import type { XmlElement } from '../../../../protocols/soap/xml/tree.ts'
import { assertXml, soapBench, wsdlOf } from '../soap-kit.ts'
import { assertCpuBelow } from '../../../helpers/cpu-time.ts'

/** As in the schemas of XML Signature and XML Encryption: a DTD elsewhere, an attribute with a fixed value, an entity. */
const DOCTYPE = `<!DOCTYPE schema
  PUBLIC "-//W3C//DTD XMLSchema 200102//EN" "http://www.w3.org/2001/XMLSchema.dtd"
  [
    <!-- it's a comment: ]> " -->
    <?note it's one?>
    <!ATTLIST schema xmlns:d CDATA #FIXED "urn:d]>">
    <!ENTITY d 'urn:d'>
    <!ENTITY % p ''>
  ]>`
const SCHEMA = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:d">'

describe('the document type declaration of a schema', () => {
  it('is skipped', async () => {
    const schema = `${SCHEMA}<xs:element name="digest" type="xs:int"/></xs:schema>`
    const types = `<xs:schema targetNamespace="urn:t" xmlns:d="urn:d"><xs:import namespace="urn:d" schemaLocation="d.xsd"/>
      <xs:element name="echo"><xs:complexType><xs:sequence><xs:element ref="d:digest"/></xs:sequence></xs:complexType></xs:element></xs:schema>`
    const files = { '/svc?wsdl': wsdlOf({ types }), '/d.xsd': `<?xml version="1.0"?>\n${DOCTYPE}\n${schema}` }
    await using bench = await soapBench(files)
    assert.deepEqual(bench.inspection.warnings, [])
    assert.deepEqual(await bench.json({ operation: 'echo', digest: 7 }), { digest: 7 })
    assertXml(bench.sent()[0], '<t:echo><d:digest xmlns:d="urn:d">7</d:digest></t:echo>')
    await assert.rejects(bench.json({ operation: 'echo', digest: 'x' }), { code: 'invalid_request' })
  })

  it('changes no position and no line', () => {
    const text = `${DOCTYPE}${SCHEMA}<xs:element name="a"/></xs:schema>`
    const spans = new Map<XmlElement, Span>()
    readXmlDocument(text, { spans })
    assert.deepEqual(
      [...spans.values()].map(({ from, to }) => text.slice(from, to)),
      ['<xs:element name="a"/>']
    )
    assert.throws(() => readXmlDocument(`${DOCTYPE}${SCHEMA}<b></xs:schema>`), /\(line 9\)/)
  })

  it('defines nothing', () => {
    assert.throws(
      () => readXmlDocument(`${DOCTYPE}${SCHEMA}&d;</xs:schema>`),
      /entity or character that is not defined/
    )
    assert.throws(() => readXmlDocument(`${DOCTYPE}<schema><d:a/></schema>`), XmlError)
  })

  for (const [what, xml] of [
    ['of another root', '<!DOCTYPE schemata><schemata/>'],
    ['of a WSDL', '<!DOCTYPE definitions []><definitions/>'],
    ['twice', '<!DOCTYPE schema><!DOCTYPE schema><schema/>'],
    ['after the root', '<schema/><!DOCTYPE schema>'],
    ['within the root', '<schema><!DOCTYPE schema></schema>'],
    ['without an end', '<!DOCTYPE schema [ <!ENTITY a "]>"> <schema/>'],
    ['that ends within a comment', '<!DOCTYPE schema [ <!-- ]><schema/>'],
    ['with text after it', '<!DOCTYPE schema [ ]>]><schema/>']
  ] as const) {
    it(`is refused ${what}`, () => assert.throws(() => readXmlDocument(xml), XmlError))
  }

  it('takes time in proportion to its length', () =>
    assertCpuBelow(5_000, () => {
      for (const piece of ['<', '<!--', '"', '[', '<?', '<!DOCTYPE schema [', "'x'"])
        assert.throws(() => readXmlDocument(`<!DOCTYPE schema [${piece.repeat(300_000)}`), XmlError)
    }))
})
