import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { XML_DEPTH_MAX, XML_TAG_CHARS_MAX } from '../../../lib/base/limits.ts'
import { XmlError } from '../../../protocols/soap/xml-error.ts'
import { decodeXml, isXmlText } from '../../../protocols/soap/xml-text.ts'
import { parseXml } from '../../../protocols/soap/xml-parse.ts'
import { attribute, elements, qnameIn, textOf } from '../../../protocols/soap/xml-tree.ts'
import { XmlWriter } from '../../../protocols/soap/xml-write.ts'

describe('XML', () => {
  it('resolves namespaces where they are declared', () => {
    const root = parseXml(
      '<a xmlns="urn:1" xmlns:p="urn:2" x="1" p:x="2"><b xmlns=""/><p:c xmlns:p="urn:3" q="p:v"/><p:d/></a>'
    )
    assert.deepEqual([root.namespace, attribute(root, 'x'), attribute(root, 'x', 'urn:2')], ['urn:1', '1', '2'])
    assert.deepEqual(
      elements(root).map(({ namespace }) => namespace),
      ['', 'urn:3', 'urn:2']
    )
    const [, c] = elements(root)
    assert.deepEqual(c && qnameIn(c, ' p:v '), { namespace: 'urn:3', name: 'v' })
    assert.equal(c && qnameIn(c, 'x:v'), undefined)
  })

  it('puts text, references and CDATA together, and leaves comments out', () => {
    const root = parseXml(
      '\ufeff<?xml version="1.0"?>\n<!-- <!DOCTYPE x> -->\n<a>1 &lt;&#233;&#xe9;&amp;amp;<![CDATA[<b>&amp;<!DOCTYPE c>]]><!-- 2 -->3</a>\n'
    )
    assert.equal(textOf(root), '1 <éé&amp;<b>&amp;<!DOCTYPE c>3')
  })

  const refused: ReadonlyArray<readonly [what: string, xml: string]> = [
    ['nothing', ''],
    ['text', 'hello'],
    ['two roots', '<a/><b/>'],
    ['text after the root', '<a/>b'],
    ['tags that do not match', '<a><b></a></b>'],
    ['a tag that is not closed', '<a><b></b>'],
    ['an attribute without quotes', '<a b=c/>'],
    ['an attribute twice', '<a b="1" b="2"/>'],
    ['a document type', '<!DOCTYPE a><a/>'],
    ['a document type within', '<a><!DOCTYPE a></a>'],
    ['an entity that is not declared', '<a>&nbsp;</a>'],
    ['a bare ampersand', '<a b="x & y"/>'],
    ['a reference to no character', '<a>&#0;</a>'],
    ['a reference to half a character', '<a>&#xd800;</a>'],
    ['a reference past all characters', '<a>&#x110000;</a>'],
    ['a control character', '<a>\u0008</a>'],
    ['a prefix that is not declared', '<p:a/>'],
    ['an attribute prefix that is not declared', '<a p:b="1"/>'],
    ['two colons', '<a xmlns:p="u"><p:b:c/></a>'],
    ['a prefix bound to nothing', '<a xmlns:p=""/>'],
    ['a comment without an end', '<a><!-- </a>'],
    ['too much depth', '<a>'.repeat(XML_DEPTH_MAX + 10) + '</a>'.repeat(XML_DEPTH_MAX + 10)],
    ['a tag too long', `<a b="${'>'.repeat(XML_TAG_CHARS_MAX)}"/>`]
  ]
  for (const [what, xml] of refused) {
    it(`refuses ${what}`, () => assert.throws(() => parseXml(xml), XmlError))
  }

  it('takes names of other languages, and those of objects', () => {
    const root = parseXml(
      '<größe xmlns:p="u"><toString/><p:constructor valueOf="1" __proto__="2"/><__proto__/></größe>'
    )
    assert.deepEqual(
      elements(root).map(({ name }) => name),
      ['toString', 'constructor', '__proto__']
    )
    assert.equal(attribute(elements(root)[1] ?? assert.fail(), '__proto__'), '2')
  })

  it('gives hostile documents up before they cost time', () => {
    const started = performance.now()
    for (const xml of [
      `<a ${'b="1" '.repeat(200_000)}/>`,
      '<a>'.repeat(300_000),
      `<a b="${'&#x26;'.repeat(200_000)}`,
      '<!--'.repeat(300_000)
    ]) {
      assert.throws(() => parseXml(xml), XmlError)
    }
    assert(performance.now() - started < 2_000)
  })

  it('reads back whatever it wrote', () => {
    const value = fc.string({ unit: 'binary' }).filter(isXmlText)
    fc.assert(
      fc.property(value, value, fc.webUrl(), (text, quoted, namespace) => {
        const writer = new XmlWriter()
        writer.open('urn:root', 'a')
        writer.open(namespace, 'b')
        writer.attribute('', 'c', quoted)
        writer.attribute(namespace, 'c', text)
        writer.text(text)
        writer.close()
        writer.close()
        const [b] = elements(parseXml(writer.document()))
        assert(b !== undefined)
        assert.deepEqual(
          [b.namespace, textOf(b), attribute(b, 'c'), attribute(b, 'c', namespace)],
          [namespace, text, quoted, text]
        )
      })
    )
  })

  it('refuses to write what XML cannot carry', () => {
    const writer = new XmlWriter()
    writer.open('', 'a')
    for (const text of ['\0', '\u001f', '\uffff', '\udc00']) {
      assert.throws(() => writer.text(text), { code: 'invalid_request' })
      assert.throws(() => writer.attribute('', 'b', text), { code: 'invalid_request' })
    }
  })

  it('knows the charset by mark, transport or declaration', () => {
    const latin = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>', 'latin1')
    assert.match(decodeXml(latin), /é/)
    assert.match(decodeXml(Buffer.from('<a>é</a>', 'latin1'), 'text/xml; charset="ISO-8859-1"'), /é/)
    assert.match(decodeXml(Buffer.from('\ufeff<a>é</a>', 'utf16le')), /é/)
    assert.match(decodeXml(Buffer.from('<a>é</a>', 'utf16le')), /é/)
    assert.throws(() => decodeXml(Buffer.from('<a>é</a>', 'latin1')), XmlError)
  })
})
